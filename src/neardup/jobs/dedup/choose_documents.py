"""``choose``: which documents stay, decided by pairs that were found before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from neardup.clustering.keep import KeepPolicy, parse_keep
from neardup.errors import InvalidParameterError
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.pair_table import (
    PairTable,
    agree_on_terms,
    check_same_documents,
    decide_by_pairs,
    open_pair_table,
)
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.document_options import ReadingOptions
from neardup.jobs.inputs import describe_inputs, describe_reading
from neardup.jobs.workspaces import open_workspace
from neardup.options.choices import Clusters, DocumentMeasure, InputFormat, OnError
from neardup.options.jobs import FUNCTIONS
from neardup.options.option import no_effect
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import list_documents
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.storage.work import IN_MEMORY, Workspace


@dataclass(frozen=True, kw_only=True)
class ChooseOptions(ReadingOptions):
    """Everything that decides the result of ``choose``; see there for the meanings."""

    known = FUNCTIONS["choose"]

    measure: DocumentMeasure | None = None
    threshold: str | float | Decimal | Fraction | None = None
    keep: str = "first"
    clusters: Clusters = "survivors"
    by: str | None = None
    trust: bool = False

    @property
    def policy(self) -> KeepPolicy:
        """The keep policy.

        Raises
        ------
        InvalidParameterError
            If it is none.
        """
        return parse_keep(self.keep)


def choose(
    pairs: Any,
    data: Any = None,
    *,
    measure: DocumentMeasure | None = None,
    threshold: str | float | Decimal | Fraction | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    by: str | None = None,
    trust: bool = False,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: InputFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    memory: int | str | None = None,
    work: str | Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> DeduplicationResult:
    """Decide by pairs that were found before which documents stay; no text is compared.

    Documents are taken in the order of ``keep``. Each one stays unless it is a pair, at or above
    ``threshold``, with one that already stays; then it is removed in favour of the most similar
    such document, the earlier one on a tie.

    Parameters
    ----------
    pairs
        A result of ``find_pairs``, a file that `neardup pairs` has written, or anything with
        ``__arrow_c_stream__`` and the columns ``id_a``, ``id_b`` and ``similarity``. For
        ``containment`` only a may go for b.
    data
        The documents among which the pairs were found, in any form that ``deduplicate`` takes.
        None: those that the pairs name, first all of ``id_a``, then the others of ``id_b``, each in
        the order of the table; their ids are all that is known of them.
    measure
        By which measure the pairs were found, if they do not say it: results and Parquet files do,
        CSV, JSON lines and data frames do not.
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; not below that of the pairs. None
        is that of the pairs. Where they do not say it, their least similarity is taken for it.
    keep, clusters
        As for ``deduplicate``; without ``data`` documents have neither lengths nor columns.
    trust
        Take ``pairs`` as they are, if they are a table of an output folder whose ``summary.json``
        has another digest of it.
    by, text_column, id_column, input_format, encoding, delimiter, lines
        As for ``deduplicate``.
    main_text, alternative_texts, on_error, memory, work
        As for ``deduplicate``, of ``data``. The text is looked at only for its length, where
        ``keep`` depends on it, and copied where the result is written.
    workers, progress
        As for ``deduplicate``.

    Returns
    -------
    A result as that of ``deduplicate``. Nothing says which documents are exact copies; and of
    components a similarity is known only where the two are a pair.

    Raises
    ------
    InvalidParameterError
        For an option out of range, a threshold below that of the pairs, another measure.
    InvalidInputError
        If pairs name a document that is not there, if they were limited by their number, or are of
        two collections; for a bad row, or a repeated id.
    ReadError
        For a file that cannot be read.

    Notes
    -----
    The documents that stay are those of ``deduplicate`` with the same options over the same data,
    if pairs were found by the same method; and so is what others go for, but for exact copies of a
    document that goes: each of them may go for a document that is more similar and comes later.
    Similarities are compared as 64-bit floats. Time linear in pairs and documents; memory about 70
    bytes a pair, 44 a document, and all ids.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "the cat sat on a hat"]
    >>> pairs = neardup.find_pairs(texts, ngram=1, threshold="0.5")
    >>> neardup.choose(pairs, texts).kept.to_pylist()
    [{'text': 'the cat sat on the mat'}]
    >>> neardup.choose(pairs, texts, threshold="0.8").removed.select(["id", "kept_id"]).to_pylist()
    [{'id': '1', 'kept_id': '0'}]
    """
    options = ChooseOptions(
        measure=measure,
        threshold=threshold,
        keep=keep,
        clusters=clusters,
        by=by,
        trust=trust,
        text_column=text_column,
        id_column=id_column,
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        lines=lines,
        main_text=main_text,
        alternative_texts=alternative_texts,
        on_error=on_error,
    )
    workspace = open_workspace(memory, work)
    policy = options.policy
    if data is None:
        _check_no_data(options, policy, by=by, memory=memory, work=work)
    with Runner(workers, progress) as runner:
        table = open_pair_table(pairs, trust=trust)
        sources = None if data is None else resolve_inputs(data, options)
        return choose_documents(sources, table, options, runner, workspace)


def choose_documents(
    sources: Sequence[Source] | None,
    table: PairTable,
    options: ChooseOptions,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> DeduplicationResult:
    """Decide by a table of pairs which documents of some sources stay; None: those that it names.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``choose``.
    """
    terms = agree_on_terms(table, options.measure, options.threshold)
    policy = options.policy
    with runner.stage("read") as note:
        if sources is None:
            documents = Catalogue.of_ids(table.ids(runner))
        else:
            check_effect(options, sources)
            documents = list_documents(
                sources,
                replace(options.columns, order=policy.column),
                workspace,
                runner,
                skip_bad=options.skip_bad,
                with_lengths=policy.by_length,
                by=options.by,
            )
            check_same_documents(table, int(documents.is_document.sum()))
        note(documents=len(documents))
    assignment, summary = decide_by_pairs(
        documents, table, terms, runner, keep=options.keep, clusters=options.clusters
    )
    summary |= describe_inputs(sources or (), ()) | describe_reading(options, documents)
    return DeduplicationResult(documents, Catalogue.of_none(), assignment, summary)


def _check_no_data(options: ChooseOptions, policy: KeepPolicy, **given: object) -> None:
    """Raise for an option that only says how documents are read, where none are."""
    if policy.rule != "first":
        message = f"keep {options.keep} looks at the documents; give data, or keep first"
        raise InvalidParameterError(message, "keep")
    for option in ReadingOptions.known:
        given[option.name] = getattr(options, option.name)
    defaults = ReadingOptions()
    for name, value in given.items():
        if value != getattr(defaults, name, None):
            raise no_effect(name, "without data", "give data")
