"""Records as runs of token ranks, the rarest token first, and their inverted index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels import postings, shingles
from neardup.tables import Int32s, Int64s, ShingleSets, Uint64s

_FIRST_ROOM = 1 << 12
_MOST = 2**31 - 1


@dataclass(frozen=True)
class RankedRecords:
    """Runs of token ranks in ascending order: record r's is ``tokens[starts[r] :][: sizes[r]]``.

    ``places`` tells where in its record each token stood.
    """

    tokens: Int32s
    places: Int32s
    starts: Int64s
    sizes: Int64s
    n_tokens: int


@dataclass(frozen=True)
class Postings:
    """Inverted index: token t is in ``records[starts[t] : starts[t + 1]]``, ascending.

    ``places`` tells where in the record's run it stands.
    """

    starts: Int64s
    records: Int32s
    places: Int32s


def rank_sets(sets: ShingleSets, order: Int64s) -> RankedRecords:
    """Give the sets in the order named, as runs of token ranks."""
    sizes = sets.sizes[order]
    ends = np.cumsum(sizes)
    starts: Int64s = ends - sizes
    values = np.empty(int(sizes.sum()), np.uint64)
    shingles.copy_sets(sets.values, sets.starts[order], sizes, values, starts)
    return rank_records(values, starts, sizes)


def rank_records(values: Uint64s, starts: Int64s, sizes: Int64s) -> RankedRecords:
    """Sort every record's values from the rarest to the most frequent of all.

    Parameters
    ----------
    values
        Of record r at ``starts[r]``, ``sizes[r]`` of them, one record after another.
    starts, sizes
        Shape (n_records,).

    Notes
    -----
    Ties between equally frequent values go by first appearance. Time linear but for the sort of
    distinct values; memory 20 bytes a value while it works, 8 in the result, and up to 48 bytes a
    distinct value.
    """
    tokens, frequencies = number_values(values)
    # Frequency above, number below: one sort of whole numbers.
    packed = (frequencies << 32) | np.arange(len(frequencies), dtype=np.int64)
    packed.sort()
    ranks: Int32s = np.empty(len(frequencies), np.int32)
    ranks[packed & 0xFFFFFFFF] = np.arange(len(frequencies), dtype=np.int32)
    tokens = ranks[tokens]
    index = index_prefixes(tokens, starts, sizes, len(frequencies))
    places: Int32s = np.empty(len(tokens), np.int32)
    fill: Int64s = np.zeros(len(starts), np.int64)
    postings.sort_records(index.starts, index.records, index.places, starts, fill, tokens, places)
    return RankedRecords(tokens, places, starts, sizes, len(frequencies))


def number_values(values: Uint64s) -> tuple[Int32s, Int64s]:
    """Give values numbers in order of first appearance, and tell how often each came.

    Raises
    ------
    InvalidParameterError
        For more than 2^30 different values.
    """
    numbers: Int32s = np.empty(len(values), np.int32)
    known: Uint64s = np.empty(_FIRST_ROOM, np.uint64)
    frequencies: Int64s = np.empty(_FIRST_ROOM, np.int64)
    slots: Int32s = np.full(2 * _FIRST_ROOM, -1, np.int32)
    done, n_known = 0, 0
    while True:
        reached = postings.number_values(values, done, slots, known, frequencies, n_known, numbers)
        done, n_known = int(reached[0]), int(reached[1])
        if done == len(values):
            return numbers, frequencies[:n_known].copy()
        room = 2 * len(known)
        if room > _MOST:
            message = f"more than {len(known):,} different tokens; cut the collection into parts"
            raise InvalidParameterError(message)
        known, frequencies = np.resize(known, room), np.resize(frequencies, room)
        slots = np.full(2 * room, -1, np.int32)
        postings.rebuild_slots(slots, known, n_known)


def index_prefixes(tokens: Int32s, starts: Int64s, prefixes: Int64s, n_tokens: int) -> Postings:
    """Index each record under the first ``prefixes[r]`` tokens of its run; 8 bytes a posting."""
    posting_starts: Int64s = np.zeros(n_tokens + 1, np.int64)
    postings.count_postings(tokens, starts, prefixes, posting_starts)
    records: Int32s = np.empty(int(posting_starts[-1]), np.int32)
    places: Int32s = np.empty(int(posting_starts[-1]), np.int32)
    postings.fill_postings(tokens, starts, prefixes, posting_starts.copy(), records, places)
    return Postings(posting_starts, records, places)
