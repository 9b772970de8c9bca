"""Estimates of random sets against theory: the first tables of docs/papers/broder.md."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.papers.broder.texts import resemblance
from neardup.sketches.minhash import MinHashScheme, estimate_agreement, minhash_signatures
from neardup.sketches.samples import (
    ModuloScheme,
    SmallestScheme,
    estimate_containment,
    estimate_resemblance,
)
from neardup.tables import Estimates, SetSketches, ShingleLists, Signatures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Row = dict[str, Any]
Floats = npt.NDArray[np.float64]
# Kind and size of sketches, estimates, and what sharing of whole sketches gives.
Sketched = tuple[tuple[str, int], Estimates, Floats | None]

SIZES = (25, 50, 100, 200, 400, 800, 1600)
MODULI = (400, 200, 100, 50, 20, 10, 5)
SHARES = (10, 30, 50, 70, 90, 95)  # per cent
# Elements of the union of two sets, or of A where containment in B is asked for.
UNION = 8_000
TOLERANCE = 5  # per cent
TOLERANCE_SIZES = (100, 400)
CHUNK = 200


@dataclass(frozen=True)
class Sets:
    """Pairs of synthetic sets, and what is true of all of them."""

    left: ShingleLists
    right: ShingleLists

    @classmethod
    def draw(cls, generator: np.random.Generator, trials: int, sizes: tuple[int, int, int]) -> Sets:
        """Draw pairs with so many elements of A alone, of both, and of B alone."""
        own, common, other = sizes
        words = generator.integers(0, 2**64, (trials, own + common + other), np.uint64)
        return cls(_as_lists(words[:, : own + common]), _as_lists(words[:, own:]))


def _as_lists(words: npt.NDArray[np.uint64]) -> ShingleLists:
    n, width = words.shape
    offsets = np.arange(n + 1, dtype=np.int64) * width
    return ShingleLists(np.ascontiguousarray(words).reshape(-1), offsets)


def run_resemblance(trials: int, seed: int) -> list[Row]:
    """Estimate the resemblance of equally large sets with sketches of all kinds and sizes."""

    def sizes(common: int) -> tuple[int, int, int]:
        alone = (UNION - common) // 2
        return alone, common, alone

    return _run(trials, seed, sizes, _sketch_all)


def run_containment(trials: int, seed: int) -> list[Row]:
    """Estimate the containment of A in a B that is twice as large, with modulo sketches."""

    def sizes(common: int) -> tuple[int, int, int]:
        return UNION - common, common, 2 * UNION - common

    return _run(trials, seed, sizes, _contain)


def run_naive(trials: int, seed: int) -> list[Row]:
    """Put all of A into B: what sharing of whole sketches makes of that."""

    def sizes(common: int) -> tuple[int, int, int]:
        return 0, common, UNION - common

    def sketch(sets: Sets) -> Iterator[Sketched]:
        return (_sketch(sets, scheme) for scheme in (SmallestScheme(400), ModuloScheme(20)))

    return _run(trials, seed, sizes, sketch)


def _run(
    trials: int,
    seed: int,
    sizes: Callable[[int], tuple[int, int, int]],
    estimate: Callable[[Sets], Iterable[Sketched]],
) -> list[Row]:
    """Estimate pairs of sets of every share, whose sizes follow from the common elements."""
    generator = np.random.default_rng(seed)
    rows = []
    for percent in SHARES:
        found: dict[tuple[str, int], _Errors] = {}
        for part in _chunks(trials):
            sets = Sets.draw(generator, part, sizes(UNION * percent // 100))
            for key, estimates, naive in estimate(sets):
                found.setdefault(key, _Errors()).add(estimates, naive)
        rows += [
            {"kind": kind, "size": size, "percent": percent, **each.report(percent, UNION, kind)}
            for (kind, size), each in found.items()
        ]
    return rows


class _Errors:
    """Estimates of one share over trials."""

    def __init__(self) -> None:
        self._parts: list[Estimates] = []
        self._naive: list[Floats] = []

    def add(self, estimates: Estimates, naive: Floats | None = None) -> None:
        self._parts.append(estimates)
        if naive is not None:
            self._naive.append(naive)

    def report(self, percent: int, population: int, kind: str) -> Row:
        """Compare with theory; estimates without a sample are left out and counted."""
        values, low, high = (
            np.concatenate([getattr(part, name) for part in self._parts])
            for name in ("values", "low", "high")
        )
        samples = np.concatenate([part.n_samples for part in self._parts])
        some = samples > 0
        truth, n = percent / 100, samples[some].astype(np.float64)
        left = 1.0 if kind == "minhash" else (population - n) / (population - 1)
        theory = sqrt(truth * (1 - truth) * float(np.mean(left / n)))
        near = np.abs(100 * values[some] - percent) <= TOLERANCE + 1e-9
        return {
            "trials": int(some.sum()),
            "without_sample": int((~some).sum()),
            "samples": float(n.mean()),
            "bias": float(values[some].mean() - truth),
            "bias_in_errors": float((values[some].mean() - truth) / theory * sqrt(some.sum())),
            "deviation": float(values[some].std(ddof=1)),
            "theory": theory,
            "held": float(((low <= truth) & (truth <= high))[some].mean()),
            "near": float(near.mean()),
            "naive": float(np.concatenate(self._naive).mean()) if self._naive else None,
        }


def _sketch_all(sets: Sets) -> Iterator[Sketched]:
    """Estimate the resemblance of all pairs with all sketches."""
    for scheme in (*map(SmallestScheme, SIZES), *map(ModuloScheme, MODULI)):
        yield _sketch(sets, scheme)
    signatures = [
        minhash_signatures(each, MinHashScheme(SIZES[-1])) for each in (sets.left, sets.right)
    ]
    pairs = np.arange(len(sets.left), dtype=np.int64)
    for size in SIZES:
        cut = (
            Signatures(np.ascontiguousarray(each[:, :size]), np.diff(lists.offsets))
            for each, lists in zip(signatures, (sets.left, sets.right), strict=True)
        )
        yield ("minhash", size), estimate_agreement(*cut, pairs, pairs), None


def _sketch(
    sets: Sets, scheme: SmallestScheme | ModuloScheme
) -> tuple[tuple[str, int], Estimates, Floats]:
    pairs = np.arange(len(sets.left), dtype=np.int64)
    left, right = (scheme.sample(each) for each in (sets.left, sets.right))
    is_smallest = isinstance(scheme, SmallestScheme)
    key = ("smallest", scheme.size) if is_smallest else ("modulo", scheme.modulus or 0)
    return key, estimate_resemblance(left, right, pairs, pairs, scheme), _share_values(left, right)


def _contain(sets: Sets) -> Iterator[Sketched]:
    """Estimate the containment of all pairs with modulo sketches."""
    pairs = np.arange(len(sets.left), dtype=np.int64)
    for modulus in MODULI:
        scheme = ModuloScheme(modulus)
        sketches = (scheme.sample(each) for each in (sets.left, sets.right))
        yield ("modulo", modulus), estimate_containment(*sketches, pairs, pairs, scheme), None


def _share_values(left: SetSketches, right: SetSketches) -> Floats:
    """Return |M(A) ∩ M(B)| / |M(A) ∪ M(B)| of each pair of sketches, as if they were the sets."""
    shares = np.zeros(len(left))
    for row in range(len(left)):
        own, other = (each.values[slice(*each.offsets[row : row + 2])] for each in (left, right))
        shares[row] = resemblance(own, other)
    return shares


def _chunks(trials: int) -> Iterator[int]:
    """Split trials, so that few sets are in memory."""
    for start in range(0, trials, CHUNK):
        yield min(CHUNK, trials - start)


def run_tolerance(rows: Sequence[Row]) -> list[Row]:
    """Return the probability that an estimate is within 0.05, by theory and as measured."""
    listed = []
    for percent in SHARES:
        row: Row = {"percent": percent}
        for size in TOLERANCE_SIZES:
            measured = next(
                each
                for each in rows
                if (each["kind"], each["size"], each["percent"]) == ("smallest", size, percent)
            )
            row |= {
                f"binomial_{size}": _near_probability(size, percent, None),
                f"exact_{size}": _near_probability(size, percent, UNION),
                f"measured_{size}": measured["near"],
            }
        listed.append(row)
    return listed


def _near_probability(size: int, percent: int, population: int | None) -> float:
    """Return Pr[|k / size - r| <= 0.05], k binomial or, for a population, hypergeometric."""
    hits = [k for k in range(size + 1) if abs(100 * k - percent * size) <= TOLERANCE * size]
    if population is None:
        weights = [comb(size, k) * percent**k * (100 - percent) ** (size - k) for k in hits]
        return sum(weights) / 100**size
    marked = population * percent // 100
    weights = [comb(marked, k) * comb(population - marked, size - k) for k in hits]
    return sum(weights) / comb(population, size)
