"""Experiments about min-hashes, their bands and the length of shingles.

``python -m benchmarks.papers.minhash`` takes some two minutes on one core and writes results,
tables and plots to docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

from benchmarks.papers.experiments import Paper
from benchmarks.papers.minhash import bands, lengths, rules, tables
from benchmarks.papers.minhash.plots import draw

MINHASH = Paper(
    "minhash",
    parts={
        "lengths": lengths.run_lengths,
        "ids": lengths.run_ids,
        "bands": bands.run_bands,
        "rules": rules.run_rules,
    },
    tables={
        "lengths": tables.lengths_table,
        "ids": tables.ids_table,
        "bands": tables.bands_table,
        "rules": tables.rules_table,
    },
    draw=draw,
)

if __name__ == "__main__":
    MINHASH.main(str(__doc__))
