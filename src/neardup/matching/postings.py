"""Rank tokens of records, and index the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.join import postings
from neardup.kernels.join.postings import Postings, RecordGroups
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.join import BOTH, LEFT, SECOND, cut_runs
from neardup.tables import Bytes, Int32s, Int64s, ShingleSets, Uint64s

_FIRST_ROOM = 1 << 12
_MOST = 2**31 - 1
# Elements of sets that are numbered at a time.
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class RankedRecords:
    """Runs of token ranks in ascending order: record r's is ``tokens[starts[r] :][: sizes[r]]``."""

    tokens: Int32s
    starts: Int64s
    sizes: Int64s
    n_tokens: int

    def shorten(self, prefixes: Int64s, sizes: Int64s) -> Int64s:
        """Return the lengths in runs of prefixes of whole sets."""
        shortened: Int64s = np.maximum(prefixes - (sizes - self.sizes), 0)
        return shortened


@dataclass(frozen=True)
class PlacedRecords(RankedRecords):
    """The same, and where in its record each token stood."""

    places: Int32s


def group_records(
    n_records: int, sides: Bytes | None, *, is_directed: bool = False
) -> RecordGroups:
    """Group records by the sides of ``Join.run``; None for a self-join.

    In a directed join only records of the left collection look for partners.
    """
    zeros: Bytes = np.zeros(n_records, np.uint8)
    n_groups, of_records, first, last = 1, zeros, zeros, zeros + np.uint8(1)
    if sides is None:
        return sealed(RecordGroups(n_groups, of_records, first, last))
    if (sides & BOTH != BOTH).any():
        is_left, is_right = sides & np.uint8(LEFT), sides >> np.uint8(1) & np.uint8(1)
        n_groups, of_records = 3, 1 + is_right - is_left
        first, last = 1 - is_right, 2 + is_left
        if is_directed:
            first, last = np.ones_like(sides), 1 + 2 * is_left
    is_second = sides // np.uint8(SECOND)
    if (sides > BOTH).any():
        # Groups of the second part follow the groups of the first; each looks into the other part.
        of_records = of_records + n_groups * is_second
        first, last = (each + n_groups * (1 - is_second) for each in (first, last))
        n_groups *= 2
    return sealed(
        RecordGroups(n_groups, *(each.astype(np.uint8) for each in (of_records, first, last)))
    )


def rank_sets(sets: ShingleSets, order: Int64s) -> RankedRecords:
    """Sort the elements of sets by rarity.

    Elements that only one set has are left out: in the whole run they come first and match nothing.
    Ties between equally frequent elements go by first appearance. Time linear but for the sort of
    distinct elements. Memory while it works: 4 bytes per element, and up to 50 per distinct
    element. The result: 4 bytes per element that several sets have.
    """
    sizes = sets.sizes[order]
    numbers, frequencies = _number_parts(_parts(sets, order), int(sizes.sum()))
    lengths: Int64s = np.empty(len(sizes), np.int64)
    starts: Int64s = np.cumsum(sizes) - sizes
    n_left = postings.leave_out_unique(numbers, frequencies, starts, sizes, lengths)
    starts = np.cumsum(lengths) - lengths
    tokens, token_starts = _rank(numbers[:n_left], frequencies)
    del numbers
    owners: Int32s = np.empty(n_left, np.int32)
    postings.sort_runs(tokens, starts, lengths, token_starts, owners)
    return RankedRecords(tokens, starts, lengths, len(token_starts) - 1)


def _parts(sets: ShingleSets, order: Int64s) -> Iterator[Uint64s]:
    for start, stop in cut_runs(sets.sizes[order], _AT_ONCE):
        own = order[start:stop]
        sizes = sets.sizes[own]
        values = np.empty(int(sizes.sum()), np.uint64)
        shingles.copy_sets(sets.values, sets.starts[own], sizes, values, np.cumsum(sizes) - sizes)
        yield values


def rank_records(values: Uint64s, starts: Int64s, sizes: Int64s) -> PlacedRecords:
    """Sort the values of each record by rarity.

    All values stay, and a record may have a value several times. Record r's ``sizes[r]`` values
    start at ``starts[r]``, one record after another.
    """
    return rank_numbers(*number_values(values), starts, sizes)


def rank_numbers(
    numbers: Int32s, frequencies: Int64s, starts: Int64s, sizes: Int64s
) -> PlacedRecords:
    """Replace numbers by ranks, and sort them per record."""
    tokens, token_starts = _rank(numbers, frequencies)
    n_tokens = len(token_starts) - 1
    index = index_prefixes(tokens, starts, sizes, n_tokens)
    places: Int32s = np.empty(len(tokens), np.int32)
    fill: Int64s = np.zeros(len(starts), np.int64)
    postings.sort_records(index, starts, fill, tokens, places)
    return PlacedRecords(tokens, starts, sizes, n_tokens, places)


def _rank(numbers: Int32s, frequencies: Int64s) -> tuple[Int32s, Int64s]:
    """Replace numbers by ranks; also return the number of tokens before each rank."""
    occurring = np.flatnonzero(frequencies)
    # Frequency above, number below: one sort of whole numbers.
    packed = (frequencies[occurring] << 32) | occurring
    packed.sort()
    ranks: Int32s = np.empty(len(frequencies), np.int32)
    ranks[packed & 0xFFFFFFFF] = np.arange(len(packed), dtype=np.int32)
    starts: Int64s = np.zeros(len(packed) + 1, np.int64)
    np.cumsum(packed >> 32, out=starts[1:])
    return ranks[numbers], starts


def number_values(values: Uint64s) -> tuple[Int32s, Int64s]:
    """Return numbers of values in order of first appearance, and the count of each value."""
    return _number_parts([values], len(values))


def _number_parts(parts: Iterable[Uint64s], n: int) -> tuple[Int32s, Int64s]:
    numbers: Int32s = np.empty(n, np.int32)
    known: Uint64s = np.empty(_FIRST_ROOM, np.uint64)
    frequencies: Int64s = np.empty(_FIRST_ROOM, np.int64)
    slots: Int32s = np.full(2 * _FIRST_ROOM, -1, np.int32)
    first = n_known = 0
    for values in parts:
        own, done = numbers[first : first + len(values)], 0
        first += len(values)
        while True:
            reached = postings.number_values(values, done, slots, known, frequencies, n_known, own)
            done, n_known = int(reached[0]), int(reached[1])
            if done == len(values):
                break
            room = 2 * len(known)
            if room > _MOST:
                message = (
                    f"more than {len(known):,} different tokens; choose a smaller ngram, or cut "
                    "the collection into parts"
                )
                raise InvalidParameterError(message, "ngram")
            known, frequencies = np.resize(known, room), np.resize(frequencies, room)
            slots = np.full(2 * room, -1, np.int32)
            postings.rebuild_slots(slots, known, n_known)
    return numbers, frequencies[:n_known].copy()


def index_prefixes(tokens: Int32s, starts: Int64s, prefixes: Int64s, n_tokens: int) -> Postings:
    """Index each record under the first ``prefixes[r]`` tokens."""
    posting_starts: Int64s = np.zeros(n_tokens + 1, np.int64)
    postings.count_postings(tokens, starts, prefixes, posting_starts)
    records: Int32s = np.empty(int(posting_starts[-1]), np.int32)
    places: Int32s = np.empty(int(posting_starts[-1]), np.int32)
    postings.fill_postings(tokens, starts, prefixes, posting_starts.copy(), records, places)
    return sealed(Postings(posting_starts, records, places))


def index_groups(records: RankedRecords, prefixes: Int64s, groups: RecordGroups) -> Postings:
    """Index records under prefix tokens, by token and group.

    Memory 8 bytes per posting and key, and with groups 5 per token while it works.
    """
    n_keys = records.n_tokens * groups.n_groups
    if n_keys > _MOST:
        message = (
            f"more than {_MOST // groups.n_groups:,} different tokens in two collections; "
            "choose a smaller ngram, or cut them into parts"
        )
        raise InvalidParameterError(message, "ngram")
    keys = records.tokens
    if groups.n_groups > 1:
        keys = keys * np.int32(groups.n_groups)
        keys += np.repeat(groups.of_records, records.sizes)
    return index_prefixes(keys, records.starts, prefixes, n_keys)
