"""Measures of the benchmarks' alignment against cases worked out by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.alignment import plagdet


def passage(query_start, query_stop, start, stop, query="q", document="d"):
    return plagdet.Passage(query, query_start, query_stop, document, start, stop)


def scores_of(cases, detections):
    found = plagdet.score(cases, detections)
    return {
        kind: (scores.precision, scores.recall, scores.granularity, scores.plagdet)
        for kind, scores in found.items()
    }


@pytest.mark.slow
def test_score__two_parts():
    # Both halves of one case: all right, all found, but in two pieces.
    parts = [passage(0, 5, 0, 5), passage(5, 10, 5, 10)]
    for measured in scores_of([passage(0, 10, 0, 10)], parts).values():
        assert measured == (1, 1, 2, pytest.approx(1 / math.log2(3)))


@pytest.mark.slow
def test_score__macro_and_micro_differ():
    cases = [passage(0, 100, 0, 100), passage(200, 210, 200, 210)]
    detections = [passage(0, 50, 0, 100), passage(190, 210, 200, 220)]
    found = scores_of(cases, detections)
    # Of case 1, 50 + 100 of 200 characters; of case 2 all 20. Detection 1 is right; of the 40
    # characters of detection 2, 10 + 10 are.
    precision, recall = (1 + 1 / 2) / 2, (3 / 4 + 1) / 2
    f1 = 2 * precision * recall / (precision + recall)
    assert found["macro"] == pytest.approx((precision, recall, 1, f1))
    precision, recall = 170 / 190, 170 / 220
    f1 = 2 * precision * recall / (precision + recall)
    assert found["micro"] == pytest.approx((precision, recall, 1, f1))


@pytest.mark.slow
def test_score__overlapping_detections_count_once():
    detections = [passage(0, 8, 0, 8), passage(2, 10, 2, 10)]
    found = scores_of([passage(0, 10, 0, 20)], detections)
    # Precision 1; found are 10 + 10 of 30; the two detections overlap, and granularity is 2.
    f1 = 2 * (2 / 3) / (1 + 2 / 3)
    expected = (1, 2 / 3, 2, f1 / math.log2(3))
    assert found["macro"] == pytest.approx(expected)
    assert found["micro"] == pytest.approx(expected)


@pytest.mark.slow
def test_count_characters__texts_apart():
    # The query "x" and the document "x" are two texts.
    assert plagdet.count_characters([passage(0, 10, 0, 10, "x", "x"), passage(5, 15, 0, 3)]) == 33
    assert plagdet.count_characters([passage(0, 10, 0, 4), passage(5, 15, 2, 6)]) == 21
