"""Tables of docs/papers/coates.md, with the paper's figures beside ours."""

from __future__ import annotations

from typing import Any

from benchmarks.measuring.markdown import table

Results = dict[str, Any]

# Estimates of the paper by compression and share of characters substituted, or blocks inserted.
PAPER_SCATTERED = {
    (50, 1): 333,
    (50, 5): 1_000,
    (50, 10): 2_416,
    (50, 20): 2_350,
    (50, 30): 3_700,
    (100, 1): 66,
    (100, 5): 600,
    (100, 10): 1_066,
    (100, 20): 1_666,
    (100, 30): 1_833,
    (200, 1): 66,
    (200, 5): 200,
    (200, 10): 266,
    (200, 20): 800,
}
PAPER_BLOCKS = {
    (50, 1): 700,
    (50, 5): 2_100,
    (50, 10): 5_450,
    (100, 1): 700,
    (100, 5): 2_800,
    (100, 10): 4_700,
    (200, 1): 200,
    (200, 5): 2_200,
    (200, 10): 6_000,
}
# Pairs a second and symbols by compression.
PAPER_SPEED = {50: (1_388, 316), 100: (10_000, 72), 200: (20_000, 22)}
PAPER_EXACT = 0.87
# Characters a second that the paper signs, at best.
PAPER_SIGNING = 135_000_000


def lay_out(results: Results) -> dict[str, str]:
    """Make all tables."""
    tables = {
        "rates": rates_table(results),
        "speed": speed_table(results),
        "scattered": changes_table(results["scattered"], "share", "% changed", PAPER_SCATTERED),
        "blocks": changes_table(results["blocks"], "blocks", "blocks", PAPER_BLOCKS),
        "lengths": lengths_table(results),
        "single": single_table(results),
    }
    if "verify" in results:
        tables["verify"] = verify_table(results)
    return tables


def rates_table(results: Results) -> str:
    """Lay out numbers of symbols over residues or seeds."""
    header = ("c", "n", "hash", "symbols expected", "least", "median", "most")
    return table(
        header,
        [
            (
                row["compression"],
                row["neighbourhood"],
                row["hash"],
                round(row["expected"]),
                row["least"],
                round(row["median"]),
                row["most"],
            )
            for row in results["rates"]
        ],
    )


def speed_table(results: Results) -> str:
    """Lay out speeds, exact distances first."""
    speed = results["speed"]
    rows: list[tuple[object, ...]] = [
        (None, "none", None, None, speed["exact_pairs_per_second"], PAPER_EXACT, None, None)
    ]
    for row in speed["rows"]:
        pairs, symbols = PAPER_SPEED[row["compression"]]
        rows.append(
            (
                row["compression"],
                row["hash"],
                round(row["symbols"]),
                symbols,
                row["pairs_per_second"],
                pairs,
                row["characters_per_second"] / 1e6,
                PAPER_SIGNING / 1e6,
            )
        )
    header = ("c", "hash", "symbols", "paper's", "pairs a second", "paper's")
    return table((*header, "million characters a second", "paper's"), rows)


def lengths_table(results: Results) -> str:
    """Lay out speeds of exact distances by length."""
    rows = [(row["length"], row["pairs_per_second"], row["paper"]) for row in results["lengths"]]
    return table(("characters", "pairs a second", "paper's"), rows)


def single_table(results: Results) -> str:
    """Lay out how often a single edit changes a signature."""
    rows = [
        (row["compression"], row["hash"], row["neighbourhood"], row["seen"], row["expected"])
        for row in results["single"]
    ]
    return table(("c", "hash", "n", "edit seen", "expected"), rows)


def verify_table(results: Results) -> str:
    """Lay out what signatures leave of candidates, right ones and wrong ones."""
    found = results["verify"]
    near = found["near"]
    rows: list[tuple[object, ...]] = [
        (
            "none",
            found["candidates"],
            found["candidates"] - near,
            near / found["candidates"],
            0,
            1.0,
        )
    ]
    for name, row in found.items():
        if isinstance(row, dict):
            taken, right = row["taken"], row["taken"] - row["false"]
            rows.append((name, taken, row["false"], right / taken, row["missed"], right / near))
    header = ("verified by", "pairs left", "not near-duplicates", "precision")
    return table((*header, "near-duplicates lost", "recall"), rows)


def changes_table(
    figures: list[dict[str, Any]], key: str, label: str, paper: dict[tuple[int, int], int]
) -> str:
    """Lay out estimates of changed texts beside true distances."""
    found: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
    for row in figures:
        found.setdefault((row["compression"], row[key]), {})[row["hash"]] = row
    rows = []
    for compression, amount in sorted(found):
        by_hash = found[compression, amount]
        sums, mixed = by_hash.get("sum", {}), by_hash.get("mixed", {})
        rows.append(
            (
                compression,
                amount,
                (sums or mixed)["true"],
                paper.get((compression, amount)),
                sums.get("scaled"),
                mixed.get("scaled"),
            )
        )
    return table(("c", label, "true", "paper's", "sum, c LD", "mixed, c LD"), rows)
