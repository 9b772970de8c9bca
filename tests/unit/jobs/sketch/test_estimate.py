"""Estimates from sketches: what may be compared, odd texts, bounds on pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidParameterError, ResultLimitError
from neardup.jobs import estimate as pipeline
from neardup.sketches.kind import parse_scheme


def test_estimate__every_share_reaches_itself():
    """Also where a quotient times its divisor is less than the dividend, as 1 / 49 * 49."""
    for num_perm in (49, 98, 103, 107, 128):
        sketches = neardup.sketch(["x"] * (num_perm + 1), num_perm=num_perm)
        values = sketches.rows.values
        for row in range(num_perm + 1):
            values[row, row:] += 1
        first = np.full(num_perm + 1, num_perm)
        found = parse_scheme(sketches.scheme).estimate(
            sketches.rows, first, np.arange(num_perm + 1)
        )
        for equal in range(1, num_perm + 1):
            reaching = np.flatnonzero(
                found.measures["jaccard"].reaching(Fraction(equal, num_perm))
            ).tolist()
            assert reaching == list(range(equal, num_perm + 1))


def test_estimate__limit():
    texts = ["one two three"] * 4
    for kind in ("minhash", "smallest", "modulo"):
        sketches = neardup.sketch(texts, kind=kind)
        for threshold in (None, 1):
            assert len(neardup.estimate(sketches, threshold=threshold, limit=6).pairs) == 6
            with pytest.raises(ResultLimitError, match=r"\b5 pairs"):
                neardup.estimate(sketches, threshold=threshold, limit=5)
    sketches = neardup.sketch(
        [f"{i} " + "abcdefg" * 30 for i in range(4)], kind="edit", compression=1
    )
    with pytest.raises(ResultLimitError, match=r"\b5 pairs"):
        neardup.estimate(sketches, threshold="0.5", limit=5)
    with pytest.raises(ResultLimitError, match=r"\b3 pairs.*4"):
        neardup.estimate(sketches, neardup.sketch(["x"], kind="edit", compression=1), limit=3)


def test_estimate__too_many_pairs(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_PAIRS", 5)
    sketches = neardup.sketch(["one two three"] * 4)
    with pytest.raises(InvalidParameterError, match=r"^6 pairs.*threshold.*5"):
        neardup.estimate(sketches)
    assert len(neardup.estimate(sketches, threshold=1).pairs) == 6
    monkeypatch.setattr(pipeline, "MOST_PAIRS", 6)
    assert len(neardup.estimate(sketches).pairs) == 6
