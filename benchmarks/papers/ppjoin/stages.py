"""Joins by Jaccard similarity, and where their time goes, by joins with one stage replaced.

``join_sets`` runs as it is, but for the kernel that probes: it is replaced by nothing, which
leaves the preparation; by itself with no room for results, which makes it stop before candidates
are verified; or by that and a verification without shortcuts. Differences are the stages.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from unittest.mock import patch

import numba
import numpy as np

from benchmarks.papers.ppjoin.data import collections, statistics
from benchmarks.papers.ppjoin.joins import ALGORITHMS, THRESHOLDS, measure_joins, time_each
from neardup.kernels.join import set_join as kernels
from neardup.kernels.join.overlap import Matches, required_overlap
from neardup.kernels.join.postings import count_common
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.types import sealed
from neardup.matching import set_join as matching
from neardup.matching.measures import make_measure
from neardup.matching.set_join import JoinCounts, join_sets
from neardup.runs.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from neardup.kernels.join.overlap import Threshold
    from neardup.matching.postings import RankedRecords
    from neardup.options.choices import Algorithm
    from neardup.tables import Int32s, Int64s, ShingleSets

LOWEST = "0.80"
# Whole merges take long: those of this share of the records are enough to time one.
MERGED_EVERY = 8
LONG_INDEX_THRESHOLDS = ("0.95", "0.90", "0.80")
ORIGINAL_PREFIXES, ORIGINAL_PROBE = kernels.prefix_lengths, kernels.probe_records
# The kernel's parameters after ``start`` and ``stop``.
PARAMETERS = list(inspect.signature(ORIGINAL_PROBE).parameters)[2:]
NOTHING: Int32s = np.empty(0, np.int32)
NO_MATCHES = Matches(NOTHING, NOTHING, NOTHING)

F = TypeVar("F", bound="Callable[..., Any]")
compiled: Callable[[F], F] = numba.njit(nogil=True)


@compiled
def _generate(start: int, stop: int, rest: tuple[Any, ...]) -> None:
    """Probe record by record: with no room for results each ends before verification."""
    for x in range(start, stop):
        ORIGINAL_PROBE(x, x + 1, *rest)


@compiled
def _call(start: int, stop: int, rest: tuple[Any, ...]) -> None:
    """Call as often as ``_generate``, for nothing."""
    for x in range(start, stop):
        ORIGINAL_PROBE(x, x, *rest)


@compiled
def _generate_and_merge(
    start: int,
    stop: int,
    rest: tuple[Any, ...],
    every: int,
    threshold: Threshold,
    records: kernels.Records,
    touched: Int32s,
    counts: Int64s,
) -> None:
    """Verify candidates of All-Pairs by a merge of both records from beginning to end.

    The loop is that of the joins; with nothing required it does not stop early. Those of each
    ``every``-th record are verified.
    """
    measure, p, q = threshold
    tokens, starts, sizes, lengths = records[:4]
    touched[:] = -1
    for x in range(start, stop):
        ORIGINAL_PROBE(x, x + 1, *rest)
        m = 0
        while m < len(touched) and touched[m] >= 0:
            y = touched[m]
            touched[m] = -1
            m += 1
            if x % every != 0:
                continue
            x_stop, y_stop = starts[x] + lengths[x], starts[y] + lengths[y]
            overlap = count_common(tokens, starts[x], x_stop, starts[y], y_stop, 0)
            counts[kernels.VERIFIED] += 1
            # ``join_sets`` overwrites RESULTS, and All-Pairs has no use for this count.
            reached = overlap >= required_overlap(measure, sizes[x], sizes[y], p, q)
            counts[kernels.AFTER_SUFFIX] += np.int64(reached)


def prepare_only(start: int, stop: int, *_: object) -> tuple[int, int]:
    """Take the place of the kernel and do nothing."""
    return stop, 0


def call_only(start: int, stop: int, *rest: Any) -> tuple[int, int]:
    """Take the place of the kernel and do what ``generate_only`` costs beside its work."""
    _call(start, stop, _without_room(rest))
    return stop, 0


def generate_only(start: int, stop: int, *rest: Any) -> tuple[int, int]:
    """Take the place of the kernel and generate candidates."""
    _generate(start, stop, _without_room(rest))
    return stop, 0


def merge_whole(every: int, start: int, stop: int, *rest: Any) -> tuple[int, int]:
    """Take the place of the kernel, for All-Pairs, and verify without shortcuts."""
    given = dict(zip(PARAMETERS, rest, strict=True))
    values = (given[name] for name in ("threshold", "records", "touched", "counts"))
    _generate_and_merge(start, stop, _without_room(rest), every, *values)
    return stop, 0


def long_prefixes(*arguments: Any) -> None:
    """Give prefixes of which the whole probing prefix is indexed, as in Algorithm 1."""
    ORIGINAL_PREFIXES(*arguments)
    probing, indexing = arguments[-2:]
    indexing[:] = probing


def _without_room(rest: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        NO_MATCHES if name == "matches" else value
        for name, value in zip(PARAMETERS, rest, strict=True)
    )


def join_with(
    sets: ShingleSets, threshold: str, algorithm: Algorithm, **replaced: Any
) -> JoinCounts:
    """Join by Jaccard similarity with some kernels replaced."""
    with patch.multiple(kernels, **replaced):
        measure = make_measure("jaccard", threshold)
        return join_sets(sets, measure, algorithm=algorithm, runner=Runner(1))[1]


def join_without_parities(sets: ShingleSets) -> JoinCounts:
    """Join by PPJoin+ as the paper has it: halving whatever passes by position."""

    def only_sizes(ranked: RankedRecords, sizes: Int64s, *_: object, **__: object) -> ParityRows:
        firsts = np.zeros(2 * len(sizes), np.uint64)
        firsts[::2] = sizes << 32 | ranked.sizes
        nothing = np.empty(0, np.uint64)
        return sealed(ParityRows(firsts, nothing, 0, nothing))

    with patch.object(matching, "_make_parities", only_sizes):
        return join_with(sets, LOWEST, "ppjoin+", probe_records=ORIGINAL_PROBE)


def run_jaccard(*, quick: bool) -> dict[str, Any]:
    """Join every collection by Jaccard similarity (Table 1, Figures 3a to 3f).

    Returns
    -------
    For each collection what it is, ``joins`` by threshold, ``stages`` at the lowest, where the
    paper's algorithms differ most, and the candidates of All-Pairs with a ``long_index``.
    """
    figures = {}
    for collection in collections():
        sys.stderr.write(f"  {collection.name}\n")
        sets = collection.sets(quick=quick)
        higher = (threshold for threshold in THRESHOLDS if threshold != LOWEST)
        joins = {each: measure_joins(sets, "jaccard", each, quick=quick) for each in higher}
        joins[LOWEST], stages = _time_stages(sets, quick=quick)
        long_index = {
            threshold: join_with(sets, threshold, "allpairs", prefix_lengths=long_prefixes).verified
            for threshold in LONG_INDEX_THRESHOLDS
        }
        figures[collection.name] = {
            "role": collection.role,
            "statistics": statistics(sets),
            "joins": joins,
            "stages": stages,
            "long_index": long_index,
        }
    return figures


def _time_stages(
    sets: ShingleSets, *, quick: bool
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Time joins at the lowest threshold and, in turn with them, their stages.

    Returns
    -------
    The joins, as ``measure_joins`` gives them, and ``seconds`` of every run of every part with the
    number of candidates that were ``merged`` whole.
    """

    def part(algorithm: Algorithm, probe: Callable[..., object]) -> Callable[[], JoinCounts]:
        return lambda: join_with(sets, LOWEST, algorithm, probe_records=probe)

    counts = {name: part(name, ORIGINAL_PROBE)() for name in ALGORITHMS}
    for each in (generate_only, call_only):
        part("allpairs", each)()  # to compile it
    ways = {"prepare": part("allpairs", prepare_only), "call": part("allpairs", call_only)}
    ways |= {f"generate {name}": part(name, generate_only) for name in ALGORITHMS}
    ways |= {f"join {name}": part(name, ORIGINAL_PROBE) for name in ALGORITHMS}
    alone: list[JoinCounts] = []
    ways["suffix filter alone"] = lambda: alone.append(join_without_parities(sets))
    seconds = time_each(ways, quick=quick)

    every = 1 if quick else MERGED_EVERY
    merge = partial(join_with, sets, LOWEST, "allpairs", probe_records=partial(merge_whole, every))
    merged = merge()  # compiles it, too
    expected = counts["allpairs"].verified, counts["allpairs"].results
    if quick and (merged.verified, merged.after_suffix) != expected:
        message = f"whole merges disagree: {merged}, {counts['allpairs']}"
        raise AssertionError(message)
    index = partial(join_with, sets, LOWEST, "allpairs", prefix_lengths=long_prefixes)
    seconds |= time_each({"merge whole": merge, "long index": index}, quick=True)
    joins: dict[str, dict[str, Any]] = {
        name: {"counts": asdict(found), "seconds": seconds.pop(f"join {name}")}
        for name, found in counts.items()
    }
    stages = {"seconds": seconds, "merged": merged.verified, "alone": alone[0].verified}
    return joins, stages


@dataclass(frozen=True)
class Breakdown:
    """Seconds of the stages of one collection's joins, best runs, and how much each handled.

    ``verify`` and ``candidates`` by algorithm. ``parities`` is what PPJoin+ takes more than
    walking the postings: parities, made and compared, position and suffix. ``whole`` is All-Pairs'
    verification by whole merges, as far as it was done and then taken in proportion;
    ``long_index`` all of All-Pairs with the long index, but for the preparation, and
    ``suffix_alone`` all of PPJoin+ without parities, which leaves ``after_suffix_alone``.
    """

    prepare: float
    walk: float
    position: float
    parities: float
    verify: dict[str, float]
    whole: float
    long_index: float
    suffix_alone: float
    postings: int
    after_suffix_alone: int
    candidates: dict[str, int]

    def generate(self, algorithm: str) -> float:
        """Seconds from the index to the candidates."""
        filters = {"allpairs": 0.0, "ppjoin": self.position, "ppjoin+": self.parities}
        return self.walk + filters[algorithm]

    def whole_verify(self, algorithm: str) -> float:
        """Seconds that verification would take if every candidate cost as much as All-Pairs'."""
        return self.whole * self.candidates[algorithm] / max(1, self.candidates["allpairs"])


def breakdown(figures: dict[str, Any]) -> Breakdown:
    """Work out the stages of one collection from the times of the parts."""
    best = {name: min(seconds) for name, seconds in figures["stages"]["seconds"].items()}
    joins = figures["joins"][LOWEST]
    # The joins themselves make one call for many records.
    calls = best["call"] - best["prepare"]
    generate = {name: best[f"generate {name}"] - calls for name in ALGORITHMS}
    all_pairs, ppjoin, plus = generate.values()
    counts = joins["ppjoin+"]["counts"]
    all_candidates = joins["allpairs"]["counts"]["verified"]
    merged = max(1, figures["stages"]["merged"])
    return Breakdown(
        prepare=best["prepare"],
        walk=all_pairs - best["prepare"],
        position=ppjoin - all_pairs,
        parities=plus - all_pairs,
        verify={name: min(joins[name]["seconds"]) - generate[name] for name in ALGORITHMS},
        whole=(best["merge whole"] - best["generate allpairs"]) * all_candidates / merged,
        long_index=best["long index"] - best["prepare"],
        suffix_alone=best["suffix filter alone"] - best["prepare"],
        postings=counts["after_size"],
        after_suffix_alone=figures["stages"]["alone"],
        candidates={name: joins[name]["counts"]["verified"] for name in ALGORITHMS},
    )
