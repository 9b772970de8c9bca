"""Weighted vectors that neardup and a peer sign alike; needs NumPy alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

VECTORS, VOCABULARY, TOKENS = 1_000, 5_000, 200
LARGEST = 50


def draw_vectors(seed: int = 1) -> tuple[Integers, Integers]:
    """Draw documents: the distinct tokens of each (n, 200), and how often it has them.

    All tokens are equally likely; counts are mostly small, as those of words are.
    """
    generator = np.random.default_rng(seed)
    elements = [generator.choice(VOCABULARY, TOKENS, replace=False) for _ in range(VECTORS)]
    counts = np.minimum(generator.zipf(2.0, (VECTORS, TOKENS)), LARGEST)
    return np.stack(elements).astype(np.int64), counts.astype(np.int64)
