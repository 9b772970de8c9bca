from __future__ import annotations

import numpy as np

from neardup.matching.join import choose_algorithm, count_words
from neardup.matching.measures import MEASURES
from tests.each import each_of


@each_of(
    ("measure", "threshold", "chosen"),
    [
        ("jaccard", "0.9", "ppjoin+"),
        ("jaccard", "0.6", "ppjoin+"),
        ("dice", "0.8", "ppjoin+"),
        ("cosine", "0.8", "ppjoin+"),
        # Sets that have nothing in common differ in no more bits than similar ones may.
        ("jaccard", "0.2", "ppjoin"),
        ("containment", "0.5", "ppjoin"),
        ("overlap", "3", "allpairs"),
        ("overlap", "58", "ppjoin+"),
    ],
)
@each_of("n_words", [1, 4])
def test_choose_algorithm__by_threshold(measure, threshold, chosen, n_words):
    sizes = np.array([60, 61, 62, 63] * 5, np.int64)
    if measure != "overlap":
        sizes *= n_words
    assert choose_algorithm(sizes, MEASURES[measure].parse(threshold)) == chosen


def test_choose_algorithm__by_sizes():
    """Partners of a containment may be so large that they differ in more than all bits."""
    containment = MEASURES["containment"].parse("0.9")
    alike, unlike = np.full(9, 50, np.int64), np.array([*[50] * 4, *[900] * 5], np.int64)
    assert choose_algorithm(alike, containment) == "ppjoin+"
    assert choose_algorithm(unlike, containment) == "ppjoin"
    # Larger partners than a tenth more there are none of Jaccard similarity 0.9.
    assert choose_algorithm(unlike, MEASURES["jaccard"].parse("0.9")) == "ppjoin+"


@each_of(
    ("lengths", "n_words"),
    [([], 1), ([32], 1), ([33], 2), ([10, 56], 2), ([64], 2), ([65], 4), ([5000], 64)],
)
def test_count_words__two_bits_an_element(lengths, n_words):
    assert count_words(np.array(lengths, np.int64)) == n_words
