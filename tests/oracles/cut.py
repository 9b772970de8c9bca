"""What is cut out of texts, by brute force: one text after the other, looked up in all that stays.

Here a passage is the places of its tokens in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracles import alignment, units
from tests.oracles.alignment import Hit, Plan, Tokens

Places = list[int]


class Removal(NamedTuple):
    """Places that go out of a text, for places that stay in one."""

    gone_in: int
    gone: Places
    kept_in: int
    kept: Places
    similarity: float

    def row(self) -> tuple[int, int, int, int, int, int, float]:
        """Text, start and stop of what goes and of what stays; how similar they are."""
        gone, kept = _span(self.gone), _span(self.kept)
        return (
            *(self.gone_in, gone.start, gone.stop, self.kept_in, kept.start, kept.stop),
            self.similarity,
        )


@dataclass
class State:
    """What is left of a text, what goes of that, and repeats of its own that may not go."""

    left: Places
    removals: list[Removal] = field(default_factory=list)
    put_back: list[Removal] = field(default_factory=list)


class Cutter:
    """Texts in keep order, of which the first ``n_others`` all stay; nothing goes but for them.

    A text that had to take back so many of its own repeats keeps all of them.
    """

    def __init__(
        self, texts: Sequence[Tokens], plan: Plan, n_others: int | None = None, most_back: int = 20
    ) -> None:
        self.texts, self.plan, self.most_back = texts, plan, most_back
        self.n_others = n_others
        # What is left of each text that stays.
        self.stays = {text: list(range(len(texts[text]))) for text in range(n_others or 0)}

    def cut(self, min_documents: int = 0) -> list[Removal]:
        removals = []
        for text in range(self.n_others or 0, len(self.texts)):
            states = self._cut_text(text)
            removals += [each for state in states for each in state.removals]
            if self.n_others is None:
                self.stays[text] = states[-1].left
        return enough(removals, min_documents)

    def _cut_text(self, text: int) -> list[State]:
        states, n_back = [State(list(range(len(self.texts[text]))))], 0
        while True:
            state = states[-1]
            state.removals = self._for_others(text, state.left)
            if not state.removals and self.n_others is None and n_back < self.most_back:
                state.removals = self._for_itself(text, state)
            if not state.removals:
                return states
            broken = self._broken_by(state.removals, states[:-1])
            if broken is None:
                gone = {place for each in state.removals for place in each.gone}
                states.append(State([place for place in state.left if place not in gone]))
                continue
            number, removal = broken
            n_back += 1
            if n_back == self.most_back:
                number = min(k for k, each in enumerate(states) if _is_own(each.removals[0]))
            del states[number + 1 :]
            states[number].put_back.append(removal)

    def _broken_by(
        self, removals: Sequence[Removal], states: Sequence[State]
    ) -> tuple[int, Removal] | None:
        gone = {place for each in removals for place in each.gone}
        for number, state in enumerate(states):
            for each in state.removals:
                if _is_own(each) and gone & set(each.kept):
                    return number, each
        return None

    def _for_others(self, text: int, left: Places) -> list[Removal]:
        """What goes for texts before: each window is compared with the text that has most."""
        query = self._tokens(text, left)
        found = {
            other: alignment.hits(query, self._tokens(other, places), self.plan)
            for other, places in self.stays.items()
        }
        chosen: list[Removal] = []
        done: set[int] = set()
        for other in sorted(found, key=lambda other: (-_evidence(found[other]), other)):
            hits = [
                hit
                for hit in found[other]
                if hit.match.query_start not in done
                and not any(
                    left[k] in each.gone
                    for each in chosen
                    for k in range(hit.match.query_start, hit.match.query_stop)
                )
            ]
            done |= {hit.match.query_start for hit in hits}
            made = self._made(text, left, other, self.stays[other], hits)
            for _, each in sorted(made, key=lambda row: row[0]):
                if not any(set(each.gone) & set(before.gone) for before in chosen):
                    chosen.append(each)
        return chosen

    def _for_itself(self, text: int, state: State) -> list[Removal]:
        """What a text has further on, from its beginning."""
        tokens = self._tokens(text, state.left)
        hits = alignment.hits(tokens, tokens, self.plan, is_own=True)
        made = self._made(text, state.left, text, state.left, hits)
        chosen: list[Removal] = []
        for _, each in sorted(made, key=lambda row: (row[1].gone[0], row[0])):
            in_the_way = any(
                set(each.gone) & {*other.gone, *other.kept} or set(each.kept) & set(other.gone)
                for other in chosen
            )
            if each not in state.put_back and not in_the_way:
                chosen.append(each)
        return chosen

    def _made(
        self, text: int, left: Places, other: int, places: Places, hits: Sequence[Hit]
    ) -> Iterator[tuple[tuple[float, ...], Removal]]:
        """Yield passages, each with a key: those that share most come first."""
        is_own = text == other
        query, document = self._tokens(text, left), self._tokens(other, places)
        for match, exact in alignment.settle(query, document, hits, self.plan, is_own=is_own):
            similarity = float(exact)
            spans = [range(*match[:2]), range(*match[2:])]
            gone, kept = spans[::-1] if is_own else spans
            size = len(gone) + len(kept)
            removal = Removal(
                text, [left[k] for k in gone], other, [places[k] for k in kept], similarity
            )
            key = (-similarity * size / (1 + similarity), -similarity, gone.start, gone.stop)
            yield (*key, removal.kept[0], removal.kept[-1]), removal

    def _tokens(self, text: int, places: Places) -> Tokens:
        return tuple(self.texts[text][place] for place in places)


def enough(removals: list[Removal], min_documents: int) -> list[Removal]:
    """Leave out what too few texts have, and what was compared without that."""
    back = [
        each
        for each in removals
        if len(
            {each.kept_in}
            | {
                other.gone_in
                for other in removals
                if other.kept_in == each.kept_in
                and 2 * _common(_span(each.kept), _span(other.kept)) >= len(_span(each.kept))
            }
        )
        < min_documents
    ]
    while True:
        more = [
            each
            for each in removals
            if each not in back
            and any(
                _reaches_over(each.gone_in, each.gone, other)
                or _reaches_over(each.kept_in, each.kept, other)
                for other in back
            )
        ]
        if not more:
            return [each for each in removals if each not in back]
        back += more


def _reaches_over(text: int, places: Places, other: Removal) -> bool:
    """Whether places of a text lie on both sides of others that went before."""
    span, inner = _span(places), _span(other.gone)
    return text == other.gone_in and span.start < inner.start and inner.stop < span.stop


def _is_own(removal: Removal) -> bool:
    return removal.gone_in == removal.kept_in


def _evidence(hits: Sequence[Hit]) -> float:
    best: dict[int, float] = {}
    for hit in hits:
        start = hit.match.query_start
        best[start] = max(best.get(start, 0.0), hit.similarity)
    return sum(best[start] for start in sorted(best))


def _span(places: Places) -> range:
    return range(places[0], places[-1] + 1)


def _common(one: range, other: range) -> int:
    return max(min(one.stop, other.stop) - max(one.start, other.start), 0)


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
