from __future__ import annotations

import numpy as np

from neardup.matching.join import count_words
from tests.each import each_of


@each_of(
    ("lengths", "n_words"),
    [([], 1), ([32], 1), ([33], 2), ([10, 56], 2), ([64], 2), ([65], 4), ([5000], 64)],
)
def test_count_words__two_bits_an_element(lengths, n_words):
    assert count_words(np.array(lengths, np.int64)) == n_words
