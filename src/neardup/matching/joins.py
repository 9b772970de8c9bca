"""The ways to find pairs of records, one face for all: sets, strings, and sets through buckets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from neardup.matching.bucket_join import join_buckets
from neardup.matching.edit_join import EditThreshold, join_strings
from neardup.matching.measures import Measure
from neardup.matching.measures.thresholds import falling_shares
from neardup.matching.set_join import Algorithm, join_sets
from neardup.tables import Buckets, Bytes, Floats, Int64s, ScoredPairs, ShingleSets, TokenLists

ReportDone = Callable[[int], None]


class Join(ABC):
    """Records that are all different, and how pairs of them are found.

    ``score_name`` says what a score is: the column's name in the output.
    """

    score_name: ClassVar[str]

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
    def run(
        self, sides: Bytes | None, limit: int | None, report: ReportDone
    ) -> tuple[ScoredPairs, Any]:
        """Find all pairs of records, and tell what the filters did."""

    @abstractmethod
    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Give the similarity of each pair of records."""

    @abstractmethod
    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Give what pairs are ranked by, the most similar highest: numerators, denominators."""

    @abstractmethod
    def steps(self) -> Iterator[Join]:
        """Give the same join with thresholds that fall, ending with its own."""


@dataclass(frozen=True)
class SetJoin(Join):
    """Sets, joined exactly."""

    sets: ShingleSets
    measure: Measure
    algorithm: Algorithm
    workers: int
    score_name: ClassVar[str] = "overlap"

    @property
    def is_directed(self) -> bool:
        """Whether (a, b) and (b, a) are different pairs."""
        return self.measure.is_directed

    @property
    def own_scores(self) -> Int64s:
        """Sizes."""
        return self.sets.sizes

    @property
    def twins(self) -> Int64s:
        """Sets that reach the threshold with themselves."""
        return self.measure.twins(self.sets.sizes)

    def run(
        self, sides: Bytes | None, limit: int | None, report: ReportDone
    ) -> tuple[ScoredPairs, Any]:
        """Join by prefixes."""
        return join_sets(
            self.sets,
            self.measure,
            sides=sides,
            algorithm=self.algorithm,
            workers=self.workers,
            limit=limit,
            progress=report,
        )

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Values of the measure."""
        left, right = self.sets.sizes[pairs.left], self.sets.sizes[pairs.right]
        return self.measure.similarities(pairs.scores, left, right)

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return what the measure ranks pairs by."""
        left, right = self.sets.sizes[pairs.left], self.sets.sizes[pairs.right]
        return self.measure.fractions(pairs.scores, left, right)

    def steps(self) -> Iterator[SetJoin]:
        """Lower the threshold."""
        for measure in self.measure.falling(int(self.sets.sizes.max(initial=0))):
            yield replace(self, measure=measure)


@dataclass(frozen=True)
class BucketJoin(SetJoin):
    """Sets, of which those are compared that share a bucket."""

    buckets: Buckets

    def run(
        self, sides: Bytes | None, limit: int | None, report: ReportDone
    ) -> tuple[ScoredPairs, Any]:
        """Compare the sets of each bucket."""
        return join_buckets(
            self.buckets,
            self.sets,
            self.measure,
            sides=sides,
            workers=self.workers,
            limit=limit,
            progress=report,
        )


@dataclass(frozen=True)
class EditJoin(Join):
    """Strings of tokens, joined by edit distance, exactly."""

    strings: TokenLists
    threshold: EditThreshold
    qgram: int | None
    workers: int
    score_name: ClassVar[str] = "distance"

    @property
    def is_directed(self) -> bool:
        """Never."""
        return False

    @property
    def own_scores(self) -> Int64s:
        """No edits."""
        return np.zeros(len(self.strings), np.int64)

    @property
    def twins(self) -> Int64s:
        """All strings."""
        return np.arange(len(self.strings))

    def run(
        self, sides: Bytes | None, limit: int | None, report: ReportDone
    ) -> tuple[ScoredPairs, Any]:
        """Join by q-grams."""
        return join_strings(
            self.strings,
            self.threshold,
            sides=sides,
            qgram=self.qgram,
            workers=self.workers,
            limit=limit,
            progress=report,
        )

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """1 - distance / length of the longer string."""
        longer = self._longer(pairs)
        similarities: Floats = (longer - pairs.scores) / longer
        return similarities

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Similarities, or distances where those are what is limited."""
        longer = self._longer(pairs)
        if self.threshold.similarity is None:
            ones = np.ones_like(longer)
            return int(pairs.scores.max(initial=0)) - pairs.scores, ones
        return longer - pairs.scores, longer

    def steps(self) -> Iterator[EditJoin]:
        """Allow more edits."""
        floor = self.threshold.similarity
        if floor is not None:
            for similarity in falling_shares(floor):
                yield replace(self, threshold=EditThreshold(None, similarity))
            return
        most = self.threshold.max_distance or 0
        for distance in (
            *(1 << power for power in range(most.bit_length()) if 1 << power < most),
            most,
        ):
            yield replace(self, threshold=EditThreshold(distance))

    def _longer(self, pairs: ScoredPairs) -> Int64s:
        lengths = np.diff(self.strings.offsets)
        longer: Int64s = np.maximum(lengths[pairs.left], lengths[pairs.right])
        return longer
