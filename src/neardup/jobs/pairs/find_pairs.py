"""``find_pairs``: pairs of similar documents in one or two collections.

The second one may be an index, in which documents are looked up instead of joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from logging import getLogger
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine, each_block
from neardup.engine.opening import key_of, key_with_index, open_engine
from neardup.errors import InvalidInputError, InvalidParameterError, option_name
from neardup.files.documents import choose_id_column, common_id_type, keep_extracted
from neardup.files.inputs import Inputs, name_apart, passed_over, resolve_inputs
from neardup.files.problems import listed_names
from neardup.files.rows import Source
from neardup.jobs.pairs.exact import (
    Records,
    find_pair_contents,
    make_records,
    route_by_extent,
    scheme_of,
)
from neardup.jobs.pairs.pair_plan import PairPlan, plan_pairs
from neardup.jobs.pairs.pair_rows import (
    ROWS_SHARE,
    RUN_SCHEMA,
    FoundPart,
    PairMatches,
    PairResult,
    PairRows,
    check_columns,
    collect_runs,
    read_columns,
)
from neardup.kernels.bucket import survivor_kernels
from neardup.matching.buckets import BucketJoinCounts
from neardup.matching.join import FilterCounts, check_limit
from neardup.matching.measures import EditThreshold, Measure
from neardup.options.choices import (
    ColumnNames,
    Data,
    DataOrIndex,
    DocumentPreset,
    Number,
    PairMeasure,
    PairMethod,
)
from neardup.options.document_options import PairOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.outputs.output_tables import metadata_of
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import (
    NO_KEY,
    Collections,
    SignedBatches,
    describe_filtered,
    rows_where,
    shingle_collections,
    sign_block,
    with_frequencies,
)
from neardup.results import NO_COLUMNS, QueryCounts, describe_ids, describe_skipped
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.options import (
    columns_of,
    counted_collections,
    hints_of_short,
    other_columns_of,
    weights_for,
    with_warning,
)
from neardup.tables import Bools, Int64s, Uint64s

if TYPE_CHECKING:
    from neardup.documents.open_documents import LookedUp, OpenDocuments
    from neardup.documents.scheme import DocumentScheme
    from neardup.index.open_index import SharedIndex

_log = getLogger(__name__)

# Options that have no effect on a lookup.
_OF_JOINS = ("top", "max_distance", "blocking", "columns", "one_to_one")

# Bytes of a file of pairs, of a lookup.
_FILE_BYTES = 64_000_000


def find_pairs(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: PairMeasure | None = None,
    max_distance: int | None = None,
    top: int | None = None,
    per_document: bool = False,
    one_to_one: bool = False,
    blocking: ColumnNames | None = None,
    columns: ColumnNames | None = None,
    method: PairMethod | None = None,
    limit: int | None = None,
    preset: DocumentPreset | None = None,
    recall: Number | None = None,
    num_perm: int | None = None,
    bands: tuple[int, int] | str | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> PairResult:
    """Find all pairs of similar documents, or the most similar.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes.
    against
        A second collection: pairs have one document of each. None: pairs within ``data``. In an
        index of documents, or its folder, documents are looked up; it defines all but the
        threshold. Method ``exact`` and options that need all texts read the texts of the index.
    threshold
        Least similarity, in (0, 1], an exact decimal; for ``overlap`` a number of shingles, for
        ``edit`` 1 - distance / length of the longer text. None: 0.8.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (the share of a that b
        has), ``max-containment``, ``overlap`` (common shingles), ``weighted-jaccard`` or
        ``edit`` (the default with ``max_distance``).
    max_distance
        Most edits, instead of a threshold.
    top
        Only this many of the pairs, the most similar; ties in input order.
    per_document
        Only the ``top`` most similar partners of each document of ``data``. In a self-join a pair
        may then come in both directions.
    one_to_one
        No document is in two pairs: the most similar pairs stay, ties in input order; ``top``
        counts these.
    blocking
        Compare only documents with equal values, as text, in all of these columns. A document
        without a value is in no pair.
    columns
        Add these columns of both documents: ``title`` becomes ``title_a`` and ``title_b``.
    method
        ``exact`` (the default but for an index) misses no pair, ``minhash`` compares documents that
        share a band. ``allpairs``, ``ppjoin`` and ``ppjoin+`` are exact with these filters.
    limit
        Raise an error at more pairs.
    preset
        ``ocr``, ``titles`` or ``code``: defaults for such texts.
    recall, num_perm, bands
        MinHash bands of method ``minhash``, as of ``deduplicate``.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance, but for
    ``weighted-jaccard``), ``counts`` (of the filters) and ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact except for collisions of 64-bit hashes. Keeps within ``memory``, except for about 80 bytes
    per document, the table ``pairs``, and with ``top`` about 50 bytes per pair. A join in
    memory takes about 30 bytes per shingle, 80 if few are shared, 50 to 100 per weighted one, and
    50 per character for ``edit``; with less memory, records are joined in blocks, and the time
    grows with the number of blocks.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(
    ...     texts, threshold="0.8", text=neardup.TextOptions(ngram=1)
    ... ).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    >>> neardup.find_pairs(["Miller", "Muller", "Moeller"], max_distance=1).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '1', 'similarity': 0.8333333333333334, 'distance': 1}]
    """
    options = merge(PairOptions, locals())
    job = PairJob(options, resolve_inputs, data, against)
    with open_engine(run, [*job.left, *(job.right or ())]) as engine:
        result = job.run(engine)
    return with_warning(result)


class PairJob:
    """Search for pairs by checked options, resolving inputs on access."""

    def __init__(
        self,
        options: PairOptions,
        resolve: Callable[[Any, PairOptions], Inputs],
        data: Any,
        against: Any = None,
        *,
        named: Any = None,
    ) -> None:
        self.options, self._resolve = options, resolve
        self._data, self._against = data, against
        self._named = against if named is None else named
        self.index = self.plan = None
        if against is not None:
            from neardup.documents.other import index_among, own_tokenizer

            tokenizer = options.tokenizer
            # Edit distances compare texts, not the tokens of the index; a preset's tokenizer was
            # not given.
            if options.is_of_edits or options.preset is not None:
                tokenizer = own_tokenizer(tokenizer)
            index = index_among(self._named, tokenizer)
            if index is not None and options.may_look_up:
                options.check_no_preset()
                self.index = index
                return
            if index is not None and not options.is_of_edits:
                self.plan = _plan_with_texts(options, index.view(Runner(1)).scheme)
                return
        self.plan = plan_pairs(options, has_other=against is not None)

    @cached_property
    def left(self) -> Inputs:
        """The documents of the left collection."""
        return rows_where(self._resolve(self._data, self.options), self.options.where)

    @cached_property
    def right(self) -> Sequence[Source] | None:
        """The second collection, None if missing or in an index."""
        if self._against is None or self.index is not None:
            return None
        from neardup.documents.other import resolve_other

        others = resolve_other(
            self._named,
            lambda _: self._resolve(self._against, self.options),
            self.options.tokenizer,
        )
        return name_apart(others, self.left)

    def key(self, runner: Runner) -> dict[str, Any] | None:
        """Return the inputs that identify the result, None if unidentifiable."""
        if self.index is not None:
            view, folder = self.index.view(runner), self.index.folder
            return key_with_index("pairs", self.options, view, folder, inputs=self.left)
        assert self.plan is not None
        scheme, right = self.plan.reading.shingles.describe(), self.right or []
        return key_of("pairs", self.options, scheme, inputs=self.left, against=right)

    def run(self, engine: Engine) -> PairResult:
        """Find the pairs of the collections."""
        if self.index is not None:
            shared = self.index.share(self.index.view(engine.runner))
            return _find_in_index(engine, self.left, shared, self.options)
        assert self.plan is not None
        return find_pairs_in_sources(self.left, self.right, self.plan, engine)


def find_pairs_in_sources(
    left: Sequence[Source], right: Sequence[Source] | None, plan: PairPlan, engine: Engine
) -> PairResult:
    """Find all or the most similar pairs of documents.

    ``right`` is None for a self-join. Equal texts, and then equal records, are joined once; pairs
    of their documents are spelled out afterwards, in files if they do not fit.
    """
    runner, workspace = engine.runner, engine.workspace
    collections = [(left, plan.reading)]
    if right is not None:
        collections.append((right, plan.reading.without_ranks(other_columns_of(plan.options))))
    keep_extracted(workspace, *(sources for sources, _ in collections))
    names = plan.options.shown_columns
    there = list[tuple[str, ...]]()
    if names:
        there = check_columns(names, [each for each, _ in collections], plan.reading.columns)
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            reference = counted_collections(plan.options, left, right or [])
            frequencies = engine.count("count", shingle_collections(reference, plan.reading))
        collections = [(each, with_frequencies(own, frequencies)) for each, own in collections]
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    find = _find_in_buckets if plan.banding else _find_exactly
    catalogues, matches, n_outside = find(engine, collections, plan)
    _log.debug("join: filters %s", vars(matches.counts))
    n_similar = matches.n_pairs
    if plan.options.one_to_one or plan.options.top is not None:
        with runner.stage("match") as note:
            matches = _select(matches, catalogues, plan)
            note(pairs=matches.n_pairs)
    columns = None
    if names:
        with runner.stage("columns"):
            columns = read_columns(matches.runs, catalogues, names, there, workspace, runner)
    summary = summarise_pairs(catalogues, plan, matches, engine)
    if plan.options.blocking_columns:
        summary |= {"blocking": list(plan.options.blocking_columns), "unblocked": n_outside}
    if plan.options.one_to_one:
        summary |= {"one_to_one": True, "similar_pairs": n_similar}
    if names:
        summary["columns"] = list(names)
    n_documents, n_short = sum(summary["documents"]), summary["short_documents"]
    summary["hints"] = hints_of_short(n_documents, n_short, plan.reading.shingles)
    rows = PairRows(matches.runs, catalogues, matches.score_name, metadata_of(summary), columns)
    return PairResult(rows.reader, matches.counts, summary)


Found = tuple[Sequence[Catalogue], PairMatches, int]
"""Catalogues, pairs of their documents, and the number of documents not compared."""


def _find_exactly(engine: Engine, collections: Collections, plan: PairPlan) -> Found:
    with engine.stage("read") as note:
        read = engine.read(collections, scheme_of(plan).list_sets, "sets", route_by_extent)
        catalogues, keys = read.catalogues, read.signed.blocking_keys()
        n_outside = count_outside(catalogues, keys, plan.options.blocking_columns)
        records = make_records(engine, read, plan)
        # Digests are in memory until here.
        read = replace(read, signed=SignedBatches(0))
        note(documents=sum(map(len, catalogues)), records=len(records.join.whole.own_scores))
    with engine.stage("join") as note:
        matches = find_matches(records, plan.options, engine.workspace)
        note(pairs=matches.n_pairs)
    return catalogues, matches, n_outside


def _find_in_buckets(engine: Engine, collections: Collections, plan: PairPlan) -> Found:
    # Few jobs need its kernels.
    from neardup.jobs.pairs.bucket_pairs import join_partitions, partition_contents

    with engine.stage("read") as note:
        read = engine.read(collections, sign_block)
        catalogues, keys = read.catalogues, read.signed.blocking_keys()
        n_outside = count_outside(catalogues, keys, plan.options.blocking_columns)
        found = partition_contents(engine, read, find_pair_contents(read), plan)
        note(documents=sum(map(len, catalogues)), candidates=len(found.partitions.documents))
    with engine.stage("join") as note:
        matches = join_partitions(engine, found, plan)
        note(records=matches.n_records, pairs=matches.n_pairs)
    return catalogues, matches, n_outside


def _select(matches: PairMatches, catalogues: Sequence[Catalogue], plan: PairPlan) -> PairMatches:
    """Keep pairs of a one-to-one matching, and the most similar pairs.

    From the most similar pair (or the least distance) to the least, ties by the left document, then
    the right one, a pair of a matching stays if neither of its documents is in an earlier kept
    pair. The matching is stable, and unique except for ties. Memory about 50 bytes per pair; time
    O(n log n).
    """
    options = plan.options
    rows = pa.Table.from_batches(matches.runs, RUN_SCHEMA)
    rows = rows.sort_by([("left", "ascending"), ("right", "ascending")])
    if options.one_to_one:
        left, right, order = _ranked(rows, plan)
        is_taken = np.zeros(sum(map(len, catalogues)), np.bool_)
        stays: Bools = np.zeros(len(rows), np.bool_)
        survivor_kernels.match_in_order(order, left, right, is_taken, stays)
        rows = rows.filter(stays)
    if options.top is not None and options.per_document:
        is_directed = plan.of_sets is not None and plan.of_sets.is_directed
        if len(catalogues) == 1 and not is_directed:
            turned = rows.rename_columns(["right", "left", "score", "similarity"])
            rows = pa.concat_tables([rows, turned.select(rows.column_names)])
        left, _, order = _ranked(rows, plan)
        order = order[np.argsort(left[order], kind="stable")]
        n_before = np.arange(len(rows)) - np.searchsorted(left[order], left[order])
        rows = rows.take(order[n_before < options.top])
    elif options.top is not None:
        rows = rows.take(_ranked(rows, plan)[2][: options.top])
    run = rows.combine_chunks().to_batches()
    return replace(matches, runs=run, n_pairs=len(rows))


def _ranked(rows: pa.Table, plan: PairPlan) -> tuple[Int64s, Int64s, Int64s]:
    """Return left and right documents, and the order of pairs by similarity."""
    left, right = rows["left"].to_numpy(), rows["right"].to_numpy()
    by_distance = plan.options.max_distance is not None
    ranks = rows["score"].to_numpy() if by_distance else -rows["similarity"].to_numpy()
    return left, right, np.lexsort((right, left, ranks))


def find_matches(records: Records, options: PairOptions, workspace: Workspace) -> PairMatches:
    """Join records and spell out pairs, in files if necessary."""
    join, whole = records.join, records.join.whole
    # Pairs within a record are spelled out once.
    alone = replace(records.speller, has_twins=False)

    def join_parts(first: int) -> Iterator[FoundPart]:
        for number, (joined, counts) in enumerate(join.run_units(first, options.limit), first):
            own = records.speller if number == 0 else alone
            yield FoundPart(joined, own, list(vars(counts).values()))

    shares = [(number + 1) / join.n_units for number in range(join.n_units)]
    runs, n_pairs, found = collect_runs(join_parts, shares, options.limit, workspace)
    total = FilterCounts.total([whole.counted.none(), *(whole.counted(*each) for each in found)])
    return PairMatches(runs, n_pairs, len(whole.own_scores), whole.score_name, total)


def count_outside(
    catalogues: Sequence[Catalogue], keys: Uint64s | None, columns: Sequence[str]
) -> int:
    """Count the documents left out for lack of a value."""
    if keys is None:
        return 0
    n_outside = 0
    parts = np.split(keys, np.cumsum([len(each) for each in catalogues])[:-1])
    for catalogue, own in zip(catalogues, parts, strict=True):
        is_outside = catalogue.is_document & (own == NO_KEY)
        n_own = int(is_outside.sum())
        if n_own and n_own == int(catalogue.is_document.sum()):
            raise _no_values(catalogue, columns)
        n_outside += n_own
    return n_outside


def _no_values(catalogue: Catalogue, columns: Sequence[str]) -> InvalidInputError:
    source = catalogue.sources[0]
    named = " and ".join(map(repr, columns))
    message = (
        f"no document has a value in {'all columns ' if len(columns) > 1 else 'column '}{named}, "
        f"so that none would be compared; name another with {option_name('blocking')}"
    )
    there = source.listed_names()
    if there:
        message += f"; columns are {listed_names(there)}"
    return InvalidInputError(message, path=source.origin)


def summarise_pairs(
    catalogues: Sequence[Catalogue], plan: PairPlan, matches: PairMatches, engine: Engine
) -> dict[str, Any]:
    """Return the ``--json`` output of a run."""
    options = plan.options
    other = catalogues[1].columns if len(catalogues) > 1 else NO_COLUMNS
    n_short = 0
    if plan.of_sets is not None:
        n_short = sum(each.count_short(plan.reading.shingles.ngram) for each in catalogues)
    summary: dict[str, Any] = {
        "documents": [int(catalogue.is_document.sum()) for catalogue in catalogues],
        "empty_documents": sum(catalogue.count_empty() for catalogue in catalogues),
        "short_documents": n_short,
        "tokens": sum(int(np.maximum(c.n_tokens, 0).sum()) for c in catalogues),
        **describe_ids(catalogues[0].columns, other),
        **describe_skipped([row for catalogue in catalogues for row in catalogue.skipped]),
        **describe_filtered(catalogues[0].sources),
        "passed_over": passed_over(*(catalogue.sources for catalogue in catalogues)),
        "distinct_records": matches.n_records,
        "pairs": matches.n_pairs,
        "filters": vars(matches.counts),
        "measure": plan.measure.name,
        "threshold": plan.threshold,
        "method": "minhash" if options.method == "minhash" else "exact",
        **_describe_method(plan),
        **options.describe_preset(),
    }
    if options.top is not None:
        summary["top"], summary["per_document"] = options.top, options.per_document
    summary["scheme"] = _describe_scheme(plan)
    summary |= {**engine.describe(), "seconds": engine.runner.seconds}
    if plan.banding:
        summary["recall"] = float(options.recall_asked_for)
    return summary


def _describe_method(plan: PairPlan) -> dict[str, Any]:
    if isinstance(plan.measure, EditThreshold):
        return {"algorithm": plan.algorithm, "max_distance": plan.measure.max_distance}
    if plan.banding is None:
        return {} if plan.reading.weighted else {"algorithm": plan.algorithm}
    least = float(plan.measure.least_jaccard)
    return {
        "predicted_recall": plan.banding.candidate_probability(least),
        "bands": plan.banding.bands,
        "rows": plan.banding.rows,
    }


def _describe_scheme(plan: PairPlan) -> dict[str, Any]:
    scheme: dict[str, Any] = plan.reading.shingles.describe()
    if plan.of_sets is None:
        # Strings are compared token by token.
        del scheme["ngram"], scheme["occurrences"]
    if plan.reading.weighted:
        scheme |= plan.reading.weighted.weighting.describe()
    if plan.reading.minhash:
        scheme |= plan.reading.minhash.describe()
    return scheme


# Pairs of documents and index documents, by lookup. Functions import the code of indexes, which is
# slow to import, because most runs have one collection.


def _plan_with_texts(options: PairOptions, scheme: DocumentScheme) -> PairPlan:
    """Plan a join with an index by its scheme and threshold."""
    from neardup.documents.scheme import check_alike

    options.check_no_preset()
    check_alike(options, scheme)
    threshold = scheme.measure_at(options.threshold).threshold
    options = options.but(
        measure=scheme.measure.name, threshold=threshold, occurrences=scheme.shingles.occurrences
    )
    plan = plan_pairs(options, has_other=True)
    reading = replace(plan.reading, shingles=scheme.shingles)
    if reading.weighted:
        reading = replace(reading, weighted=scheme.weighted)
    return replace(plan, reading=reading)


def _plan_with_index(options: PairOptions, index: OpenDocuments) -> Measure:
    """Check options other than the threshold against an index."""
    from neardup.documents.scheme import check_alike

    options.check_left_out(_OF_JOINS, "with an index", "choose method exact", "method")
    if options.per_document:
        message = "per_document needs top, the number of partners, which is exact; leave it out"
        raise InvalidParameterError(message, "per_document", "top")
    options.check_no_other("with an index", "name files with against", "against")
    weights_for(options, index.scheme.measure)
    check_alike(options, index.scheme)
    return index.scheme.measure_at(options.threshold)


def _find_in_index(
    engine: Engine,
    sources: Sequence[Source],
    shared: SharedIndex[OpenDocuments],
    options: PairOptions,
) -> PairResult:
    """Find pairs of source and index documents in common buckets.

    Each pair is compared exactly. Time grows with the sources and the pairs, not with the index.
    Pairs that exceed the memory go to files.
    """
    from neardup.documents.open_documents import look_up_block

    index, runner = shared.opened, engine.runner
    measure = _plan_with_index(options, index)
    columns = choose_id_column(columns_of(options), sources)
    counts, ngram = QueryCounts(), index.scheme.shingles.ngram
    runs = SpilledBatches("found", engine.workspace, share=ROWS_SHARE, weight_of_file=_FILE_BYTES)
    id_types: set[pa.DataType] = set()
    with runner.stage("join") as note, runs:
        look_up = partial(look_up_block, shared, columns, measure, None, options.skip_bad)
        for found in engine.stream("join", sources, look_up, each_block):
            counts.add(found.n_tokens, ngram, found.hits.queries, found.skipped)
            id_types |= {found.ids.type} if len(found.ids) else set()
            check_limit(options.limit, counts.n_results)
            if len(found.hits):
                run = _lookup_run(found, index)
                runs.append(run, None, run.nbytes)
        note(pairs=counts.n_results)
    found_counts = BucketJoinCounts(counts.n_results, counts.n_results)
    summary = {
        "documents": [counts.n_queries, index.n_documents],
        "empty_documents": counts.n_empty,
        "short_documents": counts.n_short,
        "tokens": counts.n_tokens,
        **describe_ids(columns),
        **describe_skipped(counts.skipped),
        **describe_filtered(sources),
        "passed_over": passed_over(sources),
        "pairs": counts.n_results,
        "filters": vars(found_counts),
        "method": "minhash",
        **_describe_lookup(index, measure),
        **engine.describe(),
        "seconds": runner.seconds,
        # The options that hints would name are fixed by the index.
        "hints": [],
    }
    schema = _lookup_schema(common_id_type(id_types), index).with_metadata(metadata_of(summary))

    def read() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(schema, (run.cast(schema) for run in runs))

    return PairResult(read, found_counts, summary)


def _describe_lookup(index: OpenDocuments, measure: Measure) -> dict[str, Any]:
    scheme = index.scheme
    return {
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "predicted_recall": scheme.predicted_recall(measure),
        "bands": scheme.banding.bands,
        "rows": scheme.banding.rows,
        "scheme": scheme.describe(),
        "recall": float(scheme.recall),
    }


def _lookup_run(found: LookedUp, index: OpenDocuments) -> pa.RecordBatch:
    hits = found.hits
    columns = {
        "id_a": found.ids.take(pa.array(hits.queries)),
        "id_b": index.ids_of(hits.documents),
        "similarity": hits.similarities,
    }
    # The common weight of weighted sets is not a number of shingles.
    if index.scheme.weighted is None:
        columns["overlap"] = hits.overlaps
    return pa.RecordBatch.from_pydict(columns)


def _lookup_schema(id_type: pa.DataType, index: OpenDocuments) -> pa.Schema:
    fields = [("id_a", id_type), ("id_b", index.id_type), ("similarity", pa.float64())]
    if index.scheme.weighted is None:
        fields.append(("overlap", pa.int64()))
    return pa.schema(fields)
