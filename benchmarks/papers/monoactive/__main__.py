"""Experiments of "Near-duplicate text alignment under weighted Jaccard similarity", repeated.

``python -m benchmarks.papers.monoactive`` measures some 10 minutes on one core, and rewrites the
results, tables and plots of docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

from functools import partial

from benchmarks.papers.experiments import Paper
from benchmarks.papers.monoactive import partitions, queries, tables, worst
from benchmarks.papers.monoactive.plots import draw
from benchmarks.papers.monoactive.texts import VARIED

MONOACTIVE = Paper(
    "monoactive",
    parts={
        "lengths": partitions.run_lengths,
        "lengths_varied": partial(partitions.run_lengths, corpus=VARIED),
        "frequencies": partitions.run_frequencies,
        "functions": partitions.run_functions,
        "worst": worst.run_worst,
        "queries": queries.run_queries,
        "queries_varied": partial(queries.run_queries, corpus=VARIED),
        "query_frequencies": queries.run_query_frequencies,
    },
    tables={
        "lengths": tables.lengths_table,
        "lengths-varied": tables.varied_table,
        "methods": tables.methods_table,
        "frequencies": tables.frequencies_table,
        "functions": tables.functions_table,
        "worst": tables.worst_table,
        "queries": tables.queries_table,
        "queries-varied": partial(tables.queries_table, part="queries_varied"),
        "query-frequencies": tables.query_frequencies_table,
    },
    draw=draw,
)

if __name__ == "__main__":
    MONOACTIVE.main(str(__doc__))
