"""The protocol of joins: records, and how all similar pairs of them are found.

A record is what is joined: a set of shingles or a string of tokens. Several documents may have the
same record; joins see each once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from neardup.runtime.runner import Runner
from neardup.tables import Bytes, Floats, Int64s, ScoredPairs

# Sides of a join of two collections: a record of one of them, or of both (3).
LEFT, RIGHT = 1, 2


@dataclass(frozen=True)
class FilterCounts:
    """What each filter of a join let through: one field each, in their order."""

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """Add up the counts of several joins; a pair met in two of them counts twice."""
        names = vars(parts[0])
        return type(parts[0])(**{name: sum(getattr(p, name) for p in parts) for name in names})


class Scored(ABC):
    """Records that are all different, and how similar pairs of them are.

    ``score_name`` says what a score is: the column's name in the output; None for none.
    """

    score_name: ClassVar[str | None]

    @property
    @abstractmethod
    def is_directed(self) -> bool:
        """Whether (a, b) and (b, a) are different pairs."""

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
    """Records of which all similar pairs are found."""

    @abstractmethod
    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, FilterCounts]:
        """Find all pairs of records, and count what the filters did.

        Parameters
        ----------
        sides
            For a join of two collections (n,): ``LEFT``, ``RIGHT``, both or neither (0). Only pairs
            of records of different collections are found.
        limit
            Stop with an error at more pairs than this.
        runner
            Reports records probed as stage ``join``.

        Returns
        -------
        Pairs in ascending order: the left record before the right one, unless the join is directed.
        They do not depend on the runner.

        Raises
        ------
        ResultLimitError
            At more than ``limit`` pairs.
        """

    @abstractmethod
    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return what pairs are ranked by, the most similar highest: numerators, denominators."""

    @abstractmethod
    def steps(self) -> Iterator[Self]:
        """Yield the same join with thresholds that fall, ending with its own."""
