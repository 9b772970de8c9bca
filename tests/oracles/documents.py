"""An index of documents as a list that is looked through from end to end."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles.measures import Elements, rank_of_sets, sets_reach, value

Tokens = Sequence[Hashable]


@dataclass(frozen=True)
class Document:
    """One that is there; ``number`` counts all that ever were."""

    number: int
    id: str
    tokens: tuple[Hashable, ...]
    elements: Elements


@dataclass(frozen=True)
class Gone:
    """One that went for a document, by the number of that."""

    id: str
    tokens: tuple[Hashable, ...]
    number: int
    rank: Fraction


@dataclass
class Index:
    """All documents in the order of their addition, and those that went for one of them."""

    measure: str
    threshold: Fraction
    elements: Callable[[Tokens], Elements]
    documents: list[Document] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    n_ever: int = 0

    def copy(self) -> Index:
        other = copy(self)
        other.documents, other.gone = list(self.documents), list(self.gone)
        return other

    def ids(self) -> list[str]:
        return [document.id for document in self.documents]

    def insert(self, identifier: str, tokens: Tokens) -> None:
        assert identifier not in self.ids()
        new = Document(self.n_ever, identifier, tuple(tokens), self.elements(tokens))
        self.documents.append(new)
        self.n_ever += 1

    def query(self, tokens: Tokens, threshold: Fraction | None = None) -> list[tuple[str, float]]:
        """Give ids and similarities, the most similar first, on a tie as they were added."""
        found = self._similar(tokens, self.threshold if threshold is None else threshold)
        return [(document.id, value(self.measure, rank)) for rank, document in found]

    def insert_if_new(
        self, identifier: str, tokens: Tokens, threshold: Fraction | None = None
    ) -> str | None:
        asked = self.threshold if threshold is None else threshold
        answer = self._answer(tuple(tokens), asked) if tokens else None
        if answer is None:
            self.insert(identifier, tokens)
            return None
        rank, document = answer
        if document.id != identifier:
            self.gone.append(Gone(identifier, tuple(tokens), document.number, rank))
        return document.id

    def remove(self, identifiers: Iterable[str]) -> list[tuple[str, str]]:
        """Take documents out; gives what had gone for them, and for which."""
        removed = {d.number: d.id for d in self.documents if d.id in set(identifiers)}
        self.documents = [d for d in self.documents if d.number not in removed]
        orphans = [(each.id, removed[each.number]) for each in self.gone if each.number in removed]
        self.gone = [each for each in self.gone if each.number not in removed]
        return orphans

    def _similar(self, tokens: Tokens, threshold: Fraction) -> list[tuple[Fraction, Document]]:
        elements = self.elements(tokens)
        found = [
            (rank_of_sets(self.measure, elements, document.elements), document)
            for document in self.documents
            if elements
            and document.elements
            and sets_reach(self.measure, elements, document.elements, threshold)
        ]
        return sorted(found, key=lambda pair: (-pair[0], pair[1].number))

    def _answer(
        self, tokens: tuple[Hashable, ...], threshold: Fraction
    ) -> tuple[Fraction, Document] | None:
        """Give the first copy, else the most similar."""
        for document in self.documents:
            if document.tokens == tokens:
                return Fraction(1), document
        similar = self._similar(tokens, threshold)
        return similar[0] if similar else None
