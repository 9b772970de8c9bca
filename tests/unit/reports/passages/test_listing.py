"""The table of every passage: what each row has, and which rows there are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from neardup.reports.passages import listing as module
from neardup.reports.passages.listing import make_listing


def test_make_listing(make_passages):
    texts = ["one two three", "zero one two", "\x1btwo three", None]
    rows = [
        (2, 1, 10, 0, 4, 13, 1.0),
        (0, 0, 7, 3, 100, 107, np.nan),
        (0, 0, 7, 1, 5, 12, 0.75),
        (2, 0, 4, 3, 5, 9, 0.5),
    ]
    passages = make_passages(texts, rows, lengths=[13, 12, 10, 200])
    found = make_listing(passages)
    assert json.dumps(found.data)
    names = found.data["names"]
    assert sorted(names) == ["d0", "d1", "d2", "d3"]
    by_name = [
        (names[row[0]], *row[1:3], names[row[3]], *row[4:9]) for row in found.data["passages"]
    ]
    assert by_name == [
        ("d0", 0, 7, "d1", 5, 12, 0.75, "one two", "one two"),
        ("d0", 0, 7, "d3", 100, 107, None, None, None),
        ("d2", 0, 4, "d3", 5, 9, 0.5, None, None),
        ("d2", 1, 10, "d0", 4, 13, 1.0, "two three", "two three"),
    ]
    assert found.note == "Of longer texts the first 300 characters are here."
    assert make_listing(make_passages(texts, [])) is None


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_make_listing__the_longest(make_passages, monkeypatch, most):
    monkeypatch.setattr(module, "MOST_PASSAGES", most)
    texts = ["x" * 900, "x" * 900]
    lengths = [5, 300, 20, 20, 301]
    rows = [(0, 10 * k, 10 * k + n, 1, 0, n, 1) for k, n in enumerate(lengths)]
    found = make_listing(make_passages(texts, rows))
    longest = sorted(range(5), key=lambda k: (-lengths[k], k))[:most]
    assert [row[1] for row in found.data["passages"]] == [10 * k for k in sorted(longest)]
    shown = [row[7] for row in found.data["passages"]]
    assert {len(text) for text in shown} <= {lengths[k] for k in longest} | {302}
    assert all(text.endswith(" …") == (len(text) == 302) for text in shown)
    assert (f"the {most} longest of 5 passages" in found.note) == (most < 5)
