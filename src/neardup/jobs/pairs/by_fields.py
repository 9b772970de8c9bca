"""Pairs of records by the weighted mean of their fields' similarities, exactly.

Of a pair those fields count that have a value in both records, its *pattern*. With weights w, the
sum W of those of the pattern, similarities s in [0, 1] and the threshold t, it is a pair if
sum(w s) >= t W. Not all pairs are looked at, by two bounds.

- A field of a weight above (1 - t) W has s > 0 in every pair, for otherwise sum(w s) <= W - w,
  which is below t W. So records of a pair are equal in an ``exact`` field of such a weight: it is a
  *key*, and only records of equal keys are compared.
- Let D be fields of the pattern, of the sum of weights V. If all of them were less similar than
  u = 1 - (1 - t) W / V, then sum(w s) < u V + (W - V) = t W. So in every pair one field of D is at
  least as similar as u. Where u > 0 the pairs of values of each such field that are, which joins
  find, give all pairs of records; they are then compared by all fields. With all fields u = t, so
  that there is such a D for each pattern.

D is chosen for each pattern by what its joins would meet. Records of several patterns go through
one join for each field and set of keys, by the least u of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from math import floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, ResultLimitError
from neardup.jobs.pairs.fields import POSTINGS_OF_PAIR, FieldValues, Units
from neardup.jobs.pairs.mean import WeightedMean
from neardup.jobs.pairs.records import sides_of
from neardup.jobs.pairs.rows import to_run
from neardup.jobs.pairs.spelling import Speller
from neardup.kernels.common.hashing import mix_words
from neardup.matching.join import FilterCounts, check_limit
from neardup.reading.column_values import NO_KEY
from neardup.tables import Bools, Bytes, Floats, Int64s, ScoredPairs, Uint64s

if TYPE_CHECKING:
    from neardup.runs.runner import Runner

# Pairs of records that are compared at a time.
_AT_ONCE = 1 << 17

# Far above what rounding moves a mean by: nearer to the threshold it is worked out exactly.
_TOO_CLOSE = 1e-9

_NO_UNITS = ScoredPairs(*(np.empty(0, np.int64) for _ in range(3)))

# Steps of the bounds for which it is worked out what joins meet; and most postings that they may
# meet, which takes some minutes.
_STEPS = 50
_MOST_POSTINGS = 3e10


@dataclass(frozen=True)
class FieldCounts(FilterCounts):
    """What each step let through.

    ``candidates`` pairs of records that are near in one field, with equal keys, those met in two
    fields twice; ``verified`` of those, the ones that could still reach the threshold when their
    texts were compared; ``found`` pairs.
    """

    candidates: int
    verified: int
    found: int


class FieldPairs(NamedTuple):
    """Pairs of records, with similarities by field, NaN where one has no value.

    ``by_field`` has a row for each field.
    """

    left: Int64s
    right: Int64s
    similarities: Floats
    by_field: Floats

    @classmethod
    def joined(cls, parts: Sequence[FieldPairs], n_fields: int) -> FieldPairs:
        """Put pairs together, as they come."""
        nothing: Int64s = np.empty(0, np.int64)
        parts = [cls(nothing, nothing, np.empty(0), np.empty((n_fields, 0))), *parts]
        return cls(
            np.concatenate([each.left for each in parts]),
            np.concatenate([each.right for each in parts]),
            np.concatenate([each.similarities for each in parts]),
            np.concatenate([each.by_field for each in parts], axis=1),
        )

    def take(self, rows: Int64s) -> FieldPairs:
        """Return the pairs at some places."""
        return FieldPairs(
            self.left[rows], self.right[rows], self.similarities[rows], self.by_field[:, rows]
        )

    def to_run(self, mean: WeightedMean) -> pa.RecordBatch:
        """Return them as rows of pairs, with a column for each field."""
        nothing: Int64s = np.zeros(len(self.left), np.int64)
        run = to_run(ScoredPairs(self.left, self.right, nothing), self.similarities)
        columns = dict(zip(run.schema.names, run.columns, strict=True))
        for field, own in zip(mean.fields, self.by_field, strict=True):
            columns[field.name] = pa.array(own, mask=np.isnan(own))
        return pa.record_batch(columns)


class _Join(NamedTuple):
    """A join by one field, within equal values of other ones."""

    field: int
    keys: tuple[int, ...]


@dataclass
class Records:
    """Records of one collection, or of two, of which the left ones are numbered first.

    ``values`` are those of each field; records of different ``keys`` are no pair, nor is one that
    has none (``NO_KEY``).
    """

    values: Sequence[FieldValues]
    keys: Uint64s | None
    n_left: int | None

    def __len__(self) -> int:
        return len(self.values[0].numbers)

    @property
    def digests(self) -> Uint64s:
        """Digests of what each record has, the same where all values are."""
        found: Uint64s = np.zeros(len(self), np.uint64)
        for each in self.values:
            # The last one is that of no value.
            found = mix_words(found ^ np.append(each.digests, np.uint64(0))[each.numbers])
        return found

    @cached_property
    def patterns(self) -> Int64s:
        """The fields of which each record has a value, as bits."""
        found: Int64s = np.zeros(len(self), np.int64)
        for bit, each in enumerate(self.values):
            found |= (each.numbers >= 0).astype(np.int64) << bit
        if self.keys is not None:
            found[self.keys == NO_KEY] = 0
        return found

    def units(self, join: _Join) -> Units:
        """Return the different values of a field, with keys of those of other fields."""
        keys: Int64s = np.zeros(len(self), np.int64)
        if self.keys is not None:
            keys = np.unique(self.keys, return_inverse=True)[1].astype(np.int64)
        lacks: Bools = (self.patterns == 0).copy()
        for each in join.keys:
            numbers = self.values[each].numbers
            lacks |= numbers < 0
            mixed = keys * (int(numbers.max(initial=0)) + 1) + np.maximum(numbers, 0)
            keys = np.unique(mixed, return_inverse=True)[1].astype(np.int64)
        keys[lacks] = -1
        return Units.of(self.values[join.field].numbers, keys)

    def speller(self, units: Units) -> Speller:
        """Return what makes pairs of records of pairs of units."""
        n_units = len(units)
        nothing: Int64s = np.zeros(n_units, np.int64)
        return Speller.of(
            units.of_records, nothing, np.arange(n_units), n_left=self.n_left, is_directed=False
        )


class TooManyNearError(Exception):
    """More pairs of values are near in a field than are to be held at once."""


def join_fields(
    records: Records,
    mean: WeightedMean,
    limit: int | None,
    runner: Runner,
    most: int | None = None,
    most_near: int | None = None,
) -> tuple[FieldPairs, FieldCounts]:
    """Find all pairs of records whose weighted mean reaches the threshold.

    Or the ``most`` most similar of them, in that order. Else pairs ascend.

    Raises
    ------
    TooManyNearError
        At more than ``most_near`` pairs of values that are near in one field, at once.
    InvalidInputError
        Where it would take too long, because too little tells records apart.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Memory: the values and sets of all fields, 8 bytes a record for each, what a join of one field
    takes, and 24 bytes a pair with 8 for each field.
    """
    joins = _choose_joins(records, mean)
    comparison = _Comparison.of(records, mean, runner.workers)
    found: list[FieldPairs] = []
    candidates = verified = 0
    for join, (least, in_use) in joins.items():
        units = records.units(join)
        speller = records.speller(units)
        sides = sides_of(units.of_records, records.n_left, len(units))
        n_own, alone = 0, speller.without_twins()
        # Records that have the same unit come first, once.
        near = _near(records.values[join.field], units, least, sides, most_near, runner)
        for number, pairs in enumerate(chain([_NO_UNITS], near)):
            crossings = (alone if number else speller).crossings(pairs)
            for spelled, _ in speller.spell_in_parts(crossings, _AT_ONCE):
                own = in_use[records.patterns[spelled.left] & records.patterns[spelled.right]]
                candidates += int(own.sum())
                part, n_compared = comparison.pairs(spelled.left[own], spelled.right[own])
                verified += n_compared
                n_own += len(part.left)
                check_limit(limit, n_own)
                found.append(part)
                n_held = sum(len(each.left) for each in found)
                if most is not None and n_held > max(2 * most, _AT_ONCE):
                    found = [
                        comparison.best(
                            _each_once(FieldPairs.joined(found, len(mean.fields))), most
                        )
                    ]
    pairs_found = _each_once(FieldPairs.joined(found, len(mean.fields)))
    check_limit(limit, len(pairs_found.left))
    if most is not None:
        pairs_found = comparison.best(pairs_found, most)
    return pairs_found, FieldCounts(candidates, verified, len(pairs_found.left))


def _near(
    values: FieldValues,
    units: Units,
    least: Fraction,
    sides: Bytes | None,
    limit: int | None,
    runner: Runner,
) -> Iterator[ScoredPairs]:
    try:
        yield from values.near(units, least, sides, limit, runner)
    except ResultLimitError as error:
        raise TooManyNearError from error


def best_of(
    pairs: FieldPairs, records: Records, mean: WeightedMean, most: int, workers: int
) -> FieldPairs:
    """Return so many pairs of records, the most similar first, ties ascending."""
    return _Comparison.of(records, mean, workers).best(pairs, most)


def _each_once(pairs: FieldPairs) -> FieldPairs:
    """Return pairs that may have been found several times in ascending order, each once."""
    left, right = pairs.left, pairs.right
    order = np.lexsort((right, left))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(left[order]) != 0) | (np.diff(right[order]) != 0)
    return pairs.take(order[is_first])


def _choose_joins(records: Records, mean: WeightedMean) -> dict[_Join, tuple[Fraction, Bools]]:
    """Choose joins that find all pairs: each with its bound, and the patterns it is for."""
    n_fields = len(mean.fields)
    own = records.patterns
    left, right = (own, own) if records.n_left is None else np.split(own, [records.n_left])
    patterns = sorted({int(a) & int(b) for a, b in product(np.unique(left), np.unique(right))})
    costs = _Costs(records)
    chosen: dict[_Join, tuple[Fraction, Bools]] = {}
    for pattern in patterns:
        fields = [each for each in range(n_fields) if pattern >> each & 1]
        if not fields:
            continue
        keys = [
            each
            for each in fields
            if mean.fields[each].kind == "exact" and mean.must_agree(each, fields)
        ]

        def joins_of(driving: Sequence[int], keys: Sequence[int] = keys) -> list[_Join]:
            return [_Join(each, tuple(key for key in keys if key != each)) for each in driving]

        usual = mean.bound(fields, fields)
        ranked = sorted(fields, key=lambda each: costs.of(joins_of([each])[0], usual))
        drivers = [[each] for each in fields] + [ranked[:n] for n in range(2, len(ranked) + 1)]
        ways = []
        for driving in drivers:
            least = mean.bound(driving, fields)
            if least > 0:
                joins = joins_of(driving)
                ways.append((sum(costs.of(join, least) for join in joins), least, joins))
        _, least, joins = min(ways, key=lambda way: way[0])
        for join in joins:
            before, in_use = chosen.get(join, (least, np.zeros(1 << n_fields, np.bool_)))
            in_use[pattern] = True
            chosen[join] = min(before, least), in_use
    total = sum(costs.of(join, least) for join, (least, _) in chosen.items())
    if total > _MOST_POSTINGS:
        named = ", ".join(dict.fromkeys(mean.fields[join.field].column for join in chosen))
        message = (
            f"too many records are alike in single fields ({named}): about "
            f"{total / POSTINGS_OF_PAIR:.1g} pairs would have to be compared; compare within "
            "blocks (--blocking COLUMN), set a higher threshold, or give a field that tells "
            "records apart more weight"
        )
        raise InvalidInputError(message)
    return chosen


class _Costs:
    """What joins would meet."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._units: dict[_Join, Units] = {}
        self._known: dict[tuple[_Join, Fraction], float] = {}

    def of(self, join: _Join, least: Fraction) -> float:
        """Return about how many postings a join would meet, and the pairs that it is sure to find.

        These are all pairs of records of one unit. Bounds that are nearly the same count as such.
        """
        least = Fraction(max(1, floor(least * _STEPS)), _STEPS)
        found = self._known.get((join, least))
        if found is None:
            records = self._records
            if join not in self._units:
                self._units[join] = records.units(join)
            units = self._units[join]
            n = len(records) if records.n_left is None else records.n_left
            first, other = (
                np.bincount(part[part >= 0], minlength=len(units)).astype(np.float64)
                for part in (units.of_records[:n], units.of_records[n:])
            )
            twins = first * (first - 1) / 2 if records.n_left is None else first * other
            found = records.values[join.field].cost(units, least)
            found += POSTINGS_OF_PAIR * float(twins.sum())
            self._known[join, least] = found
        return found


# Kinds of fields by what it takes to compare two values.
_BY_EFFORT = ("exact", "number", "text", "rare", "edit")


@dataclass(frozen=True)
class _Comparison:
    """Compares pairs of records by all fields; ``totals`` are the weights of each pattern."""

    records: Records
    mean: WeightedMean
    totals: Floats
    workers: int

    @classmethod
    def of(cls, records: Records, mean: WeightedMean, workers: int) -> _Comparison:
        n = len(mean.fields)
        totals = [
            float(mean.weight([each for each in range(n) if pattern >> each & 1]))
            for pattern in range(1 << n)
        ]
        return cls(records, mean, np.array(totals), workers)

    def pairs(self, left: Int64s, right: Int64s) -> tuple[FieldPairs, int]:
        """Return those that reach the threshold, and how many texts had to be compared for that."""
        records, mean = self.records, self.mean
        patterns = records.patterns[left] & records.patterns[right]
        totals = self.totals[patterns]
        needed = totals * float(mean.threshold)
        room = totals * _TOO_CLOSE
        # What the sum may still be: each field counts as equal until it is compared.
        sums = totals.copy()
        by_field: Floats = np.full((len(mean.fields), len(left)), np.nan)
        efforts = [_BY_EFFORT.index(each.kind) for each in mean.fields]
        rows = np.arange(len(left))
        n_compared, is_counted = len(rows), False
        for field in np.argsort(efforts, kind="stable").tolist():
            if efforts[field] >= _BY_EFFORT.index("text") and not is_counted:
                n_compared, is_counted = len(rows), True
            values, weight = records.values[field], float(mean.fields[field].weight)
            own = rows[patterns[rows] >> field & 1 == 1]
            least = np.clip(1 - (sums[own] - needed[own] + room[own]) / weight, 0, 1)
            a, b = values.numbers[left[own]], values.numbers[right[own]]
            by_field[field, own] = values.similarities(a, b, least, self.workers)
            sums[own] -= weight * (1 - by_field[field, own])
            rows = rows[sums[rows] >= needed[rows] - room[rows]]
        is_close = sums[rows] < needed[rows] + room[rows]
        reaches = ~is_close
        means = mean.means(by_field[:, rows])
        exact, which = self._exact_means(left[rows[is_close]], right[rows[is_close]])
        reach = np.array([each >= mean.threshold for each in exact], np.bool_)
        reaches[is_close] = reach[which]
        means[is_close] = np.array(list(map(float, exact)), np.float64)[which]
        rows = rows[reaches]
        return FieldPairs(left[rows], right[rows], means[reaches], by_field[:, rows]), n_compared

    def best(self, pairs: FieldPairs, most: int) -> FieldPairs:
        """Return so many pairs, the most similar first, ties ascending.

        Means that are too close to tell are worked out exactly.
        """
        if len(pairs.left) > most:
            least = -np.partition(-pairs.similarities, most - 1)[most - 1]
            pairs = pairs.take(np.flatnonzero(pairs.similarities >= least - _TOO_CLOSE))
        pairs = pairs.take(np.argsort(-pairs.similarities, kind="stable"))
        similarities = pairs.similarities.copy()
        is_apart = -np.diff(similarities) > _TOO_CLOSE
        runs = np.cumsum(np.concatenate([[True], is_apart])[: len(similarities)])
        sizes = np.bincount(runs, minlength=1)
        rows = np.flatnonzero(sizes[runs] > 1)
        exact, which = self._exact_means(pairs.left[rows], pairs.right[rows])
        descending = sorted(set(exact), reverse=True)
        ranks = {each: rank for rank, each in enumerate(descending)}
        within: Int64s = np.zeros(len(similarities), np.int64)
        within[rows] = np.array([ranks[each] for each in exact], np.int64)[which]
        similarities[rows] = np.array(list(map(float, exact)), np.float64)[which]
        order = np.lexsort((pairs.right, pairs.left, within, runs))
        return pairs._replace(similarities=similarities).take(order[:most])

    def _exact_means(self, left: Int64s, right: Int64s) -> tuple[list[Fraction], Int64s]:
        """Return means of pairs, worked out with fractions, and for each pair the place of its own.

        Many pairs are as similar as others, such as all equal ones; so each combination of
        similarities is looked at once.
        """
        # Of each field numbers of the similarities of pairs, -1 of those without one.
        numbers: Int64s = np.full((len(left), len(self.mean.fields)), -1, np.int64)
        known: dict[Fraction, int] = {}
        for values, own in zip(self.records.values, numbers.T, strict=True):
            a, b = values.numbers[left], values.numbers[right]
            there = np.flatnonzero((a >= 0) & (b >= 0))
            pairs = np.stack([a[there], b[there]], axis=1)
            # Any value is as similar to itself.
            pairs[pairs[:, 0] == pairs[:, 1]] = pairs.max(initial=0)
            different, which = np.unique(pairs, axis=0, return_inverse=True)
            found = [
                known.setdefault(each, len(known))
                for each in values.exact_similarities(*different.T.copy())
            ]
            own[there] = np.array(found, np.int64)[which.reshape(-1)]
        combinations, which = np.unique(numbers, axis=0, return_inverse=True)
        similarities = list(known)
        means = [
            self._mean([similarities[each] if each >= 0 else None for each in combination])
            for combination in combinations.tolist()
        ]
        return means, which.reshape(-1)

    def _mean(self, similarities: Sequence[Fraction | None]) -> Fraction:
        """Return the weighted mean of the similarities of fields, exactly."""
        total = weighted = Fraction(0)
        for field, similarity in zip(self.mean.fields, similarities, strict=True):
            if similarity is not None:
                total += field.weight
                weighted += field.weight * similarity
        return weighted / total
