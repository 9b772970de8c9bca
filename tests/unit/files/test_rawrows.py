from __future__ import annotations

import pytest

from neardup.files.rawrows import count_bytes, cut_lines, places_of
from tests.each import each_of

PIECE = 1 << 17


@each_of(
    "data",
    [b"", b"\n", b"a\nb\n\n", b"x" * (PIECE - 1) + b"\n\n" + b"y" * 2 * PIECE + b"\n"],
)
def test_places_of__and_count_bytes(data):
    places = [i for i in range(len(data)) if data[i : i + 1] == b"\n"]
    assert places_of(data, 10).tolist() == places
    assert count_bytes(memoryview(data), 10) == len(places)


@pytest.mark.parametrize("final", [True, False])
def test_cut_lines__of_memory(final):
    found = cut_lines(memoryview(b"ab\n \t\nc"), final)
    assert list(zip(found.starts, found.ends, strict=True)) == [(0, 3), (6, 7)][: 1 + final]
    assert (found.count, found.consumed) == (2 + final, 6 + final)
