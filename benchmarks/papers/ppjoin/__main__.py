"""Experiments of "Efficient similarity joins for near duplicate detection", repeated.

``python -m benchmarks.papers.ppjoin`` measures some 10 minutes on one core, and rewrites the
results, tables and plots of docs/papers. It needs neardup and matplotlib. Files named by
NEARDUP_REAL_TEXTS are joined as well.
"""

from __future__ import annotations

from functools import partial

from benchmarks.papers.experiments import Paper
from benchmarks.papers.ppjoin import joins, pages, tables
from benchmarks.papers.ppjoin.plots import draw

PPJOIN = Paper(
    "ppjoin",
    parts={
        "jaccard": joins.run_jaccard,
        "cosine": joins.run_cosine,
        "growth": joins.run_growth,
        "pages": pages.run,
    },
    tables={
        "statistics": tables.statistics_table,
        "candidates": tables.candidates_table,
        "jaccard": partial(tables.joins_table, measure="jaccard"),
        "cosine": partial(tables.joins_table, measure="cosine"),
        "faster": tables.faster_table,
        "growth": tables.growth_table,
        "pages": tables.pages_table,
    },
    draw=draw,
)

if __name__ == "__main__":
    PPJOIN.main(str(__doc__))
