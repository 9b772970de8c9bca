"""A collection that grows and loses documents, one document after the other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction

from tests.oracles.measures import Elements, rank_of_sets, sets_reach, value

Tokens = Sequence[Hashable]
# Of a document that goes: the id of the one that stays, their similarity, and whether it is a copy.
Removal = tuple[str, float, bool]


class GrowingCollection:
    """Documents that stay, in the order in which they came, and what went for each of them.

    ``set_of`` gives what is compared of a sequence of tokens. Whatever is similar is found.
    """

    def __init__(
        self, measure: str, threshold: Fraction, set_of: Callable[[Tokens], Elements]
    ) -> None:
        self.measure, self.threshold, self.set_of = measure, threshold, set_of
        self.stays: dict[str, tuple[Hashable, ...]] = {}
        self.went: list[tuple[str, tuple[Hashable, ...], str, float]] = []
        self.batch: list[tuple[str, tuple[Hashable, ...], str, float]] = []

    def offer(self, identifier: str, tokens: Tokens) -> Removal | None:
        """Take a document in, or say what it goes for."""
        removal = self._find(tuple(tokens))
        if removal is None:
            self.stays[identifier] = tuple(tokens)
        else:
            self.batch.append((identifier, tuple(tokens), removal[0], removal[1]))
        return removal

    def end_batch(self) -> None:
        """Let copies of what went in this batch be compared again."""
        self.went += self.batch
        self.batch = []

    def remove(self, identifiers: Iterable[str]) -> set[tuple[str, str, float]]:
        """Take documents out; give what had gone for them, which is forgotten."""
        taken = set(identifiers)
        for identifier in taken:
            del self.stays[identifier]
        orphans = {(d, kept, similarity) for d, _, kept, similarity in self.went if kept in taken}
        self.went = [each for each in self.went if each[2] not in taken]
        return orphans

    def _find(self, tokens: tuple[Hashable, ...]) -> Removal | None:
        if not tokens:
            return None
        for identifier, found in self.stays.items():
            if found == tokens:
                return identifier, 1.0, True
        for _, found, kept, similarity in self.batch:
            if found == tokens:
                return kept, similarity, False
        own = self.set_of(tokens)
        others = {each: self.set_of(found) for each, found in self.stays.items() if found}
        similar = {
            each: rank_of_sets(self.measure, own, other)
            for each, other in others.items()
            if own and other and sets_reach(self.measure, own, other, self.threshold)
        }
        if not similar:
            return None
        # The first of the most similar ones.
        best = max(similar, key=similar.__getitem__)
        return best, value(self.measure, similar[best]), False
