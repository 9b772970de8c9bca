"""Shingle sets of records, for joins: ``shingle_sets.py FILE STEM --tokenizer words --ngram 5``.

Case is folded. Writes ``STEM.values`` and ``STEM.sizes`` (see ``exchange.py``), in an order drawn
at random so that the first sets are a fair sample, and prints their numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.corpora.texts import read_texts
from benchmarks.joins.exchange import write_sets
from neardup.kernels.text import shingle_kernels
from neardup.text.shingles import make_shingle_scheme, shingle_sets

SEED = 1


def main() -> None:
    """Cut the texts into sets and write these."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("stem", type=Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--ngram", type=int, required=True)
    options = parser.parse_args()
    scheme = make_shingle_scheme(options.tokenizer, ngram=options.ngram, casefold=True)
    made = shingle_sets(read_texts(options.source), scheme)
    sets = made.take(np.random.default_rng(SEED).permutation(len(made)))
    ends = np.cumsum(sets.sizes)
    values = np.empty(int(sets.sizes.sum()), np.uint64)
    shingle_kernels.copy_sets(sets.values, sets.starts, sets.sizes, values, ends - sets.sizes)
    write_sets(options.stem, values, sets.sizes)
    sys.stdout.write(json.dumps({"records": len(sets), "elements": len(values)}) + "\n")


if __name__ == "__main__":
    main()
