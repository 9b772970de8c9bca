"""Exact truth about near-duplicates, in plain Python and NumPy. Imports nothing of neardup.

Words are what ``\\w+`` finds in the casefolded text, shingles five consecutive words, or all of
them where there are fewer, documents sets of shingles, similarity is Jaccard's. Every pair of
documents that share a shingle is counted through an inverted index; nothing is sampled or hashed.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

NGRAM = 5
LEAST = Fraction(1, 2)

Integers = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

find_words = re.compile(r"\w+").findall

# Latin letters up to modifiers, and punctuation. Within these all definitions of a word agree;
# they differ for combining marks and for scripts written without spaces.
is_latin = re.compile(r"[\x00-\u02ff\u2000-\u20cf]*").fullmatch


def write_latin_part(source: Path, target: Path) -> tuple[int, int]:
    """Copy the documents whose words nobody can dispute."""
    copied = left_out = 0
    open_lines = gzip.open if source.suffix == ".gz" else open
    with open_lines(source, "rb") as lines, target.open("wb") as part:
        for line in lines:
            if is_latin(json.loads(line)["text"].casefold()):
                part.write(line)
                copied += 1
            else:
                left_out += 1
    return copied, left_out


@dataclass(frozen=True)
class Truth:
    """All pairs of documents with a similarity of at least 1/2.

    The arrays have an entry for each pair: numbers of the two documents, the earlier one first in
    the pair and pairs ordered by the later one, shingles in common and shingles in all.
    """

    ids: list[str]
    sets: list[frozenset[int]]
    earlier: Integers
    later: Integers
    common: Integers
    union: Integers

    def reaches(self, threshold: Fraction) -> Bools:
        """Return for each pair whether its similarity is at least the threshold, exactly."""
        selected: Bools = self.common * threshold.denominator >= self.union * threshold.numerator
        return selected

    def removals(self, threshold: Fraction) -> set[int]:
        """Decide in the order of the file: who is similar to one that stays goes."""
        gone: set[int] = set()
        chosen = self.reaches(threshold)
        pairs = zip(self.later[chosen].tolist(), self.earlier[chosen].tolist(), strict=True)
        for later, earlier in pairs:
            if earlier not in gone:
                gone.add(later)
        return gone

    def lone_pairs(self, threshold: Fraction) -> Bools:
        """Return for each pair whether both are similar to each other and to no other document."""
        chosen = self.reaches(threshold)
        ends = np.concatenate([self.earlier[chosen], self.later[chosen]])
        partners = np.bincount(ends, minlength=len(self.ids))
        lone: Bools = chosen & (partners[self.earlier] == 1) & (partners[self.later] == 1)
        return lone

    def is_similar(self, first: int, second: int, threshold: Fraction) -> bool:
        """Return whether two documents are similar, by their sets."""
        common = len(self.sets[first] & self.sets[second])
        union = len(self.sets[first] | self.sets[second])
        return union > 0 and Fraction(common, union) >= threshold


def find_truth(path: Path) -> Truth:
    """Compute the truth about JSON lines with ``id`` and ``text``."""
    ids: list[str] = []
    sets: list[frozenset[int]] = []
    numbers: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            ids.append(record["id"])
            found = _shingles(find_words(record["text"].casefold()))
            sets.append(frozenset(numbers.setdefault(shingle, len(numbers)) for shingle in found))
    return Truth(ids, sets, *_similar_pairs(sets, len(numbers)))


def _shingles(words: list[str]) -> set[str]:
    if len(words) < NGRAM:
        return {" ".join(words)} if words else set()
    return {" ".join(words[start : start + NGRAM]) for start in range(len(words) - NGRAM + 1)}


def _similar_pairs(
    sets: Sequence[frozenset[int]], n_shingles: int
) -> tuple[Integers, Integers, Integers, Integers]:
    """Count the common shingles of every document with all earlier ones; keep similar pairs."""
    sizes = np.array([len(elements) for elements in sets], np.int64)
    flat = np.fromiter((e for elements in sets for e in elements), np.int64, int(sizes.sum()))
    owners = np.repeat(np.arange(len(sets)), sizes)
    postings = owners[np.argsort(flat, kind="stable")]
    ends = np.cumsum(np.bincount(flat, minlength=n_shingles))
    starts = np.concatenate([[0], ends[:-1]])
    parts = []
    for later, elements in enumerate(sets):
        if elements:
            lists = [postings[starts[e] : ends[e]] for e in elements]
            common = np.bincount(np.concatenate(lists), minlength=later)[:later]
            union = sizes[later] + sizes[:later] - common
            similar = common * LEAST.denominator >= union * LEAST.numerator
            earlier = np.flatnonzero(similar)
            pairs = (earlier, np.full(len(earlier), later), common[earlier], union[earlier])
            parts.append(np.stack(pairs))
    joined = np.concatenate(parts, axis=1) if parts else np.empty((4, 0), np.int64)
    earlier, later_ones, common, union = joined.astype(np.int64)
    return earlier, later_ones, common, union
