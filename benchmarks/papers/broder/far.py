"""Expected number of bad estimates over all pairs of the Web, by the binomial distribution."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from benchmarks.measuring.markdown import table

# Pages of the paper's walk, samples of a sketch, and resemblances: of a pair, and as estimated.
PAGES, SIZES = 30_000_000, (100, 200, 400)
FAR = ((Fraction(1, 10), Fraction(1, 2)), (Fraction(1, 4), Fraction(1, 2)))
NEARER = ((Fraction(2, 5), Fraction(1, 2)), (Fraction(3, 5), Fraction(1, 2)))


def tail(r: Fraction, bound: Fraction, size: int) -> Fraction:
    """Return how often the estimate is at or beyond a bound that lies on one side of r."""
    least = -(-bound * size // 1)
    hits = range(int(least), size + 1) if bound > r else range(int(least))
    return sum((comb(size, k) * r**k * (1 - r) ** (size - k) for k in hits), Fraction(0))


def far_table() -> str:
    """Lay out probabilities, and expected pairs if all pairs were of that resemblance."""
    pairs = comb(PAGES, 2)
    rows = []
    for r, bound in (*FAR, *NEARER):
        cells = []
        for size in SIZES:
            probability = tail(r, bound, size)
            cells += [f"{float(probability):.0e}", f"{float(probability * pairs):.0e}"]
        rows.append(
            (f"{float(r):g}", f"{float(bound):g}{' or more' if bound > r else ', below'}", *cells)
        )
    header = (
        "r",
        "estimated",
        *(f"s = {size}{what}" for size in SIZES for what in (", probability", ", pairs")),
    )
    return table(header, rows)
