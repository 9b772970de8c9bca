"""Fields of records: the values of one column each, how similar two are, and which may be.

A value is known by its number; records without one have none, -1.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.id_table import hash_ids
from neardup.kernels.common.hashing import mix_words
from neardup.matching.join import Join, salt_sets
from neardup.matching.measures import WeightedJaccard
from neardup.matching.prefixes import list_prefixes
from neardup.matching.set_join import SetJoin
from neardup.matching.verify import overlaps_at_threshold
from neardup.tables import (
    Bools,
    Bytes,
    Floats,
    Int64s,
    ScoredPairs,
    ShingleSets,
    Texts,
    TokenLists,
    Uint64s,
    WeightedSets,
)
from neardup.text.shingles import digest_token_lists, shingle_scheme, shingle_sets, take_ranges

if TYPE_CHECKING:
    from neardup.matching.measures import Measure
    from neardup.options.documents import PairOptions
    from neardup.runs.runner import Runner
    from neardup.text.shingles import ShingleScheme
    from neardup.text.weighting import WeightedScheme

# Pairs that are made at a time.
_AT_ONCE = 1 << 18

POSTINGS_OF_PAIR = 10
"""Postings that a join meets in the time in which a pair of records is made and looked at."""

# Those of one edit distance; and the share of pairs of fitting lengths whose distance is worked out
# where q-grams rule others out.
_HITS_OF_DISTANCE, _SHARE_MET, _FROM_QGRAMS = 4, 0.1, Fraction(3, 5)

# A number as people write it, without its currency: digits, or groups of three with commas.
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}|\d{1,3}(?:,\d{3}){1,9})(?:\.\d{1,30})?")

_BLANKS = [character for character in map(chr, range(0x10000)) if character.isspace()]

# Far above what rounding moves a number by, so that ranges of numbers are rather too wide.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Units:
    """Different values of a field, each with a key: only units of equal keys may be near.

    ``values`` are the numbers of the values, ``keys`` whole numbers, and ``of_records`` has the
    unit of each record, -1 for none.
    """

    values: Int64s
    keys: Int64s
    of_records: Int64s

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, numbers: Int64s, keys: Int64s) -> Units:
        """Make units of the values of all records, and their keys; a negative one of either: none.

        Keys are below the number of records.
        """
        there = np.flatnonzero((numbers >= 0) & (keys >= 0))
        n_keys = int(keys.max(initial=0)) + 1
        found, own = np.unique(numbers[there] * n_keys + keys[there], return_inverse=True)
        of_records: Int64s = np.full(len(numbers), -1, np.int64)
        of_records[there] = own
        return cls(found // n_keys, found % n_keys, of_records)

    @property
    def salts(self) -> Uint64s | None:
        """The keys, spread over all words; None if there is one."""
        if not len(self) or (self.keys == self.keys[0]).all():
            return None
        return mix_words(self.keys.astype(np.uint64) + np.uint64(1))


class FieldValues(ABC):
    """The values that records have in a column.

    ``numbers`` has that of each record, ``digests`` are those of the values, and ``n_unreadable``
    records have something there that is no value of this kind. ``similarities`` lie between 0 and
    1, and are 1 of a value with itself.
    """

    numbers: Int64s
    digests: Uint64s
    n_unreadable: int = 0

    @abstractmethod
    def similarities(self, a: Int64s, b: Int64s, least: Floats, workers: int) -> Floats:
        """Return the similarity of each pair of values, to within rounding.

        Of a pair that is not as similar as ``least`` any that is below it will do.
        """

    @abstractmethod
    def exact_similarities(self, a: Int64s, b: Int64s) -> list[Fraction]:
        """Return the similarity of each pair of values, exactly."""

    @abstractmethod
    def near(
        self,
        units: Units,
        least: Fraction,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[ScoredPairs]:
        """Find the pairs of different units that are as similar as ``least``, which is above 0.

        There may be others among them. ``sides`` are as of joins; pairs of one side may be there.

        Raises
        ------
        ResultLimitError
            At more than ``limit`` pairs that would be held at once.
        """

    @abstractmethod
    def cost(self, units: Units, least: Fraction) -> float:
        """Say about how many postings, or as dear steps, ``near`` would meet."""


@dataclass
class _Texts(FieldValues):
    """Texts, as sets of shingles, plain ones or by a weighted measure weighted ones."""

    numbers: Int64s
    sets: ShingleSets | WeightedSets
    measure: Measure

    def similarities(self, a: Int64s, b: Int64s, least: Floats, workers: int) -> Floats:
        return self.measure.similarities(*self._measured(a, b))

    def exact_similarities(self, a: Int64s, b: Int64s) -> list[Fraction]:
        parts = self.measure.fractions(*self._measured(a, b))
        return [Fraction(*each) for each in zip(*(part.tolist() for part in parts), strict=True)]

    def _measured(self, a: Int64s, b: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return what the values of pairs have in common, and the sizes of both."""
        sizes = self.sets.totals if isinstance(self.sets, WeightedSets) else self.sets.sizes
        overlaps = np.maximum(overlaps_at_threshold(self.sets, a, b, self.measure), 0)
        return overlaps, sizes[a], sizes[b]

    def near(
        self,
        units: Units,
        least: Fraction,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[ScoredPairs]:
        yield self._join(units, least).run(sides, limit, runner)[0]

    def _join(self, units: Units, least: Fraction) -> Join:
        sets, measure = self._salted(units), type(self.measure)(least)
        if isinstance(sets, WeightedSets):
            # Its kernels are for few jobs.
            from neardup.matching.weighted_join import WeightedJoin

            return WeightedJoin(sets, measure)
        return SetJoin(sets, measure, "auto")

    def cost(self, units: Units, least: Fraction) -> float:
        n_keys = list_prefixes(self._salted(units), type(self.measure)(least)).sizes
        return float((n_keys.astype(np.float64) ** 2).sum()) / 2

    def _salted(self, units: Units) -> ShingleSets | WeightedSets:
        """Return the sets of units, which have elements in common only where keys are equal."""
        salts = units.salts
        own = self.sets.take(units.values)
        if salts is None:
            return own
        stops = own.starts + own.sizes
        lists = take_ranges(own.values, own.starts, stops)
        starts = lists.offsets[:-1]
        if isinstance(own, WeightedSets):
            weights = take_ranges(own.weights.view(np.uint64), own.starts, stops).values
            weighted = WeightedSets(
                lists.values, weights.view(np.int64), starts, own.sizes, own.totals
            )
            return salt_sets(weighted, salts)
        return salt_sets(ShingleSets(lists.values, starts, own.sizes), salts)


class _Strings(FieldValues):
    """Strings of characters, by their edit distance."""

    def __init__(self, numbers: Int64s, strings: TokenLists) -> None:
        # RapidFuzz is loaded for edit distances alone.
        from neardup.matching.edit_join import as_characters

        self.numbers = numbers
        self._strings = strings
        self._characters = as_characters(strings)
        self._lengths: Int64s = np.diff(strings.offsets)

    def similarities(self, a: Int64s, b: Int64s, least: Floats, workers: int) -> Floats:
        from neardup.matching.edit_join import distances_within

        longer = np.maximum(self._lengths[a], self._lengths[b])
        most = np.minimum(longer, np.ceil(longer * (1 - least)).astype(np.int64) + 1)
        distances = distances_within(self._characters[a], self._characters[b], most, workers)
        similarities: Floats = np.maximum(longer - distances, 0) / longer
        return similarities

    def exact_similarities(self, a: Int64s, b: Int64s) -> list[Fraction]:
        from neardup.matching.edit_join import distances_within

        longer = np.maximum(self._lengths[a], self._lengths[b])
        distances = distances_within(self._characters[a], self._characters[b], longer, 1)
        parts = (longer - distances).tolist(), longer.tolist()
        return [Fraction(*each) for each in zip(*parts, strict=True)]

    def near(
        self,
        units: Units,
        least: Fraction,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[ScoredPairs]:
        from neardup.matching.edit_join import EditJoin, EditThreshold

        strings = self._strings
        own = take_ranges(
            strings.values, strings.offsets[units.values], strings.offsets[units.values + 1]
        )
        join = EditJoin(own, EditThreshold(None, least), None, keys=units.salts)
        yield join.run(sides, limit, runner)[0]

    def cost(self, units: Units, least: Fraction) -> float:
        order = np.lexsort((self._lengths[units.values], units.keys))
        keys, lengths = units.keys[order], self._lengths[units.values][order]
        width = int(lengths.max(initial=0)) + 1
        places = keys * width + lengths
        shortest = np.ceil(lengths * float(least)).astype(np.int64)
        first = np.searchsorted(places, keys * width + shortest)
        n_pairs = float((np.arange(len(places)) - first).sum())
        return n_pairs * _HITS_OF_DISTANCE * (_SHARE_MET if least >= _FROM_QGRAMS else 1)


@dataclass
class _Wholes(FieldValues):
    """Values that are equal or not."""

    numbers: Int64s

    def similarities(self, a: Int64s, b: Int64s, least: Floats, workers: int) -> Floats:
        similarities: Floats = (a == b).astype(np.float64)
        return similarities

    def exact_similarities(self, a: Int64s, b: Int64s) -> list[Fraction]:
        return [Fraction(each) for each in (a == b).astype(np.int64).tolist()]

    def near(
        self,
        units: Units,
        least: Fraction,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[ScoredPairs]:
        # Different units are of different values, or of different keys.
        return iter(())

    def cost(self, units: Units, least: Fraction) -> float:
        return 0.0


class _Numbers(FieldValues):
    """Numbers: 1 - |a - b| / max(|a|, |b|), and 0 where that is less; 1 of equal ones."""

    def __init__(self, numbers: Int64s, values: list[Fraction], n_unreadable: int) -> None:
        self.numbers, self.n_unreadable = numbers, n_unreadable
        self._exact = values
        self._values: Floats = np.array(list(map(float, values)), np.float64)

    def similarities(self, a: Int64s, b: Int64s, least: Floats, workers: int) -> Floats:
        x, y = self._values[a], self._values[b]
        larger = np.maximum(np.abs(x), np.abs(y))
        apart = np.abs(x - y) / np.where(larger > 0, larger, 1)
        similarities: Floats = np.maximum(1 - apart, 0)
        return similarities

    def exact_similarities(self, a: Int64s, b: Int64s) -> list[Fraction]:
        pairs = ((self._exact[i], self._exact[j]) for i, j in zip(a, b, strict=True))
        return [
            Fraction(1) if x == y else max(1 - abs(x - y) / max(abs(x), abs(y)), Fraction(0))
            for x, y in pairs
        ]

    def near(
        self,
        units: Units,
        least: Fraction,
        sides: Bytes | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[ScoredPairs]:
        order, first = self._ranges(units, least)
        counts = np.arange(len(order)) - first
        ends = np.cumsum(counts)
        start = 0
        while start < len(order):
            before = int(ends[start] - counts[start])
            stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
            own = counts[start:stop]
            later = np.repeat(np.arange(start, stop), own)
            within = np.arange(len(later)) - np.repeat(np.cumsum(own) - own, own)
            x, y = order[first[later] + within], order[later]
            low, high = np.minimum(x, y), np.maximum(x, y)
            yield ScoredPairs(low, high, np.zeros(len(low), np.int64))
            start = stop

    def cost(self, units: Units, least: Fraction) -> float:
        # Few numbers are of many records, all of which are compared.
        order, first = self._ranges(units, least)
        there = units.of_records[units.of_records >= 0]
        counts = np.bincount(there, minlength=len(units)).astype(np.float64)[order]
        before = np.append(0.0, np.cumsum(counts))
        n_pairs = (counts * (before[:-1] - before[first])).sum()
        return POSTINGS_OF_PAIR * float(n_pairs)

    def _ranges(self, units: Units, least: Fraction) -> tuple[Int64s, Int64s]:
        """Return units by key, sign and size, and for each the first that is near, up to itself.

        Of numbers of one sign a <= b in size, a / b is the similarity; of different signs it is 0.
        """
        values = self._values[units.values]
        sizes, ranks = np.unique(np.abs(values), return_inverse=True)
        group = units.keys * 3 + np.sign(values).astype(np.int64) + 1
        places = group * (len(sizes) + 1) + ranks
        order = np.argsort(places, kind="stable")
        least_sizes = np.abs(values) * float(least) * (1 - _ROUNDING)
        lowest = group * (len(sizes) + 1) + np.searchsorted(sizes, least_sizes)
        return order, np.searchsorted(places[order], lowest[order]).astype(np.int64)


def field_values(
    values: pa.Array,
    kind: str,
    options: PairOptions,
    measure: Measure,
    weights: WeightedScheme | None = None,
) -> FieldValues:
    """Return what a field knows of the values of all records, which are texts, null for none.

    Texts are cut as the options say, into single tokens unless these say otherwise; strings of
    ``edit`` and ``exact`` are normalised as those are, and spaces around them do not count. Of
    ``rare`` it needs ``weights``, what tokens weigh.
    """
    different = values.dictionary_encode()
    numbers: Int64s = different.indices.fill_null(-1).to_numpy().astype(np.int64)
    texts = different.dictionary
    if kind == "number":
        read = [read_number(text) for text in texts.to_pylist()]
        found = _numbers_of(numbers, np.array([each is not None for each in read], np.bool_))
        n_unreadable = int(((found < 0) & (numbers >= 0)).sum())
        numbers_read = [each for each in read if each is not None]
        is_number = np.array([each is not None for each in read], np.bool_)
        return _digested(_Numbers(found, numbers_read, n_unreadable), texts, is_number)
    scheme = _scheme_of_tokens(options)
    if kind in ("text", "rare"):
        sets: ShingleSets | WeightedSets
        if weights is None:
            sets = shingle_sets(Texts.from_arrow(texts), scheme)
        else:
            # Few fields are weighed.
            from neardup.text.weighting import weighted_sets

            tokens = scheme.tokenizer.hash_tokens(Texts.from_arrow(texts))
            sets, measure = weighted_sets(tokens, scheme, weights), WeightedJaccard.lowest()
        there = sets.sizes > 0
        own = _Texts(_numbers_of(numbers, there), sets.take(np.flatnonzero(there)), measure)
        return _digested(own, texts, there)
    whole = options.but(tokenizer="characters", casefold=scheme.normalisation.casefold, ngram=1)
    characters = shingle_scheme(whole)
    texts = pc.utf8_trim_whitespace(texts)
    lists = characters.tokenizer.hash_tokens(Texts.from_arrow(texts))
    if characters.normalisation.replace is not None:
        lists = _without_outer_blanks(lists, characters)
    there = np.diff(lists.offsets) > 0
    if kind == "edit":
        kept = take_ranges(lists.values, lists.offsets[:-1][there], lists.offsets[1:][there])
        return _digested(_Strings(_numbers_of(numbers, there), kept), texts, there)
    digests, same = np.unique(digest_token_lists(lists), axis=0, return_inverse=True)
    same = np.append(np.where(there, same.reshape(-1), -1), -1).astype(np.int64)
    wholes = _Wholes(same[numbers])
    wholes.digests = digests[:, 0]
    return wholes


def _without_outer_blanks(strings: TokenLists, characters: ShingleScheme) -> TokenLists:
    """Trim strings of characters again: a word that goes may leave a line end, say, at an end."""
    blanks = pa.array(_BLANKS, pa.large_string())
    hashes = characters.tokenizer.hash_tokens(Texts.from_arrow(blanks)).values
    kept = np.flatnonzero(~np.isin(strings.values, hashes))
    first, beyond = np.searchsorted(kept, [strings.offsets[:-1], strings.offsets[1:]])
    # With a place for strings that are all blank, which have none.
    starts, stops = np.append(kept, 0)[first], np.append(kept, 0)[beyond - 1] + 1
    return take_ranges(strings.values, starts, np.where(first < beyond, stops, starts))


def _scheme_of_tokens(options: PairOptions) -> ShingleScheme:
    ngram = 1 if options.ngram is None else options.ngram
    return shingle_scheme(options.but(ngram=ngram).with_tokenizer("words"))


def weigh_by_rarity(parts: Iterable[pa.Array], options: PairOptions) -> WeightedScheme:
    """Count in how many values each token is, and return what tokens of ``rare`` fields weigh.

    ``parts`` are the values of all records, texts and null for none. Those without tokens do not
    count.
    """
    # Few fields are weighed.
    from neardup.text.weighting import (
        WeightedScheme,
        Weighting,
        count_documents,
        frequency_lists,
    )

    scheme = _scheme_of_tokens(options)

    def lists() -> Iterator[TokenLists]:
        for texts in parts:
            tokens = scheme.tokenizer.hash_tokens(Texts.from_arrow(texts.drop_null()))
            found = frequency_lists(tokens, scheme)
            is_end = np.append(True, np.diff(found.offsets) > 0)
            yield TokenLists(found.values, found.offsets[is_end])

    return WeightedScheme(Weighting("raw", "smooth"), count_documents(lists()))


def _digested(values: FieldValues, texts: pa.Array, there: Bools) -> FieldValues:
    """Note the digests of the texts that are values."""
    values.digests = hash_ids(texts.filter(pa.array(there)))
    return values


def _numbers_of(numbers: Int64s, there: Bools) -> Int64s:
    """Renumber values, of which some are there; a record of another has none."""
    renumbered = np.append(np.where(there, np.cumsum(there) - 1, -1), -1).astype(np.int64)
    found: Int64s = renumbered[numbers]
    return found


def read_number(text: str) -> Fraction | None:
    """Read a number as people write prices: a currency sign beside it and commas do not matter.

    None where it is none, such as one with a decimal comma or a unit.
    """
    bare = "".join(c for c in text if unicodedata.category(c) != "Sc").strip()
    return Fraction(bare.replace(",", "")) if _NUMBER.fullmatch(bare) else None
