"""``choose``: deduplicate by pairs that were found before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.engine.engine import Engine
from neardup.engine.opening import open_engine
from neardup.errors import InvalidParameterError
from neardup.files.documents import keep_extracted
from neardup.files.inputs import check_effect, resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.matching.keep import KeepPolicy, parse_keep
from neardup.options.choices import Clusters, Data, DocumentMeasure, Number
from neardup.options.documents import ChooseOptions
from neardup.options.groups import ReadingOptions, ReadOptions, RunOptions
from neardup.options.option import merge, no_effect
from neardup.reading.catalogue import Catalogue
from neardup.reading.where import rows_where
from neardup.stages.by_pairs import (
    GivenPairs,
    agree_on_terms,
    check_same_documents,
    decide_by_pairs,
    open_pair_table,
)
from neardup.stages.options import columns_of, describe_inputs, describe_reading
from neardup.stages.selection import list_documents


def choose(
    pairs: Data,
    data: Data | None = None,
    *,
    threshold: Number | None = None,
    measure: DocumentMeasure | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> DeduplicationResult:
    """Decide from existing pairs which documents stay, without comparing texts.

    Documents are taken in the order of ``keep``. Each one stays unless it is a pair, at or above
    ``threshold``, with one that already stays; then it is removed in favour of the most similar
    such document, the earlier one on a tie.

    Parameters
    ----------
    pairs
        A result of ``find_pairs``, a file that ``neardup pairs`` has written, or a table with
        ``__arrow_c_stream__`` and the columns ``id_a``, ``id_b`` and ``similarity``. For
        ``containment`` only a can be removed.
    data
        The documents of the pairs, in any form that ``deduplicate`` takes. None: the documents in
        the pairs, all of ``id_a`` first; only their ids are known then. The text is read only for
        its length, if ``keep`` depends on it.
    threshold
        Least similarity, in (0, 1], an exact decimal, not below the threshold of the pairs. None:
        their threshold, or their least similarity if they do not state it.
    measure
        Measure of the pairs, if they do not state it, as CSV, JSON lines and data frames.
    keep, clusters
        As of ``deduplicate``.
    read, run
        Input, and threads and memory.

    Returns
    -------
    A result as that of ``deduplicate``. Nothing says which documents are exact copies; and of
    components a similarity is known only where the two are a pair.

    Raises
    ------
    InvalidParameterError
        For an option out of range, a threshold below that of the pairs, another measure.
    InvalidInputError
        If pairs name an unknown document, are limited in number, or of two collections; for bad
        rows and repeated ids.
    ReadError
        For a file that cannot be read.

    Notes
    -----
    The kept documents are those of ``deduplicate`` with the same options over the same data, if
    pairs were found by the same method. So are the keepers, except for exact copies of a removed
    document: each of them may have a more similar, later keeper. Similarities are compared as
    64-bit floats. Linear time; memory about 70 bytes per pair, 44 per document, and all ids.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "the cat sat on a hat"]
    >>> pairs = neardup.find_pairs(texts, threshold="0.5", text=neardup.TextOptions(ngram=1))
    >>> neardup.choose(pairs, texts).kept.to_pylist()
    [{'text': 'the cat sat on the mat'}]
    >>> neardup.choose(pairs, texts, threshold="0.8").removed.select(["id", "kept_id"]).to_pylist()
    [{'id': '1', 'kept_id': '0'}]
    """
    options = merge(
        ChooseOptions,
        read,
        threshold=threshold,
        measure=measure,
        keep=keep,
        clusters=clusters,
    )
    policy = parse_keep(options.keep)
    if data is None:
        _check_no_data(options, run, policy)
    table = open_pair_table(pairs)
    sources = None
    if data is not None:
        sources = rows_where(resolve_inputs(data, options), options.where)
    with open_engine(run, "choose", sources or ()) as engine:
        return choose_documents(engine, sources, table, options)


def choose_documents(
    engine: Engine, sources: Sequence[Source] | None, table: GivenPairs, options: ChooseOptions
) -> DeduplicationResult:
    """Select documents to keep in sources, None for the table."""
    runner = engine.runner
    terms = agree_on_terms(table, options.measure, options.threshold)
    policy = parse_keep(options.keep)
    with runner.stage("read") as note:
        if sources is None:
            documents = Catalogue.of_ids(table.ids(runner))
        else:
            check_effect(options, sources)
            keep_extracted(engine.workspace, sources)
            columns = replace(columns_of(options), order=policy.columns)
            documents = list_documents(
                engine,
                sources,
                columns,
                skip_bad=options.skip_bad,
                with_lengths=policy.by_length,
            )
            check_same_documents(table, int(documents.is_document.sum()))
        note(documents=len(documents))
    assignment, summary = decide_by_pairs(
        documents, table, terms, runner, keep=options.keep, clusters=options.clusters
    )
    summary |= describe_inputs(sources or (), ()) | describe_reading(options, documents)
    return DeduplicationResult(documents, Catalogue.of_none(), assignment, summary)


def _check_no_data(options: ChooseOptions, run: RunOptions | None, policy: KeepPolicy) -> None:
    """Raise for options of documents and memory without data."""
    if policy.rule != "first":
        message = f"keep {options.keep} looks at the documents; give data, or keep first"
        raise InvalidParameterError(message, "keep")
    given = options.given() | ({} if run is None else run.given())
    for name in ("where", "memory", "work", *ReadingOptions.known):
        if name in given:
            raise no_effect(name, "without data", "give data")
