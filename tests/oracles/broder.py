"""Broder's sketches and what is read from them, as sets and fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.hashing import ALL, mix


def permute(elements: Iterable[int], seed: int) -> set[int]:
    key = mix(mix(seed) ^ ALL)
    return {mix(x ^ key) for x in elements}


def smallest(elements: Iterable[int], size: int) -> list[int]:
    return sorted(set(elements))[:size]


def multiples(elements: Iterable[int], modulus: int) -> list[int]:
    return sorted({x for x in elements if x % modulus == 0})


def fitting_modulus(n_elements: int, size: int) -> int:
    """The power of two for which size * modulus <= n < 2 * size * modulus; 1 below ``size``."""
    modulus = 1
    while n_elements >= 2 * size * modulus:
        modulus *= 2
    return modulus


def resemblance_counts(
    a: Set[int], b: Set[int], *, size: int | None = None, modulus: int = 1
) -> tuple[int, int]:
    """Give, for two permuted sets, the common elements in the sample of the union, and its size.

    With ``size`` the sample is the smallest ones, all of them where both sets are smaller; else
    the multiples of the modulus.
    """
    union = sorted(x for x in a | b if x % modulus == 0)
    if size is not None and (len(a) >= size or len(b) >= size):
        union = union[:size]
    return len(set(union) & a & b), len(union)


def containment_counts(a: Set[int], b: Set[int], modulus: int) -> tuple[int, int]:
    own = {x for x in a if x % modulus == 0}
    return len(own & b), len(own)


@dataclass
class Cluster:
    representative: int
    members: list[int]


def greedy_clusters(
    sketches: Sequence[tuple[Set[int], int, bool]],
    threshold: Fraction,
    *,
    size: int | None,
    min_samples: int,
) -> list[Cluster]:
    """Join each sketch, in order, to the cluster whose first member it resembles most.

    A sketch is its values, its modulus, and whether it is the whole set. A cluster is joined if the
    estimate reaches the threshold and rests on enough samples or on whole sets; the earliest of the
    best is.
    """
    clusters: list[Cluster] = []
    for d, (values, modulus, is_whole) in enumerate(sketches):
        best, best_estimate = None, Fraction(0)
        for cluster in clusters:
            other, other_modulus, other_is_whole = sketches[cluster.representative]
            exact = is_whole and other_is_whole
            coarser = 1 if exact else max(modulus, other_modulus)
            union = sorted(x for x in values | other if x % coarser == 0)
            union = union if exact or size is None else union[:size]
            common = len(set(union) & values & other)
            if not common or not (exact or len(union) >= min_samples):
                continue
            estimate = Fraction(common, len(union))
            if estimate >= threshold and estimate > best_estimate:
                best, best_estimate = cluster, estimate
        if best is None:
            clusters.append(Cluster(d, [d]))
        else:
            best.members.append(d)
    return clusters
