"""Kinds of collections: relations between documents, and segments of each document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.scale.segments import Segments, TextForms, write_words
from benchmarks.scale.words import Int64s, Uint64s, draw, mean_form_bytes, shares

# Kinds of documents: originals, and kinds of copies.
ORIGINAL, EXACT, EDITED, CUT, WRAPPED, BELOW, NEXT = range(7)
NAMES = ("original", "exact", "edited", "cut", "wrapped", "below", "next")

EXACT_SHARE, NEAR_SHARE = 0.05, 0.15
# Of the near-copies, one after the other; what is left is wrapped.
_EDITED_OF_NEAR, _CUT_OF_NEAR = 0.5, 0.25
_EDIT_RATES, _KEPT_SHARES = (0.001, 0.05), (0.6, 0.98)
_N_BOILERPLATES, _BOILERPLATE_WORDS, _BOILERPLATE_SHARE = 64, (20, 80), 0.05
_TRIES = 8

_SPREAD, _LEAST_WORDS, _MOST_TIMES = 0.8, 5, 50
_QUANTILES = 4096
# A shorter document would be like nothing once it is cut or wrapped.
LEAST_WORDS_OF_NEAR = 20

Uint8s = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Relations:
    """Kinds of documents (``NAMES``), and the original of each copy; -1 for originals."""

    kinds: Uint8s
    of: Int64s


class Kind(Protocol):
    """A collection whose documents are numbered from 0; each is a function of its number."""

    def relate(self, numbers: Int64s) -> Relations:
        """Return the kinds and originals of documents."""

    def words(self, numbers: Int64s) -> TextForms:
        """Return the words of some documents."""


def words_for(document_bytes: float) -> int:
    """Return how many words make a text of some bytes on average."""
    return max(1, round(document_bytes / mean_form_bytes()))


@cache
def _lengths_by_share() -> npt.NDArray[np.float64]:
    """Return quantiles of a log-normal distribution with mean 1."""
    normal = NormalDist(-(_SPREAD**2) / 2, _SPREAD)
    drawn = [normal.inv_cdf((i + 0.5) / _QUANTILES) for i in range(_QUANTILES)]
    lengths: npt.NDArray[np.float64] = np.exp(drawn)
    return lengths / lengths.mean()


@dataclass(frozen=True)
class Ordinary:
    """Documents with 5 % exact copies of earlier ones, and 15 % near-copies.

    A copy is one of an original. One document in ten has a boilerplate that others have too. Where
    documents are short, none has, and few are long enough for a near-copy.
    """

    seed: int
    document_bytes: float

    def _draw(self, numbers: Int64s, stream: int) -> Uint64s:
        return draw(numbers.astype(np.uint64), (self.seed << 8) + stream)

    @property
    def _has_boilerplates(self) -> bool:
        return words_for(self.document_bytes) > _BOILERPLATE_WORDS[1]

    def _lengths(self, numbers: Int64s) -> Int64s:
        """Return the number of words of originals, without boilerplate."""
        quantiles = _lengths_by_share()[self._draw(numbers, 0) >> np.uint64(52)]
        mean = words_for(self.document_bytes)
        lengths = np.clip(np.rint(mean * quantiles), _LEAST_WORDS, _MOST_TIMES * mean)
        whole: Int64s = lengths.astype(np.int64)
        return whole

    def relate(self, numbers: Int64s) -> Relations:
        """Return the kinds and originals of documents."""
        share = shares(self._draw(numbers, 1))
        kinds = np.full(len(numbers), ORIGINAL, np.uint8)
        near = share < NEAR_SHARE
        kinds[near] = EDITED
        kinds[share < NEAR_SHARE * (1 - _EDITED_OF_NEAR)] = CUT
        kinds[share < NEAR_SHARE * (1 - _EDITED_OF_NEAR - _CUT_OF_NEAR)] = WRAPPED
        if not self._has_boilerplates:
            kinds[kinds == WRAPPED] = EDITED
        kinds[(share >= NEAR_SHARE) & (share < NEAR_SHARE + EXACT_SHARE)] = EXACT
        of: Int64s = np.full(len(numbers), -1, np.int64)
        open_ = np.flatnonzero((kinds != ORIGINAL) & (numbers > 0))
        for attempt in range(_TRIES):
            tried = self._draw(numbers[open_], 16 + attempt) % numbers[open_].astype(np.uint64)
            found = tried.astype(np.int64)
            fits = shares(self._draw(found, 1)) >= NEAR_SHARE + EXACT_SHARE
            fits &= (kinds[open_] == EXACT) | (self._lengths(found) >= LEAST_WORDS_OF_NEAR)
            of[open_[fits]] = found[fits]
            open_ = open_[~fits]
        kinds[of < 0] = ORIGINAL
        return Relations(kinds, of)

    def words(self, numbers: Int64s) -> TextForms:
        """Return the words of some documents."""
        relations = self.relate(numbers)
        kinds = relations.kinds
        bases = np.where(relations.of >= 0, relations.of, numbers)
        lengths, starts = self._lengths(bases), np.zeros(len(numbers), np.int64)

        cut = np.flatnonzero(kinds == CUT)
        kept = shares(self._draw(numbers[cut], 2))
        kept = np.ceil(lengths[cut] * (_KEPT_SHARES[0] + kept * np.ptp(_KEPT_SHARES)))
        room = lengths[cut] - kept.astype(np.int64) + 1
        starts[cut] = (shares(self._draw(numbers[cut], 3)) * room).astype(np.int64)
        lengths[cut] = kept.astype(np.int64)

        rates = shares(self._draw(numbers, 4)) * np.ptp(_EDIT_RATES) + _EDIT_RATES[0]
        body = Segments(
            self._draw(bases, 5),
            starts,
            lengths,
            np.where(kinds == EDITED, rates, 0.0),
            self._draw(numbers, 6),
        )
        # An exact and an edited copy have the boilerplate of what they copy, a wrapped one its own.
        owners = np.where(kinds == WRAPPED, numbers, bases)
        return write_words(
            [self._boilerplate(owners, kinds, 7), body, self._boilerplate(owners, kinds, 8)]
        )

    def _boilerplate(self, owners: Int64s, kinds: Uint8s, stream: int) -> Segments:
        """Return the boilerplates before or behind documents; most of them have none."""
        bits = self._draw(owners, stream)
        which = (bits % np.uint64(_N_BOILERPLATES)).astype(np.int64)
        least, most = _BOILERPLATE_WORDS
        lengths = least + which * (most - least) // (_N_BOILERPLATES - 1)
        share = _BOILERPLATE_SHARE if self._has_boilerplates else 0.0
        has = (kinds == WRAPPED) | ((shares(bits) < share) & (kinds != CUT))
        return Segments(
            self._draw(which, 9), np.zeros(len(which), np.int64), np.where(has, lengths, 0)
        )


@dataclass(frozen=True)
class Copies:
    """Copies of one text."""

    seed: int
    document_bytes: float

    def relate(self, numbers: Int64s) -> Relations:
        """Return the kinds and originals of documents."""
        return _of_number(numbers, EXACT, np.zeros(len(numbers), np.int64))

    def words(self, numbers: Int64s) -> TextForms:
        """Return the words of some documents."""
        length = words_for(self.document_bytes)
        return write_words([_segment(self.seed, numbers, numbers * 0, numbers * 0, length)])


@dataclass(frozen=True)
class Bucket:
    """Documents pairwise just below the usual threshold, with a common core and a rest of its own.

    The similarity of two is C / (C + r + s) for a core of C shingles, and r and s of the rests;
    those are from 0.14 to 0.166 times as many, for 0.75 to 0.781. Each band key that comes of the
    core alone is one of nearly half of the documents.
    """

    seed: int
    document_bytes: float

    def relate(self, numbers: Int64s) -> Relations:
        """Return the kinds and originals of documents."""
        return _of_number(numbers, BELOW, np.zeros(len(numbers), np.int64))

    def words(self, numbers: Int64s) -> TextForms:
        """Return the words of some documents."""
        core = round(words_for(self.document_bytes) / 1.153)
        least, most = np.ceil(0.14 * (core - 4)), np.floor(0.166 * (core - 4))
        chosen = shares(draw(numbers.astype(np.uint64), (self.seed << 8) + 1))
        rests = (least + chosen * (most - least + 1)).astype(np.int64)
        return write_words(
            [
                _segment(self.seed, numbers, numbers * 0, numbers * 0, core),
                _segment(self.seed, numbers, numbers + 1, numbers * 0, rests),
            ]
        )


@dataclass(frozen=True)
class Chain:
    """Versions of one text: in each a passage of a hundredth of it is new, one behind the other.

    So a version is similar to some before it and some after it, and unlike all others.
    """

    seed: int
    document_bytes: float

    def relate(self, numbers: Int64s) -> Relations:
        """Return the kinds and originals of documents."""
        return _of_number(numbers, NEXT, numbers - 1)

    def words(self, numbers: Int64s) -> TextForms:
        """Return the words of some documents."""
        length = words_for(self.document_bytes)
        step = max(1, length // 100)
        rounds, done = np.divmod(numbers * step, length)
        return write_words(
            [
                _segment(self.seed, numbers, rounds + 1, numbers * 0, done),
                _segment(self.seed, numbers, rounds, done, length - done),
            ]
        )


def _of_number(numbers: Int64s, kind: int, of: Int64s) -> Relations:
    """Relate all documents but the first in one way."""
    kinds = np.where(numbers > 0, kind, ORIGINAL).astype(np.uint8)
    return Relations(kinds, np.where(numbers > 0, of, -1))


def _segment(
    seed: int, numbers: Int64s, texts: Int64s, starts: Int64s, lengths: Int64s | int
) -> Segments:
    """Return a segment of each document, of texts that have numbers."""
    keys = draw(texts.astype(np.uint64), seed << 8)
    return Segments(keys, starts, np.broadcast_to(lengths, len(numbers)).astype(np.int64))


KINDS: dict[str, type[Ordinary | Copies | Bucket | Chain]] = {
    "ordinary": Ordinary,
    "copies": Copies,
    "bucket": Bucket,
    "chain": Chain,
    "short": Ordinary,
}
DEFAULT_BYTES = {"short": 50.0}


def make_kind(name: str, seed: int, document_bytes: float) -> Kind:
    """Return a collection of a kind."""
    return KINDS[name](seed, document_bytes)
