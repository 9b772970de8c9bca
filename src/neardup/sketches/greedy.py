"""Cluster similar documents greedily from their sketches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from neardup.errors import InvalidParameterError, option_name
from neardup.kernels.sketch import greedy
from neardup.kernels.sketch.samples import SampleRows
from neardup.kernels.types import sealed
from neardup.options.choices import Representative
from neardup.options.kinds import exact_fraction
from neardup.sketches.samples import SampleScheme
from neardup.tables import GreedyClusters, SetSketches, Uint32s

_Read = Callable[[int], Iterable[SetSketches]]


def cluster_greedily(
    sketches: SetSketches | _Read,
    scheme: SampleScheme,
    threshold: str | float | Decimal | Fraction,
    *,
    representative: Representative = "first",
    min_samples: int = 20,
    room_bytes: int | None = None,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> GreedyClusters:
    """Assign documents to the most similar or a new cluster.

    ``sketches`` may also be a function that yields them in parts from a part number on, called for
    each pass. A document joins a cluster if its resemblance with the representative, as estimated
    from the sketches, reaches the threshold; of several clusters the one with the largest estimate,
    the earliest on a tie. Estimates are compared as fractions, without rounding. Estimates from
    fewer than ``min_samples`` samples join nothing, unless both sets are known completely. Clusters
    are numbered in the order of their first members, always their ``representatives``. A document
    that joins no cluster is alone, and so is an empty one.

    The representative of a cluster is the ``first`` member's sketch, or a sketch of as many
    ``popular`` values, the most frequent ones in the members' sketches, the smaller of two on a
    tie. It changes with each member. It has the modulus of the first member's sketch, so that only
    its multiples are counted, and represents a whole set if the first sketch does.

    The order decides: it makes representatives, and a document similar to two others may join
    either. Members resemble the representative, as far as estimates go, and each other by the
    triangle inequality of 1 - r at least 2 t - 1; no pair is verified. Time O(values) for sorting
    them, and for each document the comparisons with clusters that share one of its rarer values: of
    n values the n (1 - t) + 1 rarest are looked up, so that boilerplate costs nothing. Values are
    counted in a table of fixed size, because rarity is needed only roughly.

    ``room_bytes`` limits the clusters and the counts of values, except for clusters of ``popular``
    values, all in memory. A pass holds as many clusters as fit. The first cluster that does not fit
    begins another pass, from its first member on, in which later documents keep the best cluster of
    earlier passes. So each document is compared with all earlier clusters before it joins one: 16
    bytes per document, and one pass per memory load of clusters. ``report`` gets the numbers of
    sketches processed and to process, which grows with each further pass.

    ``popular`` values are not a sample of any document's set. They estimate a resemblance with the
    core of a cluster, with unknown error. Members need not resemble each other, because the core
    may drift away from the first members. Clusters are found by all values of all members:
    O(values) more time, and 40 to 60 bytes per distinct value of a cluster.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 4.
    """
    least = exact_fraction("threshold", threshold)
    read = (lambda _: [sketches]) if isinstance(sketches, SetSketches) else sketches
    is_popular = representative == "popular"
    # The table of rare values gets a quarter of the room, clusters the rest.
    census = _take_census(read(0), None if room_bytes is None else room_bytes // 4)
    if room_bytes is not None:
        room_bytes -= census.frequencies.nbytes
    if is_popular and census.n_values > _MOST_ENTRIES:
        message = (
            f"clusters by popular hashes take sketches of at most {_MOST_ENTRIES:,} values "
            f"together, got {census.n_values:,}; choose first, or sketch with a smaller "
            f"{option_name('size')}"
        )
        raise InvalidParameterError(message)
    room = (
        _Room(census.n_sketches, census.n_values, census.n_values)
        if is_popular
        else _Room.of(census, least, room_bytes)
    )
    held = _make_held(room)
    scratch = greedy.ClusterScratch(
        np.empty(census.n_levels, np.int64), *np.empty((4, census.largest), np.int64)
    )
    # Nothing is counted for first members.
    tallies = _make_tallies(room if is_popular else _Room(0, 0, 0), census.largest)
    n = census.n_sketches
    joined = greedy.Joined(np.full(n, -1, np.int64), np.zeros(n, np.int32), np.ones(n, np.int32))
    rule = greedy.Rule(least.numerator, least.denominator, scheme.sample_limit, min_samples)
    begin = n_done = 0
    n_all = n
    while begin < n:
        n_all = max(n_all, n_done + n - begin)
        first_without_room = n
        number = bisect_right(census.bounds, begin) - 1
        stop = census.bounds[number]
        for block in _blocks_of(read(number)):
            start, stop = stop, stop + len(block.sizes)
            n_assigned = greedy.cluster_greedily(
                block,
                min(max(begin - start, 0), stop - start),
                start,
                census.frequencies,
                rule,
                int(is_popular),
                int(first_without_room == n),
                held,
                scratch,
                tallies,
                greedy.Joined(
                    joined.clusters[start:stop],
                    joined.commons[start:stop],
                    joined.unions[start:stop],
                ),
            )
            # It would stay in memory with the next part.
            del block
            if n_assigned < stop - start:
                first_without_room = start + int(n_assigned)
                n_all = n_done + _sketches_to_pass(n, begin, first_without_room)
            n_done_here = n_done + max(stop - begin, 0)
            is_end = stop == n and first_without_room == n
            report(n_done_here, n_done_here if is_end else n_all)
        n_done += n - begin
        begin = first_without_room
        held = _emptied(held)
    # Clusters are numbered as their first members come.
    is_first = np.diff(np.maximum.accumulate(joined.clusters), prepend=-1) > 0
    return GreedyClusters(joined.clusters, np.flatnonzero(is_first))


# Sketches that are gone through at a time.
_BLOCK = 1 << 16


def _blocks_of(parts: Iterable[SetSketches]) -> Iterator[SampleRows]:
    for part in parts:
        samples = _samples_of(part)
        del part
        for start in range(0, len(samples.sizes), _BLOCK):
            stop = start + _BLOCK
            offsets = samples.offsets[start : stop + 1]
            columns = (column[start:stop] for column in (samples.sizes, samples.moduli))
            yield sealed(SampleRows(samples.values, offsets, *columns))
        del samples


def _sketches_to_pass(n: int, begin: int, first_without_room: int) -> int:
    """Estimate the sketches in this and later passes."""
    step = first_without_room - begin
    n_passes = -(-(n - begin) // step)
    return n_passes * (n - begin) - step * n_passes * (n_passes - 1) // 2


def _samples_of(sketches: SetSketches) -> SampleRows:
    return sealed(SampleRows(sketches.values, sketches.offsets, sketches.sizes, sketches.moduli))


@dataclass(frozen=True)
class _Census:
    """Summary of all sketches.

    Part k has the sketches ``bounds[k] : bounds[k + 1]``. ``largest`` is the most values of a
    sketch; ``n_levels`` counts the powers of two up to the largest modulus, 1 if all are equal.
    """

    bounds: list[int]
    n_values: int
    largest: int
    n_levels: int
    frequencies: Uint32s

    @property
    def n_sketches(self) -> int:
        return self.bounds[-1]


def _take_census(parts: Iterable[SetSketches], most_bytes: int | None) -> _Census:
    bounds, n_values, largest = [0], 0, 0
    moduli: set[int] = set()
    # With one count a value few are counted together.
    n_slots = None if most_bytes is None else 1 << max((most_bytes // 4).bit_length() - 1, 0)
    frequencies = np.zeros(n_slots or 1, np.uint32)
    for sketches in parts:
        if n_slots is None:
            n_slots = 1 << len(sketches.values).bit_length()
            frequencies = np.zeros(n_slots, np.uint32)
        greedy.count_values(sketches.values, frequencies)
        bounds.append(bounds[-1] + len(sketches))
        n_values += len(sketches.values)
        largest = max(largest, int(np.diff(sketches.offsets).max(initial=0)))
        moduli.update(np.unique(sketches.moduli).tolist())
        # It would stay in memory with the next part.
        del sketches
    return _Census(bounds, n_values, largest, _n_levels(moduli), frequencies)


def _n_levels(moduli: set[int]) -> int:
    return max(moduli).bit_length() if len(moduli) > 1 else 1


# Entries are numbered with 31 bits.
_MOST_ENTRIES = 2**31 - 1
# Bytes per cluster, per value of its representative, and per entry of the value table.
_ROW_BYTES, _VALUE_BYTES, _ENTRY_BYTES = 32, 8, 24


@dataclass(frozen=True)
class _Room:
    """Limits of the numbers of clusters, values and entries."""

    rows: int
    values: int
    entries: int

    @classmethod
    def of(cls, census: _Census, least: Fraction, most_bytes: int | None) -> _Room:
        """Return the limits for all sketches, or for ``most_bytes``."""
        n, n_values = census.n_sketches, census.n_values
        # Of sketches of one modulus a share leads to clusters, and one value more of each.
        n_entries = n_values
        if census.n_levels == 1:
            n_entries = min(n_values, int(n_values * (1 - least)) + n)
        n_entries = min(n_entries, _MOST_ENTRIES)
        if most_bytes is None:
            return cls(n, n_values, n_entries)
        n_bytes = n * _ROW_BYTES + n_values * _VALUE_BYTES + n_entries * _ENTRY_BYTES
        share = min(Fraction(1), Fraction(most_bytes, max(n_bytes, 1)))
        # One has room in any case.
        least_room = census.largest
        return cls(
            max(int(n * share), 1),
            max(int(n_values * share), least_room),
            max(int(n_entries * share), least_room),
        )


def _make_held(room: _Room) -> greedy.Held:
    return greedy.Held(
        first=0,
        used=np.zeros(2, np.int64),
        starts=np.zeros(room.rows + 1, np.int64),
        sizes=np.empty(room.rows, np.int64),
        moduli=np.empty(room.rows, np.int64),
        last_met=np.full(room.rows, -1, np.int64),
        samples=np.empty(room.values, np.uint64),
        heads=np.full(1 << max(room.entries.bit_length() - 1, 0), -1, np.int32),
        links=np.empty(room.entries, np.int32),
        owners=np.empty(room.entries, np.int32),
        values=np.empty(room.entries, np.uint64),
    )


def _emptied(held: greedy.Held) -> greedy.Held:
    """Reuse the arrays of earlier clusters for later clusters."""
    n_rows = int(held.used[0])
    held.used[:] = 0
    held.last_met[:n_rows] = -1
    held.heads[:] = -1
    return held._replace(first=held.first + n_rows)


def _make_tallies(room: _Room, largest: int) -> greedy.Tallies:
    return greedy.Tallies(
        slots=np.full(2 << room.entries.bit_length(), -1, np.int32),
        counts=np.empty(room.entries, np.int64),
        popular=np.empty(room.values, np.int64),
        merged=np.empty(2 * largest, np.int64),
        floors=np.empty(room.rows, np.int64),
    )
