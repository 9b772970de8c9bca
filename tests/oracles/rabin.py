"""Rabin fingerprints by long division of polynomials over the integers modulo 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracles.hashing import ALL, GOLDEN, mix


def divide(dividend: int, divisor: int) -> tuple[int, int]:
    """Give quotient and remainder, one coefficient at a time."""
    quotient = 0
    for shift in range(dividend.bit_length() - divisor.bit_length(), -1, -1):
        if dividend >> (shift + divisor.bit_length() - 1) & 1:
            dividend ^= divisor << shift
            quotient |= 1 << shift
    return quotient, dividend


def multiply(a: int, b: int) -> int:
    product = 0
    for i in range(b.bit_length()):
        if b >> i & 1:
            product ^= a << i
    return product


def irreducibles(degree: int) -> list[int]:
    """List the irreducible polynomials of a degree, by trying all divisors."""
    candidates = range(1 << degree, 2 << degree)
    return [p for p in candidates if all(divide(p, d)[1] for d in range(2, 1 << degree // 2 + 1))]


def is_irreducible(polynomial: int) -> bool:
    """Rabin's test: P divides t^(2^d) - t, and has no divisor in t^(2^(d / q)) - t, q prime."""
    degree = polynomial.bit_length() - 1

    def power_less_t(k: int) -> int:
        power = 2
        for _ in range(k):
            power = divide(multiply(power, power), polynomial)[1]
        return power ^ divide(2, polynomial)[1]

    def common(a: int, b: int) -> int:
        return a if not b else common(b, divide(a, b)[1])

    primes = [
        q for q in range(2, degree + 1) if degree % q == 0 and all(q % r for r in range(2, q))
    ]
    divides = power_less_t(degree) == 0
    return divides and all(common(polynomial, power_less_t(degree // q)) == 1 for q in primes)


def candidates(seed: int, degree: int = 64) -> Iterator[int]:
    """Draw polynomials of a degree as documented: the first irreducible one is taken."""
    state = mix(seed)
    while True:
        state = (state + GOLDEN) & ALL
        yield 1 << degree | mix(state) % 2**degree | 1


def fingerprint(string: bytes, polynomial: int) -> int:
    """The remainder of the string behind a leading 1, as one large polynomial."""
    return divide(int.from_bytes(b"\1" + string, "big"), polynomial)[1]


def shingles(parts: Sequence[bytes], ngram: int, polynomial: int) -> list[int]:
    """Mixed fingerprints of all runs of ``ngram`` parts, all parts at once where they are fewer."""
    runs = [parts[i : i + ngram] for i in range(len(parts) - ngram + 1)] or [parts]
    return [mix(fingerprint(b"".join(run), polynomial)) for run in runs] if parts else []


def unmix(z: int) -> int:
    """Undo ``mix``."""
    z = _unshift(z, 31) * pow(0x94D049BB133111EB, -1, 1 << 64) & ALL
    z = _unshift(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & ALL
    return _unshift(z, 30)


def _unshift(z: int, by: int) -> int:
    """Undo z ^ (z >> by)."""
    return z ^ z >> by ^ (z >> 2 * by)
