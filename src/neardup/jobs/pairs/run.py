"""Stages of a search for pairs in order, and summary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine
from neardup.engine.opening import key_of, key_with_index
from neardup.errors import InvalidInputError, option_name
from neardup.files.documents import keep_extracted
from neardup.files.inputs import Inputs, check_effect, name_apart, passed_over
from neardup.files.problems import listed_names
from neardup.files.rows import Source
from neardup.jobs.pairs.blocked import route_by_extent
from neardup.jobs.pairs.plan import PairPlan, plan_pairs
from neardup.jobs.pairs.records import Records, find_pair_contents, make_records, scheme_of
from neardup.jobs.pairs.rows import (
    FoundPart,
    PairResult,
    PairRows,
    check_columns,
    collect_runs,
    keep_equal,
    read_columns,
    to_run,
)
from neardup.jobs.pairs.spelling import Speller, most_similar_pairs, most_similar_partners
from neardup.kernels.bucket import survivors
from neardup.matching.buckets import BucketJoinCounts
from neardup.matching.join import FilterCounts, check_limit
from neardup.matching.measures import Hamming
from neardup.matching.set_join import SetSizes
from neardup.options.documents import PairOptions
from neardup.outputs.tables import metadata_of
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import (
    NO_KEY,
    Collections,
    SignedBatches,
    check_have_columns,
    counted_shingles,
    numbers_of,
    sign_block,
    with_frequencies,
)
from neardup.reading.where import describe_filtered, rows_where
from neardup.results import NO_COLUMNS, describe_ids, describe_skipped
from neardup.runs.progress import job_logger
from neardup.runs.runner import Runner
from neardup.stages.options import hints_of_short, to_be_counted
from neardup.tables import Bools, Floats, Int64s, Uint64s

if TYPE_CHECKING:
    from neardup.jobs.pairs.rows import Collected


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
        lacking = next((name for name in columns if name not in there), "")
        message += f"; columns are {listed_names(lacking, there)}"
    return InvalidInputError(message, path=source.origin)


def choose_one_to_one(
    runs: Iterable[pa.RecordBatch], n_documents: int, *, by_distance: bool
) -> list[pa.RecordBatch]:
    """Match documents one to one by their most similar pairs.

    Pairs are processed from the most similar to the least, by distance with ``by_distance``, ties
    by the left document, then the right one; a pair stays if neither of its documents is in an
    earlier kept pair. So every dropped pair has a document in a pair that is at least as similar:
    the matching is stable, and unique except for ties. Documents of two collections are numbered
    consecutively.

    Notes
    -----
    Memory about 50 bytes per pair, and one per document; time O(n log n).
    """
    parts = list(runs)
    left, right = (_joined(parts, name) for name in ("left", "right"))
    if by_distance:
        ranks: Int64s | Floats = _joined(parts, "score")
    else:
        ranks = -_joined(parts, "similarity")
    order = np.lexsort((right, left, ranks))
    is_taken = np.zeros(n_documents, np.bool_)
    stays: Bools = np.zeros(len(left), np.bool_)
    survivors.match_in_order(order, left, right, is_taken, stays)
    bounds = np.cumsum([len(part) for part in parts])[:-1]
    masks = np.split(stays, bounds) if parts else []
    return [part.filter(pa.array(mask)) for part, mask in zip(parts, masks, strict=True)]


def _joined(runs: list[pa.RecordBatch], name: str) -> Int64s:
    return np.concatenate([np.empty(0, np.int64), *(numbers_of(run, name) for run in runs)])


@dataclass(frozen=True)
class Matches:
    """Pairs of documents in output order, with counts of filters.

    ``runs`` as of ``PairRows``. ``n_records`` records were joined in ``n_steps`` joins
    with falling thresholds.
    """

    runs: Iterable[pa.RecordBatch]
    n_pairs: int
    n_records: int
    score_name: str | None
    counts: FilterCounts
    n_steps: int


def find_matches(engine: Engine, records: Records, options: PairOptions) -> Matches:
    """Join records and spell out pairs, in files if necessary."""
    join, sides = records.join, records.sides()
    whole = join.whole
    speller = Speller.of(
        records.of_documents,
        whole.own_scores,
        whole.twins,
        n_left=records.n_left,
        is_directed=whole.is_directed,
    )
    runs: Iterable[pa.RecordBatch]
    if options.top is None:
        alone = speller.without_twins()

        def join_parts(first: int) -> Iterator[FoundPart]:
            joined_units = join.run_units(first, sides, options.limit)
            for number, (joined, counts) in enumerate(joined_units, first):
                # Pairs within a record are spelled out once.
                own = speller if number == 0 else alone
                yield FoundPart.of_records(joined, own, whole, list(vars(counts).values()))

        shares = [(number + 1) / join.n_units for number in range(join.n_units)]
        runs, n_pairs, found = collect_runs(join_parts, shares, options.limit, engine.workspace)
        step_counts = [whole.counted(*each) for each in found]
        n_steps = 1
    else:
        best = most_similar_partners if options.per_document else most_similar_pairs
        pairs, step_counts = best(join, speller, sides, options.top, engine.runner)
        check_limit(options.limit, len(pairs))
        runs, n_pairs = [to_run(pairs, records.similarities(pairs))], len(pairs)
        n_steps = len(step_counts)
    total = FilterCounts.total([whole.counted.none(), *step_counts])
    return Matches(runs, n_pairs, len(records), whole.score_name, total, n_steps)


def matches_in_buckets(collected: Collected, plan: PairPlan) -> Matches:
    """Return the pairs of all partitions as matches."""
    runs, n_pairs, found_in = collected
    score_name = None if plan.measure_of_sets.is_weighted else SetSizes.score_name
    totals = np.array(found_in, np.int64).reshape(-1, 3).sum(axis=0)
    n_records, n_verified, n_joined = totals.tolist()
    counts = BucketJoinCounts(n_verified, n_joined)
    return Matches(runs, n_pairs, n_records, score_name, counts, 1)


def summarise_pairs(
    catalogues: Sequence[Catalogue],
    plan: PairPlan,
    matches: Matches,
    engine: Engine,
) -> dict[str, Any]:
    """Return the ``--json`` output of a run."""
    options = plan.options
    other = catalogues[1].columns if len(catalogues) > 1 else NO_COLUMNS
    summary: dict[str, Any] = {
        "documents": [int(catalogue.is_document.sum()) for catalogue in catalogues],
        "empty_documents": sum(catalogue.count_empty() for catalogue in catalogues),
        "short_documents": _count_short(catalogues, plan),
        "tokens": sum(int(np.maximum(c.n_tokens, 0).sum()) for c in catalogues),
        **describe_ids(catalogues[0].columns, other),
        **describe_skipped([row for catalogue in catalogues for row in catalogue.skipped]),
        **describe_filtered(catalogues[0].sources),
        "passed_over": passed_over(*(catalogue.sources for catalogue in catalogues)),
        "distinct_records": matches.n_records,
        "pairs": matches.n_pairs,
        "filters": vars(matches.counts),
        "measure": plan.measure_name,
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
    if options.top is not None:
        summary["steps"] = matches.n_steps
    return summary


def _describe_method(plan: PairPlan) -> dict[str, Any]:
    if plan.edit:
        return {"algorithm": plan.algorithm, "max_distance": plan.edit.max_distance}
    if isinstance(plan.measure, Hamming):
        return {"algorithm": plan.algorithm, "max_distance": plan.measure.max_distance}
    if plan.banding is None or plan.measure is None:
        return {} if plan.reading.weighted else {"algorithm": plan.algorithm}
    least = float(plan.measure.least_jaccard)
    return {
        "predicted_recall": plan.banding.candidate_probability(least),
        "bands": plan.banding.bands,
        "rows": plan.banding.rows,
    }


def _describe_scheme(plan: PairPlan) -> dict[str, Any]:
    scheme: dict[str, Any] = plan.reading.shingles.describe()
    if plan.edit:
        # Strings are compared token by token.
        del scheme["ngram"], scheme["occurrences"]
    if plan.reading.weighted:
        scheme |= plan.reading.weighted.weighting.describe()
    if plan.reading.minhash:
        scheme |= plan.reading.minhash.describe()
    return scheme


def _count_short(catalogues: Sequence[Catalogue], plan: PairPlan) -> int:
    """Count the documents with fewer tokens than one shingle."""
    if plan.edit:
        return 0
    ngram = plan.reading.shingles.ngram
    return sum(catalogue.count_short(ngram) for catalogue in catalogues)


_log = job_logger(__name__)


class PairJob:
    """Search for pairs by checked options, resolving inputs on access.

    ``named`` is the value of ``against`` if it may name an index; ``idf_from`` are the documents
    for frequencies.
    """

    def __init__(
        self,
        options: PairOptions,
        resolve: Callable[[Any, PairOptions], Inputs],
        data: Any,
        against: Any = None,
        idf_from: Any = None,
        *,
        named: Any = None,
    ) -> None:
        self.options, self._resolve = options, resolve
        self._data, self._against, self._idf_from = data, against, idf_from
        self._named = against if named is None else named
        self.index = self.plan = None
        if against is not None:
            # Index code is slow to import, and most runs have one collection.
            from neardup.documents.other import index_among, own_tokenizer

            tokenizer = options.tokenizer
            # Edit distances compare texts, whatever the tokens of the index; a preset's tokenizer
            # was not given.
            if options.is_of_edits or options.preset is not None:
                tokenizer = own_tokenizer(tokenizer)
            index = index_among(self._named, tokenizer)
            if index is not None and options.may_look_up:
                options.check_no_preset()
                self.index = index
                return
            if index is not None and not options.is_of_edits:
                from neardup.jobs.pairs.against_index import plan_with_texts

                self.plan = plan_with_texts(options, index.view(Runner(1)).scheme)
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

    @cached_property
    def counted(self) -> Inputs | None:
        """The documents for frequencies, None for the compared documents."""
        if self._idf_from is None or self.index is not None:
            return None
        return self._resolve(self._idf_from, self.options)

    def key(self, runner: Runner) -> dict[str, Any] | None:
        """Return the inputs that identify the result, None if unidentifiable."""
        if self.index is not None:
            view, folder = self.index.view(runner), self.index.folder
            return key_with_index("pairs", self.options, view, folder, inputs=self.left)
        assert self.plan is not None
        return key_of(
            "pairs",
            self.options,
            self.plan.reading.shingles.describe(),
            inputs=self.left,
            against=self.right or [],
            counted=self.counted or [],
        )

    def run(self, engine: Engine) -> PairResult:
        """Find the pairs of the collections."""
        if self.index is not None:
            # Index code is slow to import, and most runs have none.
            from neardup.index.handle import SeenFolder, SharedIndex
            from neardup.jobs.pairs.against_index import find_pairs_in_index

            shared = SharedIndex(self.index.view(engine.runner), SeenFolder(self.index.folder))
            return find_pairs_in_index(engine, self.left, shared, self.options)
        assert self.plan is not None
        return find_pairs_in_sources(self.left, self.right, self.plan, engine, self.counted)


def find_pairs_in_sources(
    left: Sequence[Source],
    right: Sequence[Source] | None,
    plan: PairPlan,
    engine: Engine,
    counted: Sequence[Source] | None = None,
) -> PairResult:
    """Find all or the most similar pairs of documents.

    ``right`` is None for a self-join. Equal texts, and then equal records, are joined once; pairs
    of their documents are spelled out afterwards, in files if they do not fit. Document frequencies
    are counted in ``counted``; None: in the compared documents.
    """
    runner, workspace = engine.runner, engine.workspace
    collections = [(left, plan.reading)]
    if right is not None:
        collections.append((right, plan.reading_of_other))
    check_effect(plan.options, *(sources for sources, _ in collections), counted or ())
    keep_extracted(workspace, *(sources for sources, _ in collections))
    names, also = plan.options.shown_columns, plan.options.equal_columns
    there = list[tuple[str, ...]]()
    if names:
        there = check_columns(names, [each for each, _ in collections], plan.reading.columns)
    if also:
        check_have_columns(also, "also (--also)", [each for each, _ in collections])
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            reference = to_be_counted(plan.options, left, right or [], counted)
            frequencies = engine.count("count", counted_shingles(reference, plan.reading))
        collections = [(each, with_frequencies(own, frequencies)) for each, own in collections]
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    find = _find_in_buckets if plan.banding else _find_exactly
    catalogues, matches, n_outside = find(engine, collections, plan)
    _log.debug("join: filters %s", vars(matches.counts))
    n_joined = matches.n_pairs
    if also:
        with runner.stage("also") as note:
            runs = keep_equal(matches.runs, catalogues, also, workspace, runner)
            matches = replace(matches, runs=runs, n_pairs=sum(map(len, runs)))
            note(pairs=matches.n_pairs)
    n_similar = matches.n_pairs
    if plan.options.one_to_one:
        matches = _match_one_to_one(matches, catalogues, plan, runner)
    columns = None
    if names:
        with runner.stage("columns"):
            columns = read_columns(matches.runs, catalogues, names, there, workspace, runner)
    summary = summarise_pairs(catalogues, plan, matches, engine)
    if plan.options.blocking_columns:
        summary |= {"blocking": list(plan.options.blocking_columns), "unblocked": n_outside}
    if also:
        summary |= {"also": list(also), "pairs_before_also": n_joined}
    if plan.options.one_to_one:
        summary |= {"one_to_one": True, "similar_pairs": n_similar}
    if names:
        summary["columns"] = list(names)
    # Two sets of one shingle each have a Hamming distance of 2.
    n_short = 0 if isinstance(plan.measure, Hamming) else summary["short_documents"]
    n_documents = sum(summary["documents"])
    summary["hints"] = hints_of_short(n_documents, n_short, plan.reading.shingles)
    rows = PairRows(matches.runs, catalogues, matches.score_name, metadata_of(summary), columns)
    return PairResult(rows.reader, matches.counts, summary)


Found = tuple[Sequence[Catalogue], Matches, int]
"""Catalogues, pairs of their documents, and the number of documents not compared."""


def _find_exactly(engine: Engine, collections: Collections, plan: PairPlan) -> Found:
    with engine.stage("read") as note:
        read = engine.read(collections, scheme_of(plan).list_sets, "sets", route_by_extent)
        catalogues, keys = read.catalogues, read.known.blocking_keys()
        n_outside = count_outside(catalogues, keys, plan.options.blocking_columns)
        records = make_records(engine, read, plan)
        # Digests are in memory until here.
        read = read._replace(known=SignedBatches(0))
        note(documents=sum(map(len, catalogues)), records=len(records))
    with engine.stage("join") as note:
        matches = find_matches(engine, records, plan.options)
        engine.release(read)
        note(pairs=matches.n_pairs)
    return catalogues, matches, n_outside


def _find_in_buckets(engine: Engine, collections: Collections, plan: PairPlan) -> Found:
    from neardup.jobs.pairs.records import join_partitions, meet_in_buckets

    with engine.stage("read") as note:
        read = engine.read(collections, sign_block)
        catalogues, keys = read.catalogues, read.known.blocking_keys()
        n_outside = count_outside(catalogues, keys, plan.options.blocking_columns)
        found = meet_in_buckets(engine, read, find_pair_contents(engine, read), plan)
        note(documents=sum(map(len, catalogues)), candidates=len(found.partitions.documents))
    with engine.stage("join") as note:
        matches = matches_in_buckets(join_partitions(engine, found, plan), plan)
        engine.release(read)
        note(records=matches.n_records, pairs=matches.n_pairs)
    return catalogues, matches, n_outside


def _match_one_to_one(
    matches: Matches, catalogues: Sequence[Catalogue], plan: PairPlan, runner: Runner
) -> Matches:
    with runner.stage("match") as note:
        n_documents = sum(map(len, catalogues))
        runs = choose_one_to_one(matches.runs, n_documents, by_distance=plan.is_by_distance)
        n_pairs = sum(map(len, runs))
        note(pairs=n_pairs)
    return replace(matches, runs=runs, n_pairs=n_pairs)
