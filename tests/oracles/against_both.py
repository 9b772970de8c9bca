"""Which documents go, and for what, where they are compared with an index and with other documents.

Every pair is looked at: those of the index and the others stay in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Texts = Mapping[str, list[str]]


def similarity(a: list[str], b: list[str]) -> Fraction:
    """Return the Jaccard similarity of the tokens of two texts."""
    return Fraction(len({*a} & {*b}), len({*a} | {*b}))


def removals(
    own: Texts, index: Texts, others: Texts, threshold: Fraction
) -> list[tuple[str, str, str, Fraction, bool]]:
    """Return what goes: its id, where what it goes for is, the id of that, how alike, if equal.

    A document with the same tokens, in order, as one of the others goes for the first such; else
    for the first such of the index; else it follows the first of its own with these tokens. What
    is left goes for the most similar that stays: of the index, then of the others, then of its own.
    """
    found: list[tuple[str, str, str, Fraction, bool]] = []
    stays: dict[str, list[str]] = {}
    fates: dict[tuple[str, ...], tuple[str, str, Fraction]] = {}
    for name, tokens in own.items():
        same = [
            (side, other)
            for side, texts in (("against", others), ("index", index), ("input", stays))
            for other, text in texts.items()
            if text == tokens
        ]
        if same:
            found.append((name, *same[0], Fraction(1), True))
            continue
        if tuple(tokens) in fates:
            found.append((name, *fates[tuple(tokens)], False))
            continue
        alike = [
            (similarity(tokens, text), side, other)
            for side, texts in (("index", index), ("against", others), ("input", stays))
            for other, text in texts.items()
        ]
        best = max(alike, key=lambda each: each[0], default=(Fraction(0), "", ""))
        if best[0] >= threshold:
            fates[tuple(tokens)] = (best[1], best[2], best[0])
            found.append((name, best[1], best[2], best[0], False))
        else:
            stays[name] = tokens
    return found
