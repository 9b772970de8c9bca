"""Texts, and samples of their sets."""

from __future__ import annotations

import numpy as np

from neardup.tables import ShingleLists
from tests.arrays import ragged

# As published: two texts, pairs of words, seed 42.
TEXTS = ["a rose is a rose is a rose", "the cat sat on the mat"]


def rows(*numbers):
    return np.array(numbers, np.int64)


def sketch(lists, scheme):
    return scheme.sample(ShingleLists(*ragged(lists)))
