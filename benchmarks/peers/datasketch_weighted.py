"""datasketch's weighted MinHash of the vectors of ``sketches/vectors.py``: ``--vectors 200``.

``minhash`` takes one dense vector; ``minhash_many``, which its authors call experimental, many at
a time, here as many as are fastest. Vectors are in the form that each wants before the clock
starts, and the generator is made. Prints seconds of every pass as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from datasketch import WeightedMinHashGenerator

from benchmarks.sketches.vectors import VOCABULARY, draw_vectors

SAMPLES = 128
BLOCK = 5


def main() -> None:
    """Sign the first vectors in both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=200, help="only the first ones")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    elements, weights = (each[: options.vectors] for each in draw_vectors())
    dense = np.zeros((len(elements), VOCABULARY), np.float32)
    np.put_along_axis(dense, elements, weights.astype(np.float32), axis=1)
    generator = WeightedMinHashGenerator(VOCABULARY, SAMPLES)
    seconds: dict[str, list[float]] = {"minhash": [], "minhash_many": []}
    generator.minhash(dense[0])
    generator.minhash_many(dense[:BLOCK])
    for _ in range(options.passes):
        start = time.perf_counter()
        for vector in dense:
            generator.minhash(vector)
        seconds["minhash"].append(round(time.perf_counter() - start, 6))
        start = time.perf_counter()
        for first in range(0, len(dense), BLOCK):
            generator.minhash_many(dense[first : first + BLOCK])
        seconds["minhash_many"].append(round(time.perf_counter() - start, 6))
    sys.stdout.write(json.dumps({"vectors": len(dense), "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
