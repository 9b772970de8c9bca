"""How many of n bits are set once each of d elements has turned one: exactly, by all ways."""

from __future__ import annotations

from fractions import Fraction


def chance_of_few(n_bits: int, n_elements: int, most: int) -> Fraction:
    """Return the probability that ``most`` bits or fewer are set in the end."""
    of_set = {0: Fraction(1)}
    for _ in range(n_elements):
        after: dict[int, Fraction] = {}
        for n_set, chance in of_set.items():
            for now, ways in ((n_set - 1, n_set), (n_set + 1, n_bits - n_set)):
                if ways:
                    after[now] = after.get(now, Fraction(0)) + chance * Fraction(ways, n_bits)
        of_set = after
    return sum((chance for n_set, chance in of_set.items() if n_set <= most), Fraction(0))
