"""Records of several fields: the weighted mean of their similarities, by its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any


def text_of(value: Any) -> str:
    """Return a value as text, empty where there is none."""
    return "" if value is None else str(value).strip()


def levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def similarity_of_values(kind: str, measure: str, a: Any, b: Any) -> Fraction | None:
    """Compare two values; None where one of them is none. Tokens are separated by spaces."""
    x, y = text_of(a).lower(), text_of(b).lower()
    if not x or not y:
        return None
    if kind == "exact":
        return Fraction(int(x == y))
    if kind == "edit":
        longer = max(len(x), len(y))
        return Fraction(longer - levenshtein(x, y), longer)
    if kind == "number":
        try:
            p, q = Fraction(x), Fraction(y)
        except ValueError:
            return None
        larger = max(abs(p), abs(q))
        return Fraction(1) if p == q else max(Fraction(0), 1 - abs(p - q) / larger)
    s, t = set(x.split()), set(y.split())
    common = len(s & t)
    if measure == "jaccard":
        return Fraction(common, len(s | t))
    if measure == "dice":
        return Fraction(2 * common, len(s) + len(t))
    return Fraction(common, min(len(s), len(t)))


def mean_of_fields(
    fields: list[tuple[str, Fraction, str]], measure: str, a: dict[str, Any], b: dict[str, Any]
) -> tuple[Fraction | None, list[Fraction | None]]:
    """Return the weighted mean of a pair and its parts; None where a value is lacking."""
    parts = [similarity_of_values(kind, measure, a[name], b[name]) for name, _, kind in fields]
    known = [
        (weight, part)
        for (_, weight, _), part in zip(fields, parts, strict=True)
        if part is not None
    ]
    if not known:
        return None, parts
    return sum(w * s for w, s in known) / sum(w for w, _ in known), parts


def pairs_by_fields(
    fields: list[tuple[str, Fraction, str]],
    measure: str,
    threshold: Fraction,
    left: list[dict[str, Any]],
    right: list[dict[str, Any]] | None,
) -> dict[tuple[int, int], list[Fraction | None]]:
    """Compare all pairs; return those at the threshold with mean and parts."""
    numbers = (
        combinations(range(len(left)), 2)
        if right is None
        else product(range(len(left)), range(len(right)))
    )
    others = left if right is None else right
    found = {}
    for i, j in numbers:
        mean, parts = mean_of_fields(fields, measure, left[i], others[j])
        if mean is not None and mean >= threshold:
            found[i, j] = [mean, *parts]
    return found
