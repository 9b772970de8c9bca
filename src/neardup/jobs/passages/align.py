"""Alignment of two collections: the stages in order, from documents to shared passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.other import resolve_other
from neardup.files.ids import common_id_type
from neardup.files.input_options import check_effect
from neardup.files.inputs import passed_over
from neardup.files.passes import ReadingPass
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.document_options import AgainstOptions
from neardup.jobs.passages.ignoring import ignoring, read_templates
from neardup.jobs.passages.other import NewDocuments, Other, choose_other, no_other, open_other
from neardup.jobs.passages.presets import PRESETS, Preset
from neardup.jobs.passages.result import PassageResult
from neardup.options.choices import (
    AlignmentSummary,
    InputFormat,
    InverseFrequency,
    OnError,
    PresetName,
    TermFrequency,
    UnicodeForm,
)
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction, percent_of
from neardup.options.option import check_options, no_effect
from neardup.passages.align import (
    Aligner,
    AlignmentPlan,
    certain_length,
    make_alignment_plan,
    make_window_scheme,
)
from neardup.passages.document_pairs import PAIR_SCHEMA, count_pairs, order_pairs, pair_table
from neardup.passages.documents import ReadOptions, read_documents
from neardup.passages.index import OpenIndex
from neardup.passages.matches import (
    SCHEMA,
    SCHEMA_WITH_TEXT,
    excerpts,
    match_table,
    with_id_types,
)
from neardup.passages.query_windows import Later, WindowCounts
from neardup.passages.recall import candidate_probability, check_either
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import make_search_plan
from neardup.results import NO_COLUMNS, SkippedRow, describe_ids, list_skipped
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.tables import Int64s
from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True, kw_only=True)
class AlignOptions(AgainstOptions):
    """What decides the result of an alignment; see ``align`` for the meanings."""

    known = FUNCTIONS["align"]

    preset: PresetName | None = None
    threshold: str | float | Decimal | Fraction | None = None
    recall: str | float | Decimal | Fraction | None = None
    hits: int | None = None
    min_tokens: int | None = None
    gap: int | None = None
    max_documents: int | str | None = None
    within: bool = False
    summary: AlignmentSummary | None = None
    with_text: bool = False
    excerpt: int | None = None

    @property
    def has_texts(self) -> bool:
        """Whether passages have their texts."""
        return self.with_text or self.excerpt is not None

    def check_not_within(self, where: str, remedy: str, *others: str) -> None:
        """Raise if passages within documents are asked for where there is a second collection.

        Raises
        ------
        InvalidParameterError
            Then; the arguments are those of ``no_effect``.
        """
        if self.within:
            raise no_effect("within", where, remedy, *others)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_either(self.recall, self.hits)

    @property
    def usual(self) -> Preset:
        """What is taken for options that are not given."""
        return PRESETS[self.preset]

    @property
    def widest_gap(self) -> int | None:
        """Tokens between two parts of a passage; None where their evidence decides."""
        return self.usual.gap if self.gap is None else self.gap

    @property
    def read(self) -> ReadOptions:
        """How documents of the first collection are read."""
        return ReadOptions(self.columns, self.skip_bad)

    @property
    def read_other(self) -> ReadOptions:
        """How documents of the other collection are read."""
        return ReadOptions(self.other_columns, self.skip_bad)


@dataclass
class AlignCounts:
    """What an alignment has met so far, and how often windows were looked up for it."""

    lookups: WindowCounts
    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_aligned: int = 0
    n_pairs: int = 0
    n_ignored: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Work out what an alignment has to look for in an index of a scheme.

    Raises
    ------
    InvalidParameterError
        If the recall is out of reach, or there are no so many hits.
    """
    usual = options.usual.threshold
    threshold = exact_fraction(
        "threshold", usual if options.threshold is None else options.threshold
    )
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    search = make_search_plan(scheme, threshold, recall, "best", options.hits)
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    # Between the shingles of two parts are also those that share tokens with a part.
    gap = None if options.widest_gap is None else scheme.count_tokens(options.widest_gap)
    return make_alignment_plan(search, scheme.count_shingles(least), gap)


def most_documents(most: int | str | None, n_documents: int) -> int | None:
    """Return the number that a percentage of the documents is.

    What two documents share is always looked for: in few of them, two are many percent.
    """
    return max(int(percent_of(most) * n_documents), 2) if isinstance(most, str) else most


def align_collections(
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    runner: Runner,
    ignore: Sequence[Source] = (),
) -> PassageResult:
    """Find all passages that the documents of some sources share with another collection.

    If that is the same collection, each pair of documents comes once, the earlier as the query.
    Text that a document of ``ignore`` has is taken for not written; in an index it stays.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range.
    InvalidInputError, ReadError
        For a bad row, or a file that cannot be read.
    """
    is_one = isinstance(other, NewDocuments) and other.is_input
    new = other.sources if isinstance(other, NewDocuments) and not is_one else ()
    check_effect(options, sources, new, ignore)
    seconds = runner.stopwatch()
    runner.prepare(KERNELS_OF["align"])
    read, of_other = options.read.for_sources(sources), NO_COLUMNS
    if isinstance(other, NewDocuments):
        options = replace(options, min_tokens=other.min_tokens)
        other = replace(other, read=other.read.for_sources(other.sources))
        of_other = NO_COLUMNS if is_one else other.read.columns
        # What cannot be is refused before anything is read.
        plan_alignment(options, make_window_scheme(other.min_tokens, **other.scheme))
    else:
        options.check_no_other("with an index", "align with documents")
    hidden = None
    if ignore:
        hidden = read_templates(ignore, other, read, options.min_tokens, runner)
        read, other = replace(read, ignored=hidden.runs), ignoring(other, hidden)
    with open_other(other, runner) as (index, skipped), runner.stage("align") as note:
        most = most_documents(options.max_documents, index.n_documents)
        plan = replace(plan_alignment(options, index.scheme), max_documents=most)
        aligner = Aligner(index, plan, runner)
        # A collection that is read twice has each bad row once.
        counts = AlignCounts(aligner.counts, skipped=[] if is_one else skipped)
        id_types: set[pa.DataType] = set()
        tables = [(SCHEMA_WITH_TEXT if options.has_texts else SCHEMA).empty_table()]
        pairs = [PAIR_SCHEMA.empty_table()]
        aligned: list[Int64s] = [np.empty(0, np.int64)]
        reading = ReadingPass("align", sources, runner)
        for block in read_documents(sources, index.scheme.tokenizer, read, reading):
            later = _later(counts.n_queries, len(block), options) if is_one else None
            matches = aligner.align(block.tokens, reading.within, later)
            passages = match_table(matches, block, index, with_text=options.has_texts)
            if options.excerpt is not None:
                passages = excerpts(passages, options.excerpt)
            tables.append(passages)
            counts.n_pairs += count_pairs(matches)
            if options.summary is not None:
                pairs.append(pair_table(matches, passages, block, index, hidden))
            aligned.append(np.unique(matches.queries) + counts.n_queries)
            if is_one:
                aligned.append(np.unique(matches.documents))
            _count(counts, np.diff(block.tokens.offsets), plan.min_tokens)
            counts.n_ignored += block.n_ignored
            counts.skipped.extend(block.skipped)
            id_types |= {block.ids.type} if len(block) else set()
        counts.n_aligned = len(np.unique(np.concatenate(aligned)))
        query_type = common_id_type(id_types)
        table = with_id_types(pa.concat_tables(tables), query_type, index)
        of_documents = None
        if options.summary is not None:
            of_documents = with_id_types(order_pairs(pa.concat_tables(pairs)), query_type, index)
        note(documents=counts.n_queries, windows=aligner.counts.windows, passages=len(table))
        summary = _summary(table, counts, plan, index, seconds())
        if is_one:
            for name in ("documents", "empty_documents", "short_documents"):
                summary[name] = summary[name][:1]
    summary["gap"] = options.widest_gap
    summary["passed_over"] = passed_over(sources, new)
    return PassageResult(table, summary | describe_ids(read.columns, of_other), of_documents)


def _later(first: int, n_documents: int, options: AlignOptions) -> Later:
    """Return what documents of a collection find in it: later ones, or themselves, too."""
    own = np.arange(first, first + n_documents, dtype=np.int64)
    return Later(own if options.within else own + 1, np.full(n_documents, options.within))


def _count(counts: AlignCounts, sizes: Int64s, min_tokens: int) -> None:
    """Count documents of INPUT by their numbers of tokens."""
    counts.n_queries += len(sizes)
    counts.n_empty += int((sizes == 0).sum())
    counts.n_short += int(((sizes > 0) & (sizes < min_tokens)).sum())


def _summary(
    table: pa.Table, counts: AlignCounts, plan: AlignmentPlan, index: OpenIndex, seconds: float
) -> dict[str, Any]:
    search, lookups = plan.search, counts.lookups
    recall = candidate_probability(index.scheme.num_perm, search.hits, search.threshold)
    sizes = index.document_sizes()
    return {
        "documents": [counts.n_queries, index.n_documents],
        "empty_documents": [counts.n_empty, int((sizes == 0).sum())],
        "short_documents": [
            counts.n_short,
            int(((sizes > 0) & (sizes < plan.min_tokens)).sum()),
        ],
        "threshold": float(search.threshold),
        "min_tokens": index.scheme.count_tokens(plan.min_tokens),
        "ignored_tokens": counts.n_ignored,
        "aligned_documents": counts.n_aligned,
        "passages": len(table),
        "document_pairs": counts.n_pairs,
        "max_documents": plan.max_documents,
        "windows": lookups.windows,
        "frequent_windows": lookups.frequent_windows,
        "hits": lookups.hits,
        "certain_tokens": index.scheme.count_tokens(certain_length(plan)),
        "predicted_recall": recall,
        "skipped_rows": list_skipped(counts.skipped),
        "seconds": round(seconds, 3),
    }


def align(
    a: Any,
    b: Any = None,
    *,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    within: bool = False,
    preset: PresetName | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    min_tokens: int | None = None,
    recall: str | float | Decimal | Fraction | None = None,
    hits: int | None = None,
    gap: int | None = None,
    max_documents: int | str | None = None,
    ignore: Any = None,
    num_perm: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    seed: int | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    summary: AlignmentSummary | None = None,
    with_text: bool = False,
    excerpt: int | None = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress | None = None,
) -> PassageResult:
    """Find all passages that documents of two collections share, or of one.

    Parameters
    ----------
    a
        Documents, in any form that ``deduplicate`` takes.
    b
        Other documents, or a ``PassageIndex`` or the path of one; documents, also those of a
        ``DocumentIndex``, are indexed in a temporary folder. None: the documents of ``a`` are
        compared with each other, each pair once; the earlier one is the query.
    against_text_column, against_id_column
        Columns of ``b``; None: those of ``a``. An index has none.
    within
        Without ``b``: find also passages that one document has twice; the earlier place is the
        query's, and the two do not overlap.
    preset
        What passages are looked for: ``editions``, long texts that were revised; ``quotations``,
        a line or two each; ``rewording``, sentences in other words. It chooses ``threshold``,
        ``min_tokens``, ``gap`` and ``idf`` where these are not given; an index has its own
        ``min_tokens`` and ``idf``.
    threshold
        Least similarity of two passages, in (0, 1], taken as the exact decimal. None: 0.5.
    min_tokens
        Tokens of the shortest passage to report; of either text, because one may have lost some.
        Passages of so many (with an index: of one and a half times its ``min_tokens``) are sure to
        hold a window that is looked up. None: 50, or the index's.
    recall
        Least probability with which a window at the threshold is found; a longer passage holds
        several. None is 0.99.
    hits
        Least number of min-hashes that a window has in common with a passage, instead of choosing
        it for the recall.
    gap
        Tokens of either text that may lie between two parts of a passage: that one text lacks, or
        has otherwise. More keep editions in one piece, fewer keep quotations apart. None: as many
        as the parts carry, five for each token shared on the lesser side.
    max_documents
        Leave out what more than so many documents of ``b``, or else of ``a``, have, such as
        licences and headers; ``"10%"`` is a share of them, of two at least.
    ignore
        Documents, in any form that ``a`` may have, whose text counts nowhere, such as a prompt or
        the template of a form: runs of tokens that they have, too, are taken for not written, and
        passages go on behind them. A run has a tenth of the tokens of the shortest passage, four at
        least; a shorter document is a run as a whole. An index keeps what it has, to which nothing
        is similar then.
    num_perm, tf, idf, seed, tokenizer, ngram, casefold, unicode_form, strip_accents, fold_digits
        As for ``PassageIndex.create``; an index has its own. ``tokenizer`` may be a function, too.
    summary
        ``"documents"``: report also how much each pair of documents shares, as ``document_pairs``
        of the result, which is then its table.
    with_text
        Add the columns query_text and doc_text.
    excerpt
        Add them, each in so many characters at most and in one line.
    text_column, id_column, input_format, encoding, delimiter, lines, on_error, workers, progress
        As for ``deduplicate``. Of several text columns places count in the joined text.

    Returns
    -------
    ``passages`` and a ``summary`` with the counts, the skipped rows and the predicted recall.
    Passages are ``query_id, query_start, query_end, doc_id, doc_start, doc_end, similarity``:
    places in characters of the original texts, ends exclusive; in the order of the documents of
    ``a`` and of places in them. The similarity is that of the two whole passages, and the true one;
    copies of a token count in it, with tf ``binary`` too.
    Rows of ``document_pairs`` are ``query_id, doc_id, passages, longest, query_shared, doc_shared,
    query_share, doc_share``: the number of passages, the characters of the longest, the characters
    of either text that are in one, and which part of it that is, from its first token to its last;
    the pairs of which one has the greatest part from the other come first.

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
    >>> found.passages.select(["query_start", "query_end", "doc_start", "doc_end"]).to_pylist()
    [{'query_start': 10, 'query_end': 78, 'doc_start': 0, 'doc_end': 70}]
    """
    chosen = choose_given(
        num_perm=num_perm,
        tf=tf,
        idf=idf,
        seed=seed,
        tokenizer=tokenizer,
        ngram=ngram,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
    )
    options = AlignOptions(
        preset=preset,
        threshold=threshold,
        recall=recall,
        hits=hits,
        min_tokens=min_tokens,
        gap=gap,
        max_documents=max_documents,
        within=within,
        summary=summary,
        with_text=with_text,
        excerpt=excerpt,
        against_text_column=against_text_column,
        against_id_column=against_id_column,
        text_column=text_column,
        id_column=id_column,
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        lines=lines,
        on_error=on_error,
    )
    resolve = partial(
        resolve_other, resolve=partial(resolve_inputs, options=options), tokenizer=tokenizer
    )
    with Runner(workers, progress) as runner:
        sources = resolve_inputs(a, options)
        templates = () if ignore is None else resolve_inputs(ignore, options)
        if b is None:
            options.check_no_other("without b", "give b", "b")
            other: Other = no_other(sources, options.read, min_tokens, chosen, options.usual)
        else:
            options.check_not_within("with b", "align a alone", "b")
            other = choose_other(b, resolve, options.read_other, min_tokens, chosen, options.usual)
        return align_collections(sources, other, options, runner, templates)


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
