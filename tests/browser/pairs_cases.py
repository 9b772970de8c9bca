"""Pages of pairs: plain, with hostile ids and texts, of few and of none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neardup
from tests.calls import grouped


def pages_of_pairs(texts: dict[str, tuple[str, str]], hostile: tuple[str, ...]) -> dict[str, Any]:
    """Return a function for each page; ``texts`` are pairs by what they are."""
    rows = [
        {"id": f"{name} {side}", "text": text}
        for name, pair in texts.items()
        for side, text in zip("ab", pair, strict=True)
    ]
    by_name = [
        {"id": f"{name} {n}", "text": row["text"]}
        for n, row in enumerate(rows)
        for name in [hostile[n % len(hostile)]]
    ]
    columns = {"columns": "text"}
    cases: dict[str, Callable[[], str]] = {
        "pairs plain": lambda: _page(rows),
        "pairs hostile": lambda: _page(by_name),
        "pairs without texts": lambda: _page(by_name, with_texts=False),
        "pairs with columns": lambda: _page(rows, with_texts=False, **columns),
        "pairs by distance": lambda: _page(rows, measure="edit", max_distance=400, ngram=None),
        "pairs of two collections": lambda: _page(rows, rows[1:]),
        "pairs none": lambda: _page(rows[:1]),
        "pairs estimated": lambda: _estimates(rows),
    }
    return cases


def _page(
    left: list[dict[str, str]],
    right: list[dict[str, str]] | None = None,
    *,
    with_texts: bool = True,
    **options: Any,
) -> str:
    chosen = {"ngram": 1} | options
    if "max_distance" not in chosen:
        chosen["threshold"] = "0.05"
    result = neardup.find_pairs(left, right, **grouped(**chosen))
    return _report(result, left, right if with_texts else None, with_texts=with_texts)


def _report(
    result: Any,
    left: list[dict[str, str]],
    right: list[dict[str, str]] | None,
    *,
    with_texts: bool = True,
) -> str:
    if not with_texts:
        return neardup.report(result).html
    return neardup.report(
        result, left, against=right, read=neardup.ReadOptions(id_column="id")
    ).html


def _estimates(rows: list[dict[str, str]]) -> str:
    return _report(
        neardup.estimate(neardup.sketch(rows, text=neardup.TextOptions(ngram=1))), rows, None
    )
