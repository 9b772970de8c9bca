"""Measures of passage alignment: precision, recall, granularity and plagdet.

The definitions are from the PAN evaluations. A case s and a detection r are sets of characters
of a query and of a document; r detects s if they have characters in common in both texts, and then
s n r (else nothing) is what r has right.

References
----------
Potthast, Stein, Barrón-Cedeño, Rosso (2010), An evaluation framework for plagiarism detection,
section 3: precision and recall by equations 1 (macro) and 2 (micro), granularity 3, plagdet 4.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Interval = tuple[int, int]
Side = tuple[bool, str]


@dataclass(frozen=True)
class Passage:
    """A part of a query and the part of a document that goes with it, in characters, ends
    exclusive."""

    query: str
    query_start: int
    query_stop: int
    document: str
    start: int
    stop: int

    def __len__(self) -> int:
        """Count the characters of both parts."""
        return (self.query_stop - self.query_start) + (self.stop - self.start)

    def common(self, other: Passage) -> Passage | None:
        """Return what two passages have in common, nothing unless they meet in both texts."""
        if (self.query, self.document) != (other.query, other.document):
            return None
        query_start = max(self.query_start, other.query_start)
        query_stop = min(self.query_stop, other.query_stop)
        start, stop = max(self.start, other.start), min(self.stop, other.stop)
        if query_start >= query_stop or start >= stop:
            return None
        return Passage(self.query, query_start, query_stop, self.document, start, stop)


@dataclass(frozen=True)
class Scores:
    """Scores of detections: between 0 and 1, granularity from 1 on."""

    precision: float
    recall: float
    granularity: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def plagdet(self) -> float:
        """Return F1 / log2(1 + granularity)."""
        return self.f1 / math.log2(1 + self.granularity)


def score(cases: Sequence[Passage], detections: Sequence[Passage]) -> dict[str, Scores]:
    """Compare detections with cases."""
    meetings = list(_meetings(cases, detections))
    of_case, of_detection = defaultdict(list), defaultdict(list)
    for case, detection, common in meetings:
        of_case[case].append(common)
        of_detection[detection].append(common)
    granularity = sum(map(len, of_case.values())) / len(of_case) if of_case else 1.0
    right = count_characters(common for _, _, common in meetings)
    return {
        "macro": Scores(
            _mean_share(detections, of_detection), _mean_share(cases, of_case), granularity
        ),
        "micro": Scores(
            _share(right, count_characters(detections)),
            _share(right, count_characters(cases)),
            granularity,
        ),
    }


def count_characters(passages: Iterable[Passage]) -> int:
    """Count the characters of all texts in any of the passages, each once."""
    return sum(map(length_of_union, intervals_of(passages).values()))


def intervals_of(passages: Iterable[Passage]) -> dict[Side, list[Interval]]:
    """Return the intervals of each text, by whether it is a document and its id."""
    intervals: dict[Side, list[Interval]] = defaultdict(list)
    for passage in passages:
        intervals[False, passage.query].append((passage.query_start, passage.query_stop))
        intervals[True, passage.document].append((passage.start, passage.stop))
    return intervals


def length_of_union(intervals: Iterable[Interval]) -> int:
    """Count what is in any of some intervals, once."""
    length, reached = 0, -1
    for start, stop in sorted(intervals):
        length += max(stop - max(start, reached), 0)
        reached = max(reached, stop)
    return length


def _meetings(
    cases: Sequence[Passage], detections: Sequence[Passage]
) -> Iterator[tuple[int, int, Passage]]:
    """Return the numbers of every case and detection that meet, and what they have in common."""
    of_pair: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        of_pair[case.query, case.document].append(number)
    for number, detection in enumerate(detections):
        for case_number in of_pair.get((detection.query, detection.document), ()):
            common = cases[case_number].common(detection)
            if common is not None:
                yield case_number, number, common


def _mean_share(passages: Sequence[Passage], right: dict[int, list[Passage]]) -> float:
    shares = [
        _share(count_characters(right.get(number, ())), len(passage))
        for number, passage in enumerate(passages)
    ]
    return sum(shares) / len(shares) if shares else 0.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
