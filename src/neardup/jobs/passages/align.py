"""Alignment of two collections: the stages in order, from documents to shared passages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.document_options import ReadingOptions
from neardup.jobs.passages.passage_index import PassageIndex
from neardup.options.choices import InverseFrequency, OnError, TermFrequency, UnicodeForm
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import check_options
from neardup.passages.align import (
    Aligner,
    AlignmentCounts,
    AlignmentPlan,
    certain_length,
    make_alignment_plan,
    windows_for,
)
from neardup.passages.documents import ReadOptions, read_documents
from neardup.passages.index import OpenIndex, add_documents, create, read_index
from neardup.passages.matches import SCHEMA, SCHEMA_WITH_TEXT, match_table
from neardup.passages.recall import candidate_probability
from neardup.passages.scheme import PassageScheme, make_passage_scheme
from neardup.passages.search import make_search_plan
from neardup.runtime.progress import Progress, no_progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction

DEFAULT_THRESHOLD = "0.5"
DEFAULT_MIN_TOKENS = 50


@dataclass(frozen=True, kw_only=True)
class AlignOptions(ReadingOptions):
    """What decides the result of an alignment; see ``align`` for the meanings."""

    known = FUNCTIONS["align"]

    threshold: str | float | Decimal | Fraction = DEFAULT_THRESHOLD
    recall: str | float | Decimal | Fraction = "0.99"
    min_tokens: int | None = None
    gap: int | None = None
    max_documents: int | None = None
    with_text: bool = False

    @property
    def read(self) -> ReadOptions:
        """How documents of both collections are read."""
        return ReadOptions(self.columns, self.skip_bad)


@dataclass
class AlignSummary:
    """What an alignment did.

    ``certain_tokens`` is the length from which a shared passage holds a whole query window.
    """

    n_queries: int = 0
    n_documents: int = 0
    n_passages: int = 0
    n_aligned: int = 0
    certain_tokens: int = 0
    predicted_recall: float = 1.0
    counts: AlignmentCounts = field(default_factory=AlignmentCounts)
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


def make_plan(options: AlignOptions, index: OpenIndex) -> AlignmentPlan:
    """Work out what an alignment has to look for in an index."""
    threshold = exact_fraction("threshold", options.threshold)
    recall = exact_fraction("recall", options.recall)
    search = make_search_plan(index.scheme, threshold, recall, "best")
    least = index.scheme.min_tokens if options.min_tokens is None else options.min_tokens
    return make_alignment_plan(search, least, options.gap, options.max_documents)


@contextmanager
def temporary_index(
    sources: Sequence[Source],
    scheme: PassageScheme,
    read: ReadOptions,
    *,
    tokenizer: str | Path | TokenFunction | None,
    workers: int,
    progress: Progress,
) -> Iterator[OpenIndex]:
    """Index documents in a temporary folder, which goes afterwards."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        path = Path(folder) / "index"
        create(path, scheme)
        add_documents(path, sources, read, tokenizer=tokenizer, workers=workers, progress=progress)
        yield read_index(path, tokenizer, workers)


def temporary_scheme(min_tokens: int | None, **options: Any) -> PassageScheme:
    """Choose the scheme of a temporary index, so that passages of ``min_tokens`` are found."""
    least = DEFAULT_MIN_TOKENS if min_tokens is None else min_tokens
    return make_passage_scheme(min_tokens=windows_for(least), **options)


def align_sources(
    index: OpenIndex,
    sources: Sequence[Source],
    options: AlignOptions,
    workers: int,
    progress: Progress,
) -> tuple[pa.Table, AlignSummary]:
    """Find all passages that the documents of some sources share with those of an index."""
    plan = make_plan(options, index)
    aligner = Aligner(index, plan, workers)
    num_perm = index.scheme.num_perm
    summary = AlignSummary(
        n_documents=index.n_documents,
        certain_tokens=certain_length(plan),
        predicted_recall=candidate_probability(num_perm, plan.search.hits, plan.search.threshold),
        counts=aligner.counts,
    )
    tables = []
    blocks = read_documents(
        sources, index.scheme.tokenizer, options.read, workers=workers, progress=progress
    )
    for block in blocks:
        matches = aligner.align(block)
        tables.append(match_table(matches, block, index, with_text=options.with_text))
        summary.n_queries += len(block)
        summary.n_aligned += len(tables[-1]["query_id"].unique())
        summary.skipped.extend(block.skipped)
        progress("align", summary.n_queries, None)
    schema = SCHEMA_WITH_TEXT if options.with_text else SCHEMA
    table = pa.concat_tables([schema.empty_table(), *tables])
    summary.n_passages = len(table)
    return table, summary


def align(
    a: Any,
    b: Any,
    *,
    threshold: str | float | Decimal | Fraction = DEFAULT_THRESHOLD,
    min_tokens: int | None = None,
    recall: str | float | Decimal | Fraction = "0.99",
    gap: int | None = None,
    max_documents: int | None = None,
    num_perm: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    seed: int | None = None,
    tokenizer: str | Path | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    with_text: bool = False,
    text_column: str = "text",
    id_column: str | None = None,
    lines: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress = no_progress,
) -> pa.Table:
    """Find all passages that documents of two collections share.

    Parameters
    ----------
    a
        Documents, in any form that ``deduplicate`` takes.
    b
        Other documents, or a ``PassageIndex``; documents are indexed in a temporary folder.
    threshold
        Least similarity of two passages, in (0, 1], taken as the exact decimal.
    min_tokens
        Tokens of the shortest passage to tell; of either text, because one may have lost some.
        Passages of so many (with an index: of one and a half times its ``min_tokens``) are sure to
        hold a window that is looked up. None: 50, or the index's.
    recall
        Least probability with which a window at the threshold is found; a longer passage holds
        several.
    gap
        Tokens of either text that may lie between two parts of a passage: that one text lacks, or
        has otherwise. More keep editions in one piece, fewer keep quotations apart. None is eight
        times ``min_tokens`` of the index, 272 without one for passages of 50.
    max_documents
        Leave out what more than so many documents of ``b`` have, such as licences and headers.
    num_perm, tf, idf, seed, tokenizer, casefold, unicode_form, strip_accents, fold_digits
        As for ``PassageIndex.create``; an index has its own.
    with_text
        Add the columns query_text and doc_text.
    text_column, id_column, lines, on_error, workers, progress
        As for ``deduplicate``; both collections have the same columns.

    Returns
    -------
    ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``: places in
    characters of the original texts, ends exclusive; in the order of the documents of ``a`` and of
    places in them. The similarity is that of the two whole passages, and the true one; copies of a
    token count in it, with tf ``binary`` too.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.

    Examples
    --------
    >>> import neardup
    >>> old = "It was the best of times, it was the worst of times, it was the age of wisdom"
    >>> new = "He wrote: it was the best of days, it was the worst of days, it was the age of fools"
    >>> found = neardup.align([new], [old], min_tokens=10)
    >>> found.select(["query_start", "query_end", "doc_start", "doc_end"]).to_pylist()
    [{'query_start': 10, 'query_end': 78, 'doc_start': 0, 'doc_end': 70}]
    """
    chosen = choose_given(
        num_perm=num_perm,
        tf=tf,
        idf=idf,
        seed=seed,
        tokenizer=tokenizer,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
    )
    options = AlignOptions(
        threshold=threshold,
        recall=recall,
        min_tokens=DEFAULT_MIN_TOKENS if min_tokens is None else min_tokens,
        gap=gap,
        max_documents=max_documents,
        with_text=with_text,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    n_workers = Runner(workers, progress).workers
    sources = resolve_inputs(a, lines=lines)
    if isinstance(b, PassageIndex):
        check_no_scheme(chosen)
        of_index = replace(options, min_tokens=min_tokens)
        return align_sources(b.read(), sources, of_index, n_workers, progress)[0]
    documents = resolve_inputs(b, lines=lines)
    scheme = temporary_scheme(options.min_tokens, **chosen)
    with temporary_index(
        documents, scheme, options.read, tokenizer=tokenizer, workers=n_workers, progress=progress
    ) as index:
        return align_sources(index, sources, options, n_workers, progress)[0]


def choose_given(**options: Any) -> dict[str, Any]:
    """Check options of a scheme, and leave out those that are as if they had not been given.

    Raises
    ------
    InvalidParameterError
        For the first that has the wrong type or is out of range.
    """
    checked = check_options(FUNCTIONS["align"], **options)
    defaults = {option.name: option.default for option in FUNCTIONS["align"]}
    # Not by ==, for which a seed of 0 is False.
    return {name: value for name, value in checked.items() if value is not defaults[name]}


def check_no_scheme(chosen: dict[str, Any]) -> None:
    """Raise if an option was given that an index decides.

    Raises
    ------
    InvalidParameterError
        For the first of them.
    """
    for name in chosen:
        message = f"{name} has no effect with an index, which has its own; leave it out"
        raise InvalidParameterError(message, name)
