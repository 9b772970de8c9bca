"""Speed of sketches in one process and one thread: ``passes.py CORPUS --passes 5``.

Texts are in memory before the clock starts, and handed on slice by slice as ``neardup sketch``
does. Prints seconds of every pass, and what they were for, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.corpora.texts import make_texts, read_texts
from benchmarks.measuring.clocks import Seconds, StageClock
from benchmarks.sketches.vectors import VECTORS, draw_vectors
from neardup.reading.sign import SLICE_BYTES
from neardup.sketches.edit.estimate import signature_distances
from neardup.sketches.edit.signature import EditScheme, edit_signatures
from neardup.sketches.modulo import ModuloScheme
from neardup.sketches.samples import sketch_sets
from neardup.sketches.smallest import SmallestScheme
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import Texts, WeightedSets
from neardup.text.shingles import make_shingle_scheme, shingle_lists

# Goes through the texts once; returns seconds by the name of what they were for.
Work = Callable[[Texts], Seconds]

SHINGLES = make_shingle_scheme("words", ngram=5)
RABIN = make_shingle_scheme("words", ngram=5, fingerprint="rabin")
SCHEMES = {"smallest": SmallestScheme(), "modulo": ModuloScheme()}
EDITS = EditScheme(100)
WEIGHTED = WeightedMinHashScheme(128)
# The documents of Coates' paper have so many characters.
PIECE, N_PIECES, N_PAIRS = 13_508, 400, 50_000
# A weight of 1.
UNIT = 1 << 20


def to_sketches(texts: Texts) -> Seconds:
    """Go from text to sketches of one kind and then of the other."""
    seconds = {}
    for name, scheme in SCHEMES.items():
        start = time.perf_counter()
        for part in texts.slices(SLICE_BYTES):
            sketch_sets(shingle_lists(SHINGLES.tokenizer.hash_tokens(part), SHINGLES), scheme)
        seconds[f"text to {name} sketches"] = time.perf_counter() - start
    return seconds


def stages(texts: Texts) -> Seconds:
    """Time each stage by itself."""
    clock = StageClock()
    for part in texts.slices(SLICE_BYTES):
        clock.start()
        tokens = SHINGLES.tokenizer.hash_tokens(part)
        clock.end("fold and hash tokens")
        lists = shingle_lists(tokens, SHINGLES)
        clock.end("shingles")
        for name, scheme in SCHEMES.items():
            sketch_sets(lists, scheme)
            clock.end(name)
        shingle_lists(tokens, RABIN)
        clock.end("shingles by Rabin fingerprints")
    return clock.seconds


def sign_edits(texts: Texts) -> Seconds:
    """Sign texts for edit distances."""
    start = time.perf_counter()
    for part in texts.slices(SLICE_BYTES):
        edit_signatures(part, EDITS)
    return {"edit signatures": time.perf_counter() - start}


def time_comparisons(texts: Texts) -> Work:
    """Cut texts into pieces of equal length, sign them, and give what compares pairs of them."""
    whole = " ".join(texts.to_arrow().to_pylist())
    pieces = [whole[start : start + PIECE] for start in range(0, PIECE * N_PIECES, PIECE)]
    signatures = edit_signatures(make_texts(pieces), EDITS)
    generator = np.random.default_rng(1)
    left = generator.integers(0, N_PIECES, N_PAIRS)
    right = (left + generator.integers(1, N_PIECES, N_PAIRS)) % N_PIECES

    def compare(_: Texts) -> Seconds:
        start = time.perf_counter()
        signature_distances(signatures, left, right)
        return {"comparisons": time.perf_counter() - start}

    return compare


def sign_weighted(_: Texts) -> Seconds:
    """Sign weighted vectors."""
    elements, weights = draw_vectors()
    n, width = elements.shape
    sizes = np.full(n, width, np.int64)
    order = np.argsort(elements, axis=1)
    sets = WeightedSets(
        np.take_along_axis(elements, order, 1).astype(np.uint64).reshape(-1),
        np.take_along_axis(weights, order, 1).reshape(-1) * UNIT,
        np.arange(n, dtype=np.int64) * width,
        sizes,
        weights.sum(axis=1) * UNIT,
    )
    start = time.perf_counter()
    weighted_signatures(sets, WEIGHTED)
    return {"weighted signatures": time.perf_counter() - start}


def make_works(texts: Texts) -> tuple[Work, ...]:
    """Return all that is timed."""
    return to_sketches, stages, sign_edits, time_comparisons(texts), sign_weighted


def main() -> None:
    """Time passes over a corpus and print them."""
    parser = argparse.ArgumentParser(description="Time passes over a corpus and print them.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    texts = read_texts(options.corpus)
    measured: defaultdict[str, list[float]] = defaultdict(list)
    for work in make_works(texts):
        work(texts)
        for _ in range(options.passes):
            for name, seconds in work(texts).items():
                measured[name].append(round(seconds, 6))
    report = {
        "documents": len(texts),
        "text_bytes": int(texts.offsets[-1] - texts.offsets[0]),
        "passes": options.passes,
        "pairs": N_PAIRS,
        "vectors": VECTORS,
        "seconds": measured,
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
