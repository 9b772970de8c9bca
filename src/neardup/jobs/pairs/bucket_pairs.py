"""Find pairs by MinHash bands, and join each bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from neardup.engine.engine import DocumentPartition, Engine, Exchanged, Partitions, Read
from neardup.jobs.pairs.exact import PairContents, digest_compared
from neardup.jobs.pairs.pair_plan import PairPlan
from neardup.jobs.pairs.pair_rows import FoundPart, PairMatches, Speller, collect_runs, sides_of
from neardup.matching.buckets import BucketJoinCounts, bucket_documents, join_buckets
from neardup.matching.join import salt_sets
from neardup.matching.set_join import SetSizes
from neardup.reading.passes import ContentTable
from neardup.stages.decide import (
    bytes_of,
    candidates_in,
    exchange_candidates,
    find_components,
    pack_components,
)
from neardup.tables import (
    AnyArray,
    Buckets,
    Digests,
    Int64s,
    ScoredPairs,
    ShingleSets,
    Uint64s,
    WeightedSets,
    cut_runs,
)

# Second half of the digest placeholder of an empty set.
_NO_DIGEST = np.uint64(2**64 - 1)


class Bucketed(NamedTuple):
    """Partitioned contents that share a bucket or have several documents."""

    contents: PairContents
    partitions: Partitions
    exchanged: Exchanged
    blocking_keys: Uint64s | None


def partition_contents(
    engine: Engine, read: Read, contents: PairContents, plan: PairPlan
) -> Bucketed:
    """Send contents that may be in a pair to partitions."""
    assert plan.banding is not None
    n_bands = plan.banding.bands

    def find_partitions() -> Partitions:
        roots = find_components(read, contents, n_bands)
        return pack_components(
            roots,
            contents,
            plan.reading,
            engine.limits.partition_bytes,
            engine.limits.least_partitions,
            are_always_placed=contents.are_shared,
        )

    partitions = Partitions.load_or_find(engine.workspace, find_partitions)
    exchanged = exchange_candidates(read, partitions, n_bands)
    exchanged = exchanged.with_sets(np.ones(len(partitions.documents), np.bool_))
    return Bucketed(contents, partitions, exchanged, read.signed.blocking_keys())


class _BucketPart(NamedTuple):
    """Contents of a partition, from position ``start``, and their documents.

    ``documents`` ascend; ``places`` are the positions of their contents. The first ``n_left`` are
    in the left collection; None for a self-join.
    """

    start: int
    n_tokens: Int64s
    blocking_keys: Uint64s | None
    documents: Int64s
    places: Int64s
    n_left: int | None


def join_partitions(engine: Engine, found: Bucketed, plan: PairPlan) -> PairMatches:
    """Join the records of each partition, and collect all pairs."""
    partitions, measure = found.partitions, plan.of_sets
    assert measure is not None
    part_of = _parts_of(found)

    def spelled(first: int) -> Iterator[FoundPart]:
        joining = partial(_join_partition, plan, engine.limits.partition_bytes)
        made = found.exchanged.work("join", joining, part_of)
        for number, joined in enumerate(islice(made, first, None), first):
            part, records = part_of(number), SetSizes(joined["sizes"], measure)
            pairs = ScoredPairs(*(joined[name] for name in ("left", "right", "scores")))
            of_documents = joined["of_contents"][part.places]
            speller = Speller.of(records, of_documents, part.n_left, part.documents)
            counts = [len(records.sizes), int(joined["counts"][0]), len(pairs)]
            yield FoundPart(pairs, speller, counts)

    shares = (partitions.bounds[1:] / partitions.bounds[-1]).tolist()
    runs, n_pairs, found_in = collect_runs(spelled, shares, plan.options.limit, engine.workspace)
    totals = np.array(found_in, np.int64).reshape(-1, 3).sum(axis=0)
    n_records, n_verified, n_joined = totals.tolist()
    score_name = None if measure.is_weighted else SetSizes.score_name
    counts = BucketJoinCounts(n_verified, n_joined)
    return PairMatches(runs, n_pairs, n_records, score_name, counts)


def _parts_of(found: Bucketed) -> Callable[[int], _BucketPart]:
    """Return a function that collects the facts of a partition."""
    contents, partitions, keys = found.contents, found.partitions, found.blocking_keys
    n_tokens = contents.n_tokens_of(partitions.documents)
    places = contents.places_of(partitions.documents)[contents.firsts]
    # Documents without tokens have no content.
    documents = np.flatnonzero((contents.firsts >= 0) & (places >= 0))
    places = places[documents]
    bounds = np.array([0, len(documents)])
    if len(partitions) > 1:
        own = partitions.of_places(places)
        order = np.argsort(own, kind="stable")
        documents, places = documents[order], places[order]
        bounds = np.searchsorted(own[order], np.arange(len(partitions) + 1))

    def part_of(number: int) -> _BucketPart:
        within = partitions.places(number)
        own_keys = None if keys is None else keys[partitions.documents[within]]
        here = slice(int(bounds[number]), int(bounds[number + 1]))
        own, n_left = documents[here], contents.n_left
        if n_left is not None:
            n_left = int(np.searchsorted(own, n_left))
        own_places = places[here] - within.start
        return _BucketPart(within.start, n_tokens[within], own_keys, own, own_places, n_left)

    return part_of


def _join_partition(
    plan: PairPlan, room: int | None, partition: DocumentPartition
) -> dict[str, AnyArray]:
    """Join the contents of a partition that share a bucket.

    Equal sets are one record. If not all sets fit in ``room`` bytes, each block of records is
    joined with itself and with each before it. Returns the record of each content, the records'
    sizes, or total weights, pairs of records, and the number of compared ones.
    """
    banding, measure = plan.banding, plan.of_sets
    assert banding is not None
    assert measure is not None
    part: _BucketPart = partition.facts
    costs, runner = bytes_of(part.n_tokens, plan.reading), partition.runner
    if partition.has_sets or (room is not None and int(costs.sum()) <= room):
        room = None

    def read_sets(places: Int64s) -> ShingleSets | WeightedSets:
        sets = partition.read_sets(part.start + places, part.n_tokens[places])
        # Sets in memory are read once.
        return sets if part.blocking_keys is None else salt_sets(sets, part.blocking_keys[places])

    def blocks_of(costs: Int64s) -> list[Int64s]:
        """Cut numbers into blocks, any two of which fit."""
        runs = [(0, len(costs))] if room is None else cut_runs(costs, room // 2)
        return [np.arange(start, stop) for start, stop in runs]

    digests, sizes = [], []
    for block in blocks_of(costs):
        sets = read_sets(block)
        digests.append(digest_compared(sets))
        sizes.append(sets.totals)
    own_sizes = np.concatenate(sizes)
    firsts, of_contents = _find_equal(np.concatenate(digests), own_sizes)
    keys, _ = candidates_in(partition, banding.bands)
    buckets = bucket_documents(lambda band: keys[firsts, band], keys.shape[1], len(firsts), runner)
    sides = sides_of(of_contents[part.places], part.n_left, len(firsts))

    def join(records: Int64s) -> tuple[ScoredPairs, int]:
        if room is None:
            # The only block has all sets.
            own_buckets, own_sets = buckets, sets.take(firsts)
        else:
            own_buckets = Buckets(buckets.numbers.take(records, axis=1), buckets.sizes)
            own_sets = read_sets(firsts[records])
        own_sides, limit = None if sides is None else sides[records], plan.options.limit
        pairs, counts = join_buckets(
            own_buckets, own_sets, measure, sides=own_sides, limit=limit, runner=runner
        )
        left, right = records[pairs.left], records[pairs.right]
        return ScoredPairs(left, right, pairs.scores), counts.verified

    parts, within, n_verified = list[ScoredPairs](), list[int](), 0
    blocks = blocks_of(costs[firsts])
    for number, own in enumerate(blocks):
        pairs, n_own = join(own)
        parts.append(pairs)
        n_verified += n_own
        for earlier, n_earlier in zip(blocks[:number], within, strict=True):
            pairs, n_both = join(np.concatenate([earlier, own]))
            # Pairs within either block were found before, which is the smaller part.
            parts.append(pairs.take((pairs.left < own[0]) != (pairs.right < own[0])))
            n_verified += n_both - n_own - n_earlier
        within.append(n_own)
    joined = ScoredPairs.joined(parts)
    if len(blocks) > 1:
        joined = joined.take(joined.ascending())
    counts = np.array([n_verified])
    return {
        "of_contents": of_contents,
        "sizes": own_sizes[firsts],
        **vars(joined),
        "counts": counts,
    }


def _find_equal(digests: Uint64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and number all."""
    empty = np.flatnonzero(sizes == 0)
    digests[empty, 0], digests[empty, 1] = empty, _NO_DIGEST
    table = ContentTable()
    numbered = table.number(Digests(digests, np.ones(len(digests), np.bool_)))
    return np.flatnonzero(numbered.is_first), numbered.numbers
