"""Define joins that find all similar pairs of records.

A record is a set of shingles or a string of tokens, processed once if several documents have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from neardup.errors import InvalidParameterError, ResultLimitError
from neardup.kernels.arrays import Int, sealed
from neardup.kernels.join import postings
from neardup.kernels.join.postings import ALL_PAIRS, PPJOIN, PPJOIN_PLUS, Postings, RecordGroups
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import (
    Bytes,
    Floats,
    Int32s,
    Int64s,
    ScoredPairs,
    ShingleSets,
    TokenLists,
    Uint64s,
    WeightedSets,
    cut_runs,
)
from neardup.text.shingles import take_ranges

Sets = ShingleSets | WeightedSets
SetsT = TypeVar("SetsT", bound=Sets)
Compared = Sets | TokenLists

# Elements of sets that are salted at a time, 40 bytes each.
_AT_ONCE = 1 << 20


def salt(values: Uint64s, keys: Uint64s) -> Uint64s:
    """Add keys to hashes, so that different keys share no element.

    Sums wrap around at 2^64, so that sorted values of one key become sorted but for a rotation.
    """
    with np.errstate(over="ignore"):
        salted: Uint64s = values + keys
    return salted


def salt_tokens(lists: TokenLists, keys: Uint64s) -> TokenLists:
    """Salt the tokens of each document with its key."""
    return TokenLists(salt(lists.values, np.repeat(keys, np.diff(lists.offsets))), lists.offsets)


def salt_sets(sets: SetsT, keys: Uint64s) -> SetsT:
    """Salt the elements of each set with its key in place, and keep sets sorted."""
    for start, stop in cut_runs(sets.sizes, _AT_ONCE):
        sizes, starts = sets.sizes[start:stop], sets.starts[start:stop]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        before = np.cumsum(sizes) - sizes
        within = np.arange(len(owners)) - before[owners]
        places = starts[owners] + within
        values = sets.values[places]
        salted = salt(values, keys[start:stop][owners])
        # The last elements of a set wrap around, and become its first ones.
        has_wrapped = salted < values
        n_wrapped = np.bincount(owners, has_wrapped, len(sizes)).astype(np.int64)
        rotated = starts[owners] + (within + n_wrapped[owners]) % sizes[owners]
        sets.values[rotated] = salted
        if isinstance(sets, WeightedSets):
            sets.weights[rotated] = sets.weights[places]
    return sets


ALGORITHMS: dict[Algorithm, int] = {
    "allpairs": ALL_PAIRS,
    "ppjoin": PPJOIN,
    "ppjoin+": PPJOIN_PLUS,
}
DEFAULT_ALGORITHM: Algorithm = "ppjoin+"

# Parities of a set of average size: enough bits per element to separate unlike sets from similar
# ones, in a limited number of words.
_BITS_PER_ELEMENT = 2
_MOST_WORDS = 64


def count_words(lengths: Int64s) -> int:
    """Return the number of parity words, a power of two."""
    n_bits = _BITS_PER_ELEMENT * int(lengths.sum()) // max(1, len(lengths))
    n_words = 1
    while 64 * n_words < n_bits and n_words < _MOST_WORDS:
        n_words *= 2
    return n_words


# Sides of a join of two collections: a record of one of them, or of both (3). If records come in
# two parts, each already joined with itself, a side also includes the part of a record.
LEFT, RIGHT = 1, 2
BOTH = LEFT | RIGHT
FIRST, SECOND = 4, 8


def order_by_size(sizes: Int64s, sides: Bytes | None) -> Int64s:
    """Return the nonempty records with possible partners, by size."""
    may_pair = sizes > 0 if sides is None else (sizes > 0) & (sides & BOTH > 0)
    order = np.flatnonzero(may_pair)
    return order[np.argsort(sizes[order], kind="stable")]


@dataclass(frozen=True)
class FilterCounts:
    """Counts of pairs after each filter of a join."""

    @classmethod
    def none(cls) -> Self:
        """Return counts that are all zero."""
        return cls(*[0] * len(fields(cls)))

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """Add up the counts of joins, without removing repeated pairs."""
        names = vars(parts[0])
        return type(parts[0])(**{name: sum(getattr(p, name) for p in parts) for name in names})


class Scored(ABC):
    """Distinct records, and the similarity of pairs of them.

    ``score_name`` is the name of the score's column in the output, or None.
    """

    score_name: ClassVar[str | None]

    @property
    @abstractmethod
    def is_directed(self) -> bool:
        """Return whether (a, b) and (b, a) are different pairs."""

    @property
    @abstractmethod
    def own_scores(self) -> Int64s:
        """Score of each record with itself."""

    @property
    @abstractmethod
    def twins(self) -> Int64s:
        """Records that reach the threshold with themselves."""

    @abstractmethod
    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the similarity of each pair of records."""


class Join(Scored):
    """Search for all similar pairs of some or all records."""

    counted: ClassVar[type[FilterCounts]]
    costs: ClassVar[Costs]

    @abstractmethod
    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, FilterCounts]:
        """Find all similar pairs and count pairs after each filter.

        For a join of two collections, ``sides`` has ``LEFT``, ``RIGHT``, both or neither (0) for
        each record, and pairs are of different collections. If all records are also ``FIRST`` or
        ``SECOND``, a pair has one of each. The runner reports probed records as stage ``join``.
        Pairs ascend, the left record before the right one, unless the join is directed. They do not
        depend on the runner. ResultLimitError at more than ``limit`` pairs.
        """

    @abstractmethod
    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the same join of other records and keys.

        Sets are salted with the keys already; the join salts strings.
        """

    @abstractmethod
    def may_match(self, smaller: int, larger: int) -> bool:
        """Return whether records of these sizes or total weights may match."""


class Costs(NamedTuple):
    """Bytes per record, element and distinct element of a join."""

    record: int
    element: int
    distinct: int

    def of(self, n_records: int, n_elements: int, n_distinct: int) -> int:
        """Return the bytes of a join by its counts."""
        return (
            self.record * n_records
            + self.element * n_elements
            + self.distinct * min(n_elements, n_distinct)
        )


# Records probed in pieces, on several cores, into output whose size is not known beforehand.

S = TypeVar("S")
Columns = tuple[npt.NDArray[Any], ...]
# Takes start, stop, scratch, output columns and counts. Returns the first record not probed, which
# is below stop if the next record's output might not fit, and the number of rows written.
Probe = Callable[[int, int, S, Columns, Int64s], tuple[Int, Int]]

# Types of the columns left, right, and score.
NARROW = (np.int32, np.int32, np.int32)
WIDE = (np.int32, np.int32, np.int64)

# Records in one piece of work: enough pieces that no core waits long for the last one.
_PIECE = 2048
_FIRST_PAIRS = 1 << 16


def probe_pieces(
    n_records: int,
    types: Sequence[type[np.signedinteger]],
    make_scratch: Callable[[], S],
    probe: Probe[S],
    counts: Int64s,
    runner: Runner,
) -> Iterator[tuple[int, Columns]]:
    """Probe records in pieces, yielding each piece's end and rows.

    ``make_scratch`` makes the scratch memory of one thread, which ``probe`` restores.
    """
    idle: SimpleQueue[S] = SimpleQueue()

    def work(start: int) -> tuple[int, Columns, Int64s]:
        try:
            scratch = idle.get_nowait()
        except Empty:
            scratch = make_scratch()
        stop, own_counts = min(start + _PIECE, n_records), np.zeros_like(counts)
        parts: list[Columns] = []
        room = _FIRST_PAIRS
        while start < stop:
            columns = tuple(np.empty(room, dtype) for dtype in types)
            reached, n_rows = probe(start, stop, scratch, columns, own_counts)
            parts.append(tuple(column[:n_rows].copy() for column in columns))
            # A single record may find more than fits: then make more room.
            room = room * 2 if reached == start else room
            start = int(reached)
        idle.put(scratch)
        rows = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        return stop, rows, own_counts

    for stop, columns, own_counts in runner.map(work, range(0, n_records, _PIECE)):
        counts += own_counts
        yield stop, columns


def collect_pairs(
    pieces: Iterable[tuple[int, Columns]],
    order: Int64s,
    limit: int | None,
    runner: Runner | None,
    *,
    is_directed: bool = False,
) -> ScoredPairs:
    """Concatenate the rows of all pieces as ascending pairs.

    Probed record k is record ``order[k]``. A row has the record that was found, the record that
    looked it up, and the score. The latter record is the first of a directed pair; otherwise the
    lesser one is. The runner, if any, reports the number of probed records so far as stage
    ``join``. ResultLimitError once there are more than ``limit``.
    """
    found: list[Columns] = [(np.empty(0, np.int32),) * 3]
    n_results = 0
    for stop, columns in pieces:
        found.append(columns)
        n_results += len(columns[0])
        check_limit(limit, n_results, stop / len(order))
        if runner is not None:
            runner.report("join", stop, len(order))
    partners, probed, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    left, right = order[probed], order[partners]
    if not is_directed:
        left, right = np.minimum(left, right), np.maximum(left, right)
    pairs = ScoredPairs(left, right, scores.astype(np.int64))
    return pairs.take(pairs.ascending())


def check_limit(limit: int | None, n_results: int, share: float | None = None) -> None:
    """Raise ``ResultLimitError`` if results exceed the limit."""
    if limit is not None and n_results > limit:
        raise ResultLimitError(limit, n_results, share)


# Tokens of records by rarity, and the records under each token.

_FIRST_TOKENS = 1 << 12
_MOST_TOKENS = 2**31 - 1
# Elements of sets that are numbered at a time.
_NUMBERED_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class RankedRecords:
    """Ascending token ranks per record, ``tokens[starts[r] :][: sizes[r]]``."""

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
    """Ranked records with the original position of each token."""

    places: Int32s


def group_records(
    n_records: int, sides: Bytes | None, *, is_directed: bool = False
) -> RecordGroups:
    """Group records by sides, and choose the groups that each record looks into.

    In directed joins only left records look.
    """
    zeros: Bytes = np.zeros(n_records, np.uint8)
    n_groups, of_records, first, last = 1, zeros, zeros, zeros + np.uint8(1)
    if sides is None:
        return sealed(RecordGroups(n_groups, of_records, first, last))
    if (sides & BOTH != BOTH).any():
        # Group 0 is left only, 1 both, 2 right only. A left record looks into groups 1 and 2, a
        # right one into 0 and 1.
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

    Elements of a single set are left out: they would come first and match nothing. Ties go by first
    appearance. Time is linear except for a sort of the distinct elements. Memory is 4 bytes per
    element and up to 50 per distinct element at work, then 4 per element of several sets.
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
    for start, stop in cut_runs(sets.sizes[order], _NUMBERED_AT_ONCE):
        own = order[start:stop]
        starts = sets.starts[own]
        yield take_ranges(sets.values, starts, starts + sets.sizes[own]).values


def rank_numbers(
    numbers: Int32s, frequencies: Int64s, starts: Int64s, sizes: Int64s
) -> PlacedRecords:
    """Replace numbers by ranks of rarity, and sort them per record.

    Record r's ``sizes[r]`` numbers start at ``starts[r]``, in order of records.
    """
    tokens, token_starts = _rank(numbers, frequencies)
    n_tokens = len(token_starts) - 1
    index = index_prefixes(tokens, starts, sizes, n_tokens)
    places: Int32s = np.empty(len(tokens), np.int32)
    fill: Int64s = np.zeros(len(starts), np.int64)
    postings.sort_records(index, starts, fill, tokens, places)
    return PlacedRecords(tokens, starts, sizes, n_tokens, places)


def _rank(numbers: Int32s, frequencies: Int64s) -> tuple[Int32s, Int64s]:
    """Replace numbers by ranks and count tokens before each rank."""
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
    """Return numbers of values by first appearance, and value counts."""
    return _number_parts([values], len(values))


def _number_parts(parts: Iterable[Uint64s], n: int) -> tuple[Int32s, Int64s]:
    numbers: Int32s = np.empty(n, np.int32)
    known: Uint64s = np.empty(_FIRST_TOKENS, np.uint64)
    frequencies: Int64s = np.empty(_FIRST_TOKENS, np.int64)
    slots: Int32s = np.full(2 * _FIRST_TOKENS, -1, np.int32)
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
            if room > _MOST_TOKENS:
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
    if n_keys > _MOST_TOKENS:
        message = (
            f"more than {_MOST_TOKENS // groups.n_groups:,} different tokens in two collections; "
            "choose a smaller ngram, or cut them into parts"
        )
        raise InvalidParameterError(message, "ngram")
    keys = records.tokens
    if groups.n_groups > 1:
        keys = keys * np.int32(groups.n_groups)
        keys += np.repeat(groups.of_records, records.sizes)
    return index_prefixes(keys, records.starts, prefixes, n_keys)
