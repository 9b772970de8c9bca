"""Documents of some collections, numbered together, and which of them have the same content."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import read_comparable
from neardup.reading.sign import ReadingPlan
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s, ShingleSets, WeightedSets


class NumberedContents(ABC):
    """The documents of some collections, one behind the other, and their contents.

    A content is known by its first document in keep order: ``firsts`` has that of each document, -1
    for one without tokens. ``ranks`` are the documents' places in keep order, None if that is their
    own.
    """

    firsts: Int64s
    ranks: Int64s | None

    @property
    @abstractmethod
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections, in the order in which their documents are numbered."""

    @property
    def is_content(self) -> Bools:
        """Which documents stand for a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the contents."""
        return int(np.count_nonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the places of some documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return how many tokens some documents have."""
        n_tokens: Int64s = np.empty(len(documents), np.int64)
        first = 0
        for catalogue in self.catalogues:
            is_here = (documents >= first) & (documents < first + len(catalogue))
            n_tokens[is_here] = catalogue.n_tokens[documents[is_here] - first]
            first += len(catalogue)
        return n_tokens

    def read_comparable(
        self, documents: Int64s, reading: ReadingPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read what the measure compares of some documents."""
        return read_comparable(
            self.catalogues, self.places_by_catalogue(documents), reading, runner
        )

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's place among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places

    def places_by_catalogue(self, documents: Int64s) -> list[Int64s]:
        """Return ``places_of`` for the documents of each collection."""
        return self.by_catalogue(self.places_of(documents))

    def by_catalogue(self, values: Int64s) -> list[Int64s]:
        """Cut an array that has a value for each document into one for each collection."""
        return np.split(values, np.cumsum([len(each) for each in self.catalogues])[:-1])
