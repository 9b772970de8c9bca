"""Texts that lose passages, each for one that stays, and take them back if that one goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from neardup.tables import Bools, Bytes, Floats, Int64s, Rows, TokenLists, Uint64s


@dataclass(frozen=True)
class RemovedPassages(Rows):
    """Passages that go, each for one that stays; arrays have a row for each.

    Starts and stops (exclusive) are tokens, counted in the whole document. Of a passage that spans
    a place where something had gone before, what is left is meant, on both sides. Rows are by
    document and start.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Passage:
    """A part of a text, in tokens of the whole document; ``stop`` is exclusive."""

    text: int
    start: int
    stop: int

    def meets(self, other: Passage) -> bool:
        """Return whether two passages have a place in common."""
        return self.common(other) > 0

    def common(self, other: Passage) -> int:
        """Return how many places two passages have in common."""
        if self.text != other.text:
            return 0
        return max(min(self.stop, other.stop) - max(self.start, other.start), 0)


@dataclass(frozen=True, slots=True)
class Mask:
    """Which tokens of a text, or of a part of it, are left: a bit for each."""

    bits: Bytes
    size: int

    @classmethod
    def of(cls, are_left: Bools) -> Mask:
        """Pack it."""
        return cls(np.packbits(are_left), len(are_left))

    def unpack(self) -> Bools:
        """Return it with a place for each token."""
        return np.unpackbits(self.bits, count=self.size).view(np.bool_)


@dataclass(frozen=True, eq=False, slots=True)
class Removal:
    """A passage that goes for one that stays; ``left`` are the tokens that were left of it."""

    gone: Passage
    kept: Passage
    similarity: float
    left: Mask = field(repr=False)

    def in_text(self) -> slice:
        """Return which tokens of the text the passage is."""
        return slice(self.gone.start, self.gone.stop)


class CutTexts:
    """Texts, what has gone out of each so far, and why.

    Parameters
    ----------
    tokens
        The texts, whole.
    others
        Texts that stay whatever happens, numbered behind these.
    order
        The order of the texts: text k is number ``order[k]`` of ``tokens``; None is as they are.

    Notes
    -----
    What is named as the reason of a removal stays: when some of it goes all the same, the removal
    is undone, and with it those after it that counted on the text as it was.
    """

    def __init__(
        self, tokens: TokenLists, others: TokenLists | None = None, order: Int64s | None = None
    ) -> None:
        self._tokens, self._others, self._order = tokens, others, order
        self.versions: Int64s = np.zeros(len(tokens) + self.n_others, np.int64)
        self._left: dict[int, Mask] = {}
        # In the order in which they were made.
        self._of_text: dict[int, list[Removal]] = defaultdict(list)
        self._kept_in: dict[int, list[Removal]] = defaultdict(list)

    def untouched(self) -> CutTexts:
        """Return the texts as they were before anything went."""
        return CutTexts(self._tokens, self._others, self._order)

    def whole(self, text: int) -> Uint64s:
        """Return a text as it was."""
        tokens = self._tokens
        if self._others is not None and text >= len(tokens):
            tokens, text = self._others, text - len(tokens)
        elif self._order is not None:
            text = int(self._order[text])
        start, stop = tokens.offsets[text : text + 2]
        return tokens.values[start:stop]

    def size(self, text: int) -> int:
        """Return how many tokens a text has had."""
        return len(self.whole(text))

    def sizes(self) -> Int64s:
        """Return how many tokens each text has had."""
        sizes = np.diff(self._tokens.offsets)
        if self._order is not None:
            sizes = sizes[self._order]
        others = [] if self._others is None else [np.diff(self._others.offsets)]
        return np.concatenate([sizes, *others])

    @property
    def n_others(self) -> int:
        """How many texts stay whatever happens."""
        return 0 if self._others is None else len(self._others)

    def mask(self, text: int) -> Mask | None:
        """Return which tokens of a text are left; None if it has lost none."""
        return self._left.get(text)

    def places_left(self, text: int) -> Int64s:
        """Return which tokens of a text are left."""
        left = self._are_left(text)
        if left is None:
            return np.arange(self.size(text), dtype=np.int64)
        return np.flatnonzero(left).astype(np.int64)

    def left(self, text: int) -> Uint64s:
        """Return the tokens of a text that are left."""
        return self.masked(text, self.mask(text))

    def masked(self, text: int, mask: Mask | None) -> Uint64s:
        """Return the tokens of a text that a mask leaves of it."""
        whole = self.whole(text)
        return whole if mask is None else whole[mask.unpack()]

    def has_lost(self, text: int, places: Int64s) -> bool:
        """Return whether any of some tokens of a text has gone."""
        left = self._are_left(text)
        return left is not None and not left[places].all()

    def has_any(self, text: int, places: Int64s) -> bool:
        """Return whether any of some tokens of a text is left."""
        left = self._are_left(text)
        return left is None or bool(left[places].any())

    def has_more(self, passage: Passage, places: Int64s) -> bool:
        """Return whether anything is left of a passage besides some tokens."""
        left = self._are_left(passage.text)
        if left is None:
            return len(places) < passage.stop - passage.start
        n_left = np.count_nonzero(left[passage.start : passage.stop])
        return bool(n_left > np.count_nonzero(left[places]))

    def undoes(self, gone: Passage) -> bool:
        """Return whether something would be taken back if a passage went."""
        return bool(self._standing_for(gone))

    def fills(self, gone: Passage, passages: Sequence[Passage]) -> bool:
        """Return whether what would be taken back if a passage went is in one of some passages."""
        return any(
            bool(removal.left.unpack()[_common(removal.gone, passage)].any())
            for removal in self._undone_by(gone)
            for passage in passages
            if passage.meets(removal.gone)
        )

    def remove(self, gone: Passage, kept: Passage, similarity: float) -> None:
        """Take what is left of a passage out of its text, for one that stays."""
        before = self._are_left(gone.text)
        n_tokens = gone.stop - gone.start
        inside = np.ones(n_tokens, np.bool_) if before is None else before[gone.start : gone.stop]
        removal = Removal(gone, kept, similarity, Mask.of(inside))
        for undone in self._undone_by(gone):
            self._undo(undone)
        left = self._are_left(gone.text)
        if left is None:
            left = np.ones(self.size(gone.text), np.bool_)
        left[removal.in_text()] &= ~removal.left.unpack()
        self._left[gone.text] = Mask.of(left)
        self.versions[gone.text] += 1
        self._of_text[gone.text].append(removal)
        self._kept_in[kept.text].append(removal)

    def lose(self, text: int, places: Bools) -> None:
        """Take some tokens out of a text, whatever they have gone for."""
        left = self._are_left(text)
        self._left[text] = Mask.of(~places if left is None else left & ~places)
        self.versions[text] += 1

    def removed(self) -> RemovedPassages:
        """Return what has gone, by text and place."""
        rows = sorted(
            (removal for removals in self._of_text.values() for removal in removals),
            key=lambda row: (row.gone.text, row.gone.start, row.gone.stop, row.kept.text),
        )

        def column(values: list[int]) -> Int64s:
            return np.array(values, np.int64)

        return RemovedPassages(
            column([row.gone.text for row in rows]),
            column([row.gone.start for row in rows]),
            column([row.gone.stop for row in rows]),
            column([row.kept.text for row in rows]),
            column([row.kept.start for row in rows]),
            column([row.kept.stop for row in rows]),
            np.array([row.similarity for row in rows], np.float64),
        )

    def _are_left(self, text: int) -> Bools | None:
        mask = self._left.get(text)
        return None if mask is None else mask.unpack()

    def _standing_for(self, place: Passage) -> list[Removal]:
        """Return the removals whose kept passage a place meets."""
        named = self._kept_in.get(place.text, ())
        return [removal for removal in named if removal.kept.meets(place)]

    def _undone_by(self, gone: Passage) -> list[Removal]:
        """Return the removals that do not stand without a passage, nor without each other."""
        undone: list[Removal] = []
        found = self._standing_for(gone)
        while found:
            removal = found.pop()
            if removal in undone:
                continue
            undone.append(removal)
            own = self._of_text[removal.gone.text]
            later = own[own.index(removal) + 1 :]
            found += [other for other in later if other.gone.meets(removal.gone)]
            found += self._standing_for(removal.gone)
        return undone

    def _undo(self, removal: Removal) -> None:
        """Put back what went; no other removal has taken any of it."""
        self._of_text[removal.gone.text].remove(removal)
        self._kept_in[removal.kept.text].remove(removal)
        left = self._left[removal.gone.text].unpack()
        left[removal.in_text()] |= removal.left.unpack()
        self._left[removal.gone.text] = Mask.of(left)
        self.versions[removal.gone.text] += 1


def _common(whole: Passage, other: Passage) -> slice:
    """Return which places of a passage another one has, which meets it."""
    stop = min(whole.stop, other.stop)
    return slice(max(other.start - whole.start, 0), stop - whole.start)
