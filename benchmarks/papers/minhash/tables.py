"""Tables of docs/papers/minhash.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import table

if TYPE_CHECKING:
    from benchmarks.measuring.results import Results

Row = dict[str, Any]

# Shares of less than this are written as powers of ten.
SMALL = 1e-4


def lengths_table(results: Results) -> str:
    """Lay out how often shingles of each length recur by chance, and by the rule of thumb."""
    by_unit: dict[str, dict[int, Row]] = {}
    for row in results["lengths"]["figures"]:
        by_unit.setdefault(row["unit"], {})[row["ngram"]] = row
    rows = []
    for ngram, row in by_unit["characters"].items():
        words = by_unit["words"][ngram]
        of_characters = _share(row["rule"]), _share(row["chance"]), row["alphabet"]
        rows.append((ngram, *of_characters, _share(words["chance"]), words["alphabet"]))
    header = ("k", "by 20^k", "k characters", "as if of c", "k words", "as if of c")
    return table(header, rows)


def _share(value: float) -> str:
    return f"{value:.4f}" if value >= SMALL or value == 0 else f"{value:.0e}"


def ids_table(results: Results) -> str:
    """Lay out how many shingles there are, and how many of them 4 bytes confuse."""
    rows = [
        (row["ngram"], row["rule"], row["different"], row["lost"], row["expected"])
        for row in results["ids"]["figures"]
    ]
    return table(("k", "20^k", "different", "lost in 4 bytes", "expected"), rows)


def bands_table(results: Results) -> str:
    """Lay out the points of each S-curve."""
    rows: list[Row] = results["bands"]["figures"]
    header = ("bands x rows", "p*", "f(p*)", "measured", "q = (1/b)^(1/r)", "f(q)", "f = 1/2 at")
    return table(
        (*header, "found at 0.8", "largest error, in standard errors"),
        (
            (
                f"{row['bands']} x {row['rows']}",
                f"{row['steepest']:.3f}",
                f"{row['at_steepest']:.2f}",
                f"{row['measured_at_steepest']:.3f} at {row['near_steepest']:.4f}",
                f"{row['approximate']:.3f}",
                f"{row['at_approximate']:.2f}",
                f"{row['half']:.3f}",
                f"{dict(zip(row['similarities'], row['measured'], strict=True))[0.8]:.3f}",
                f"{max(row['scores'], key=abs):+.1f} of {len(row['scores'])}",
            )
            for row in rows
        ),
    )


def rules_table(results: Results) -> str:
    """Lay out candidates by where the curve is steepest."""
    figures = results["rules"]["figures"]
    similar = figures["similar"]
    rows = []
    for row in figures["bandings"]:
        is_chosen = [row["bands"], row["rows"]] == figures["chosen"]
        name = f"{row['bands']} x {row['rows']}"
        rows.append(
            (
                f"**{name}**" if is_chosen else name,
                f"{row['steepest']:.3f}",
                f"{row['at_threshold']:.3f}",
                row["candidates"],
                row["false"],
                row["missed"],
                f"{1 - row['missed'] / similar:.4f}",
            )
        )
    header = ("bands x rows", "p*", "f(0.8)", "candidates", "not similar", "similar, missed")
    return table((*header, "found"), rows)
