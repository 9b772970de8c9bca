"""Filters and what they leave of components, by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from tests.oracles.measures import reaches


def n_bits(n_shingles: int, bits_per_shingle: int, most: int) -> int:
    bits = 64
    while bits < bits_per_shingle * n_shingles and bits < most:
        bits *= 2
    return bits


def bits_of(shingles: Sequence[int], bits: int, measure: str) -> set[int]:
    """Give the bits that shingles set, or of which an odd number of shingles turns each."""
    places = [shingle % bits for shingle in set(shingles)]
    return {place for place in places if is_contained(measure) or places.count(place) % 2}


def is_contained(measure: str) -> bool:
    return measure in ("containment", "max-containment")


@dataclass(frozen=True)
class Document:
    """Shingles with repeats, the number of bits of their filter, and a key for each band."""

    shingles: Sequence[int]
    bits: int
    keys: Sequence[int] = ()
    is_fixed: bool = False


def may_reach(
    x: Document, y: Document, measure: str, threshold: Fraction, *, either_way: bool = False
) -> bool:
    """Whether two filters leave it open that x is similar to y."""
    x_size, y_size = len(set(x.shingles)), len(set(y.shingles))
    fewest = min(x.bits, y.bits)
    if is_contained(measure):
        x_bits, y_bits = (bits_of(each.shingles, each.bits, measure) for each in (x, y))
        # A bit is one that the other lacks if none of the other's may stand for the same shingle.
        x_only = sum(bit % fewest not in {b % fewest for b in y_bits} for bit in x_bits)
        y_only = sum(bit % fewest not in {b % fewest for b in x_bits} for bit in y_bits)
        common = min(x_size - x_only, y_size - y_only)
    else:
        x_bits, y_bits = (bits_of(each.shingles, fewest, measure) for each in (x, y))
        common = min((x_size + y_size - len(x_bits ^ y_bits)) // 2, x_size, y_size)
    sides = [(x_size, y_size), (y_size, x_size)] if either_way else [(x_size, y_size)]
    return any(reaches(measure, common, a, b, threshold) for a, b in sides)


def firsts(
    documents: Sequence[Document],
    components: Sequence[int],
    measure: str,
    threshold: Fraction,
    *,
    with_fixed: bool,
    either_way: bool,
    most_documents: int,
    most_pairs: int,
) -> list[int]:
    """Give for each document the first of those that are still connected with it."""
    labels = list(range(len(documents)))
    for component in set(components):
        members = [d for d, other in enumerate(components) if other == component]
        pairs = [
            (a, b, same)
            for a, b in combinations(members, 2)
            if (same := _n_common_keys(documents[a].keys, documents[b].keys))
        ]
        if len(members) > most_documents or sum(same for *_, same in pairs) > most_pairs * len(
            members
        ):
            for d in members:
                labels[d] = members[0]
            continue
        for earlier, later, _ in pairs:
            y, x = documents[earlier], documents[later]
            if x.is_fixed and y.is_fixed and not with_fixed:
                continue
            if may_reach(x, y, measure, threshold, either_way=either_way):
                _relabel(labels, labels[earlier], labels[later])
    return labels


def _n_common_keys(keys: Sequence[int], others: Sequence[int]) -> int:
    return sum(a == b for a, b in zip(keys, others, strict=True))


def _relabel(labels: list[int], one: int, other: int) -> None:
    for d, label in enumerate(labels):
        if label == max(one, other):
            labels[d] = min(one, other)
