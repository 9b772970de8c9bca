"""Pages on which pairs are judged: of records, of hostile and odd texts, of none."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

import neardup

RECORDS = [
    {"id": "s1", "title": "The LHAM data access method", "authors": "P. Muth", "year": 1998},
    {"id": "s2", "title": "Wavelet-Based Histograms", "authors": "Y. Matias", "year": 1998},
    {"id": "s3", "title": "Book Review Column", "authors": None, "year": 2001},
    {"id": "o1", "title": "Wavelet-based histograms", "authors": "Matias Yossi", "year": 1998},
    {"id": "o2", "title": "The design of the LHAM data access method", "authors": "P. Muth"},
    {"id": "o3", "title": "Book review column", "authors": "Karl Aberer", "year": 2002},
]


def record_pairs() -> neardup.types.PairResult:
    return neardup.find_pairs(
        RECORDS,
        threshold="0.4",
        text=neardup.TextOptions(ngram=1),
        read=neardup.ReadOptions(text_column="title"),
    )


def review_cases(
    texts: dict[str, tuple[str, str]], hostile: tuple[str, ...]
) -> dict[str, Callable[[], str]]:
    """Return a function for each page; ``texts`` are pairs by what they are."""
    odd = [
        {"id": f"{name} {side}", "text": text, hostile[1]: hostile[side == "b"], "": None}
        for name, pair in texts.items()
        for side, text in zip("ab", pair, strict=True)
    ]
    n = len(texts)
    pairs = pa.table(
        {
            "id_a": [row["id"] for row in odd[::2]],
            "id_b": [row["id"] for row in odd[1::2]],
            "similarity": [k / n for k in range(n)],
            hostile[2]: [hostile[3]] * n,
        }
    )
    return {
        "review plain": lambda: neardup.review(record_pairs(), RECORDS).html,
        "review hostile": lambda: neardup.review(pairs, odd).html,
        "review without texts": lambda: neardup.review(pairs).html,
        "review of many": lambda: (
            neardup.review(
                pa.table({"id_a": range(2_100), "id_b": range(2_100), "similarity": [0.5] * 2_100})
            ).html
        ),
        "review none": lambda: neardup.review(record_pairs().table.slice(0, 0)).html,
    }
