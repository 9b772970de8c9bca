"""Weights and weighted min-hashes in decimals of forty digits, written from their descriptions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from tests.oracles.hashing import ALL, GOLDEN, mix

DIGITS = 40
# Floating point may decide otherwise about the floor of what is this close to a whole number.
TOO_CLOSE = Decimal("1e-10")

Value = tuple[Decimal, int]


def ln(x: Decimal | int) -> Decimal:
    with localcontext(prec=DIGITS):
        return Decimal(x).ln()


def errors_in_last_bits(x: float, result: float) -> float:
    """How far a logarithm is off, in units of its last bit."""
    with localcontext(prec=60):
        exact = Decimal(x).ln()
        return float(abs(exact - Decimal(result)) / Decimal(math.ulp(result)))


def uniforms(token: int, seed: int) -> list[Fraction]:
    base = mix(token ^ seed)
    words = [mix((base + i * GOLDEN) & ALL) for i in range(1, 6)]
    return [Fraction(2 * (word >> 12) + 1, 2**53) for word in words]


def parameters(token: int, seed: int) -> tuple[Decimal, Decimal, Decimal]:
    """Give r, c and beta."""
    with localcontext(prec=DIGITS):
        u = [Decimal(f.numerator) / Decimal(f.denominator) for f in uniforms(token, seed)]
        return -(u[0] * u[1]).ln(), -(u[2] * u[3]).ln(), u[4]


def levels(token: int, seed: int, weights: Sequence[int]) -> list[int | None]:
    """Give k for each weight, None for 0."""
    r, _, beta = parameters(token, seed)
    found: list[int | None] = []
    with localcontext(prec=DIGITS):
        for weight in weights:
            if weight == 0:
                found.append(None)
                continue
            exact = Decimal(weight).ln() / r + beta
            assert abs(exact - exact.to_integral_value()) > TOO_CLOSE, "cannot tell; other seed"
            found.append(math.floor(exact))
    return found


def value(token: int, seed: int, k: int) -> Value:
    """Give ln a and the identity."""
    r, c, beta = parameters(token, seed)
    with localcontext(prec=DIGITS):
        return c.ln() - r * (k - beta + 1), mix((mix(token ^ seed) + k) & ALL)


def active(token: int, seed: int, weights: Sequence[int]) -> list[tuple[int, Decimal, int]]:
    """List (count, ln a, identity) of values less than all before, straight from the definition."""
    listed: list[tuple[int, Decimal, int]] = []
    seen: dict[int, Value] = {}
    least: Value | None = None
    for x, k in enumerate(levels(token, seed, weights), start=1):
        if k is None:
            continue
        if k not in seen:
            seen[k] = value(token, seed, k)
        if least is None or seen[k] < least:
            least = seen[k]
            listed.append((x, *least))
    return listed


def minimum(seed: int, weights: Mapping[int, int]) -> int | None:
    """Give the identity of the least value of a text; None if it has none."""
    values = [
        value(token, seed, k)
        for token, weight in weights.items()
        for k in levels(token, seed, [weight])
        if k is not None
    ]
    return min(values)[1] if values else None


def weighted_jaccard(x: Mapping[Hashable, int], y: Mapping[Hashable, int]) -> Fraction:
    tokens = x.keys() | y.keys()
    union = sum(max(x.get(t, 0), y.get(t, 0)) for t in tokens)
    return Fraction(sum(min(x.get(t, 0), y.get(t, 0)) for t in tokens), union)


LEAST_IDF = Decimal(2) ** -16


def term_frequency(tf: str, f: float) -> Decimal:
    with localcontext(prec=DIGITS):
        if tf == "binary":
            return Decimal(min(f, 1))
        if tf == "log":
            return (1 + Decimal(f)).ln()
        if tf == "squared":
            return Decimal(f) * Decimal(f)
        assert tf == "raw"
        return Decimal(f)


def inverse_frequency(idf: str, n: int, total: int) -> Decimal:
    """Idf of a token that n of all documents have; never below 2^-16."""
    n = n or 1
    with localcontext(prec=DIGITS):
        if idf == "unary":
            return Decimal(1)
        if idf == "smooth":
            return (Decimal(total + n) / n).ln() + 1
        assert idf in ("standard", "probabilistic")
        above = total if idf == "standard" else total - n
        return max((Decimal(above) / n).ln(), LEAST_IDF) if above > 0 else LEAST_IDF


def scaled(weight: Decimal) -> int:
    """Round half up to a whole number of 2^-20, from 0 to 2^50."""
    exact = Fraction(weight) * 2**20
    return min(max(math.floor(exact + Fraction(1, 2)), 0), 2**50)


def document_frequencies(documents: Iterable[Sequence[Hashable]]) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for document in documents:
        for token in set(document):
            counts[token] = counts.get(token, 0) + 1
    return counts


def weigh(
    elements: Sequence[Hashable],
    tf: str,
    idf: str,
    frequencies: Mapping[Hashable, int],
    total: int,
) -> dict[Hashable, int]:
    """Give what each element of a document weighs."""
    return weigh_numbers(Counter(elements), tf, idf, frequencies, total)


def weigh_numbers(
    numbers: Mapping[Hashable, float],
    tf: str,
    idf: str,
    frequencies: Mapping[Hashable, int],
    total: int,
) -> dict[Hashable, int]:
    """Give the same of elements that occur so many times, which need not be whole."""
    weights: dict[Hashable, int] = {}
    with localcontext(prec=DIGITS):
        for element, f in numbers.items():
            inverse = inverse_frequency(idf, frequencies.get(element, 0), total)
            weights[element] = max(scaled(term_frequency(tf, f) * inverse), 1)
    return weights


def function_seeds(seed: int, count: int) -> list[int]:
    start = mix(seed ^ GOLDEN)
    return [mix((start + f * GOLDEN) & ALL) for f in range(1, count + 1)]
