"""Sketches of odd rows, of normalised texts, with weights of other documents."""

from __future__ import annotations

import math

import pytest

import neardup
from tests.calls import grouped


def test_sketch__idf_from_other_documents():
    texts, reference = ["a b c", "a b d"], ["a", "a b", "c", "d d"]
    options = {"kind": "weighted", "idf": "standard"}
    own = neardup.sketch(texts, **grouped(**options))
    other = neardup.sketch(texts, **grouped(idf_from=reference, **options))
    unit = 2**20
    # Both of two documents have a and b, which weigh 2^-16; of four documents two have a, and one
    # each b, c and d.
    assert own.rows.totals.tolist() == [round(math.log(2) * unit) + 2 * 2**4] * 2
    expected = round(math.log(2) * unit) + 2 * round(math.log(4) * unit)
    assert other.rows.totals.tolist() == [expected] * 2
    with pytest.raises(neardup.SketchMismatchError) as caught:
        neardup.estimate(own, other)
    assert list(caught.value.differences) == ["frequencies"]
    again = neardup.sketch(["a b c"], **grouped(idf_from=reference, **options))
    assert neardup.estimate(other, again).pairs["similarity"][0].as_py() == 1.0
