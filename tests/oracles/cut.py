"""What is cut out of texts, by brute force: all pairs of texts compared again in every round.

Here a passage is the places of its tokens in a text, and texts are what is left after all removals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.oracles import units

Tokens = tuple[int, ...]
Places = list[int]
Match = tuple[int, int, int, int]
Align = Callable[[Tokens, Tokens, bool, frozenset[int]], list[tuple[Match, float]]]
"""Finds what two texts share, or one with itself: places in both, and how similar these are.

Hits that have one of some tokens of the second text are left out.
"""


@dataclass(eq=False)
class Removal:
    """Places that go out of a text, for what stays in one; ``taken`` were those left."""

    gone_in: int
    gone: range
    kept_in: int
    kept: range
    similarity: float
    gone_places: Places
    kept_places: Places
    taken: set[int]

    def row(self) -> tuple[int, int, int, int, int, int, float]:
        """Text, start and stop of what goes and of what stays; how similar they are."""
        gone, kept = self.gone, self.kept
        return (
            *(self.gone_in, gone.start, gone.stop, self.kept_in, kept.start, kept.stop),
            self.similarity,
        )


class Cutter:
    """Texts in keep order, and ``others``, which all stay, numbered behind them."""

    def __init__(
        self,
        texts: Sequence[Tokens],
        align: Align,
        others: Sequence[Tokens] | None = None,
        min_documents: int = 0,
        free_rounds: int = 20,
    ) -> None:
        self.texts = [*texts, *(others or [])]
        self.n_own, self.align, self.min_documents = len(texts), align, min_documents
        self.turns = range(len(texts), len(self.texts)) if others is not None else range(len(texts))
        self.removals: list[Removal] = []
        # After these, what is named as a reason does not go any more.
        self.free_rounds, self.n_rounds = free_rounds, 0

    def left(self, text: int) -> Places:
        gone = {p for removal in self.removals if removal.gone_in == text for p in removal.taken}
        return [p for p in range(len(self.texts[text])) if p not in gone]

    def cut(self) -> list[Removal]:
        before: list[Places] = []
        while (now := [self.left(text) for text in range(self.n_own)]) != before:
            before = now
            self.n_rounds += 1
            for text in self.turns:
                own = [each for each in self._candidates(text, now) if each.gone_in == text]
                taken: list[Removal] = []
                for each in own:
                    if not any(_in_the_way(each, other) for other in taken) and self._go(each):
                        taken.append(each)
                for each in self._candidates(text, now):
                    if each.gone_in != text:
                        self._go(each)
        return self.removals

    def _candidates(self, text: int, before: list[Places]) -> list[Removal]:
        """What texts as they were before a round have of one as it is now, most similar first."""
        query = self.left(text)
        found = []
        for other in range(self.n_own):
            is_own = other == text
            if (other < text < self.n_own) or (is_own and before[other] != query):
                continue
            places, still = before[other], set(self.left(other))
            # To count texts it does not matter what has gone from them.
            lost = frozenset(
                k for k, p in enumerate(places) if p not in still and not self.min_documents
            )
            for (start, stop, first, last), similarity in self.align(
                self._tokens(text, query), self._tokens(other, places), is_own, lost
            ):
                kept, gone = query[start:stop], places[first:last]
                found.append(
                    Removal(other, _span(gone), text, _span(kept), similarity, gone, kept, set())
                )
        found = [
            each
            for each in found
            if self._has_enough(each, found)
            and set(each.gone_places) <= set(self.left(each.gone_in))
            and not (self.n_rounds > self.free_rounds and self._undone_by(each))
        ]
        return sorted(
            found, key=lambda r: (-r.similarity, r.gone_in, *_ends(r.gone), *_ends(r.kept))
        )

    def _tokens(self, text: int, places: Places) -> Tokens:
        return tuple(self.texts[text][place] for place in places)

    def _has_enough(self, each: Removal, found: Sequence[Removal]) -> bool:
        alike = {
            other.gone_in for other in found if 2 * _common(each.kept, other.kept) >= len(each.kept)
        }
        return len({each.kept_in} | alike) >= self.min_documents

    def _go(self, removal: Removal) -> bool:
        """Take a passage out, unless it or its reason is not as it was when they were compared."""
        left = [p for p in self.left(removal.gone_in) if p in removal.gone]
        kept = [p for p in self.left(removal.kept_in) if p in removal.kept]
        if not left or not set(left) <= set(removal.gone_places) or kept != removal.kept_places:
            return False
        undone = self._undone_by(removal)
        for other in undone:
            for text, span in ((removal.gone_in, removal.gone), (removal.kept_in, removal.kept)):
                if other.gone_in == text and not other.taken.isdisjoint(span):
                    return False
        self.removals = [other for other in self.removals if other not in undone]
        removal.taken = set(left)
        self.removals.append(removal)
        return True

    def _undone_by(self, removal: Removal) -> list[Removal]:
        """Removals whose reason goes, those made in view of them, and so on."""
        undone: list[Removal] = []
        lost = [removal]
        while lost:
            each = lost.pop()
            position = self.removals.index(each) if each in self.removals else len(self.removals)
            for k, other in enumerate(self.removals):
                names_it = other.kept_in == each.gone_in and _common(other.kept, each.gone)
                overlaps = other.gone_in == each.gone_in and _common(other.gone, each.gone)
                if other not in undone and (names_it or (overlaps and k > position)):
                    undone.append(other)
                    lost.append(other)
        return undone


def _span(places: Places) -> range:
    return range(places[0], places[-1] + 1)


def _ends(span: range) -> tuple[int, int]:
    return span.start, span.stop


def _common(one: range, other: range) -> int:
    return max(min(one.stop, other.stop) - max(one.start, other.start), 0)


def _in_the_way(removal: Removal, other: Removal) -> bool:
    """Whether one of two removals of a text takes what the other names."""
    return bool(_common(removal.kept, other.gone) or _common(removal.gone, other.kept))


Unit = tuple[int, int, int, int]
"""Document, start, stop and end: the unit, and that with what ends it."""


def list_units(
    texts: Sequence[str], unit: str, min_tokens: int, tokens_of: Callable[[str], Sequence[object]]
) -> list[Unit]:
    """List the units of texts that have enough tokens, text by text."""

    def split(text: str) -> list[units.Unit]:
        if unit == "sentences":
            return units.spans(text, lambda sentence: bool(tokens_of(sentence)))
        return units.lines(text) if unit == "lines" else units.paragraphs(text)

    return [
        (number, start, stop, end)
        for number, text in enumerate(texts)
        for start, stop, end in split(text)
        if len(tokens_of(text[start:stop])) >= min_tokens
    ]


def unit_rows(
    listed: Sequence[Unit], keepers: Sequence[int], min_documents: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Which units go, each with what ends it, for those at ``keepers`` that enough texts have.

    Rows are text, start and end, and text, start and stop of what stays.
    """
    having = [
        {listed[k][0]}
        | {unit[0] for unit, keeper in zip(listed, keepers, strict=True) if keeper == k}
        for k in range(len(listed))
    ]
    return sorted(
        (text, start, end, *listed[keeper][:3])
        for (text, start, _, end), keeper in zip(listed, keepers, strict=True)
        if keeper >= 0 and len(having[keeper]) >= min_documents
    )


def equal_keepers(contents: Sequence[object], n_against: int | None = None) -> list[int]:
    """Which unit each goes for, -1 for none: the first of the same content, of all or some.

    Given the contents of units in the order in which they stay. With ``n_against`` the first units
    are those of other texts, all of which stay, and nothing else goes but for them.
    """
    firsts = [list(contents).index(content) for content in contents]
    if n_against is None:
        return [first if first < k else -1 for k, first in enumerate(firsts)]
    return [first if first < n_against <= k else -1 for k, first in enumerate(firsts)]
