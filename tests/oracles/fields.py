"""Records of several fields: the weighted mean of their similarities, by its definition."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from tests.oracles import weighted


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


def count_records(values: list[Any]) -> Counter[str | None]:
    """Count in how many values each token is, and under None how many values there are."""
    texts = [text_of(value).lower() for value in values]
    counts: Counter[str | None] = Counter(token for text in texts for token in set(text.split()))
    counts[None] = sum(map(bool, texts))
    return counts


def similarity_of_values(
    kind: str, measure: str, a: Any, b: Any, counts: Counter[str | None]
) -> Fraction | None:
    """Compare two values; None where one of them is none. Tokens are separated by spaces.

    ``counts`` are those of all values.
    """
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
    if kind == "rare":
        of_x, of_y = (
            weighted.weigh(each.split(), "raw", "smooth", counts, counts[None]) for each in (x, y)
        )
        return weighted.weighted_jaccard(of_x, of_y)
    s, t = set(x.split()), set(y.split())
    common = len(s & t)
    if measure == "jaccard":
        return Fraction(common, len(s | t))
    if measure == "dice":
        return Fraction(2 * common, len(s) + len(t))
    return Fraction(common, min(len(s), len(t)))


def mean_of_fields(
    fields: list[tuple[str, Fraction, str]],
    measure: str,
    a: dict[str, Any],
    b: dict[str, Any],
    counts: dict[str, Counter[str | None]],
) -> tuple[Fraction | None, list[Fraction | None]]:
    """Return the weighted mean of a pair and its parts; None where a value is lacking."""
    parts = [
        similarity_of_values(kind, measure, a[name], b[name], counts[name])
        for name, _, kind in fields
    ]
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
    rows = [*left, *(right or ())]
    counts = {name: count_records([row[name] for row in rows]) for name, _, _ in fields}
    found = {}
    for i, j in numbers:
        mean, parts = mean_of_fields(fields, measure, left[i], others[j], counts)
        if mean is not None and mean >= threshold:
            found[i, j] = [mean, *parts]
    return found
