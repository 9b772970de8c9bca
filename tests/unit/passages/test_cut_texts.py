"""What goes out of texts, and comes back when its reason goes."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.passages.cut_texts import CutTexts, Passage
from tests.cutting import make_lists


@pytest.fixture
def texts():
    """Three texts of thirty tokens."""
    return CutTexts(make_lists([range(30), range(100, 130), range(200, 230)]))


def left(texts, text):
    return texts.places_left(text).tolist()


def rows(texts):
    found = texts.removed()
    assert len(found) == len(found.documents)
    return list(zip(*(column.tolist() for column in vars(found).values()), strict=True))


def test_remove__what_is_left_of_passages_that_overlap(texts):
    texts.remove(Passage(1, 5, 15), Passage(0, 0, 10), 0.9)
    texts.remove(Passage(1, 10, 20), Passage(0, 20, 30), 0.8)
    assert left(texts, 1) == [*range(5), *range(20, 30)]
    assert texts.left(1).tolist() == texts.whole(1)[left(texts, 1)].tolist()
    assert (texts.size(1), texts.versions.tolist()) == (30, [0, 2, 0])
    assert rows(texts) == [(1, 5, 15, 0, 0, 10, 0.9), (1, 10, 20, 0, 20, 30, 0.8)]
    assert texts.has_lost(1, np.array([4, 5]))
    assert not texts.has_lost(1, np.array([4, 20]))
    assert not texts.has_lost(0, np.array([4]))
    assert texts.has_any(1, np.array([4, 5]))
    assert not texts.has_any(1, np.array([5, 19]))


def test_remove__a_reason_that_goes(texts):
    texts.remove(Passage(2, 5, 15), Passage(1, 10, 20), 0.9)
    assert texts.undoes(Passage(1, 19, 25))
    assert not texts.undoes(Passage(1, 20, 25))
    texts.remove(Passage(1, 19, 25), Passage(0, 0, 6), 0.8)
    assert left(texts, 2) == list(range(30))
    assert texts.versions.tolist() == [0, 1, 2]
    assert rows(texts) == [(1, 19, 25, 0, 0, 6, 0.8)]


def test_remove__reasons_of_reasons(texts):
    """What came back may be the place of what another one was compared without."""
    texts.remove(Passage(2, 5, 10), Passage(1, 10, 15), 1.0)
    # What is left of 0 to 12 was compared, and stands for something further on.
    texts.remove(Passage(2, 0, 12), Passage(0, 0, 7), 0.9)
    texts.remove(Passage(2, 20, 25), Passage(2, 14, 19), 0.9)
    texts.remove(Passage(1, 12, 18), Passage(0, 10, 16), 0.8)
    assert left(texts, 2) == [*range(20), *range(25, 30)]
    assert rows(texts) == [(1, 12, 18, 0, 10, 16, 0.8), (2, 20, 25, 2, 14, 19, 0.9)]


def test_remove__what_was_compared_with_it_goes_back_too(texts):
    texts.remove(Passage(1, 5, 10), Passage(0, 0, 5), 1.0)
    # It names tokens on both sides of those that have gone.
    texts.remove(Passage(2, 0, 8), Passage(1, 2, 14), 1.0)
    texts.remove(Passage(0, 4, 9), Passage(0, 10, 15), 1.0)
    assert left(texts, 1) == left(texts, 2) == list(range(30))
    assert rows(texts) == [(0, 4, 9, 0, 10, 15, 1.0)]


def test_remove__one_of_passages_that_overlap_comes_back(texts):
    """Each has its own reason; what the other one took stays away."""
    texts.remove(Passage(2, 10, 20), Passage(0, 10, 20), 1.0)
    texts.remove(Passage(2, 0, 15), Passage(1, 0, 15), 0.9)
    texts.remove(Passage(1, 14, 20), Passage(0, 20, 26), 0.9)
    assert left(texts, 2) == [*range(10), *range(20, 30)]


def test_has_more__what_has_come_back(texts):
    passage = Passage(2, 0, 20)
    texts.remove(Passage(2, 5, 10), Passage(1, 5, 10), 1.0)
    compared = np.array([*range(5), *range(10, 20)])
    assert not texts.has_more(passage, compared)
    texts.remove(Passage(2, 15, 25), Passage(0, 15, 25), 1.0)
    assert not texts.has_more(passage, compared)
    texts.remove(Passage(1, 5, 10), Passage(0, 5, 10), 1.0)
    assert texts.has_more(passage, compared)
    assert texts.has_more(Passage(0, 0, 3), np.array([0, 2]))
    assert not texts.has_more(Passage(0, 0, 3), np.array([0, 1, 2]))


def test_fills__what_would_come_back(texts):
    texts.remove(Passage(1, 20, 25), Passage(1, 10, 15), 1.0)
    texts.remove(Passage(2, 0, 5), Passage(1, 16, 19), 1.0)
    joined = Passage(1, 12, 28)
    assert texts.fills(joined, [joined])
    assert texts.fills(joined, [Passage(2, 4, 9)])
    assert not texts.fills(joined, [Passage(1, 0, 20), Passage(2, 5, 9), Passage(0, 0, 30)])
    assert not texts.fills(Passage(1, 16, 28), [joined])


def test_others__stay_whole():
    texts = CutTexts(make_lists([range(9)]), make_lists([range(5, 9)]))
    assert texts.left(1).tolist() == texts.whole(0)[5:].tolist()
    texts.remove(Passage(0, 5, 9), Passage(1, 0, 4), 1.0)
    assert rows(texts) == [(0, 5, 9, 1, 0, 4, 1.0)]
    assert texts.versions.tolist() == [1, 0]


def test_passage__places_in_common():
    passage = Passage(1, 5, 10)
    assert passage.common(Passage(1, 8, 12)) == 2
    assert not passage.meets(Passage(1, 10, 12))
    assert not passage.meets(Passage(2, 5, 10))
