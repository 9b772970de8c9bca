"""Keys are found in all lists of entries."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.documents import segment
from neardup.index.segments import SMALL_PAGE, CheckedArray, SegmentWriter, open_segment
from neardup.kernels.types import sealed


@pytest.mark.parametrize("room", [1, 1024])
def test_find__checks_all_pages_of_many_keys_at_once(tmp_path, room):
    rng = np.random.default_rng(1)
    lists = [rng.integers(0, 2**32, 4000, dtype=np.uint64) for _ in range(3)]
    rows = np.arange(4000, dtype=np.int64)
    starts = np.arange(4, dtype=np.int64) * 4000
    every = np.concatenate([np.sort(segment.entries_of(keys, rows)) for keys in lists])
    page_starts, bounds = segment.bounds_of_pages(starts)
    with SegmentWriter(tmp_path, "s", page_bytes=SMALL_PAGE) as writer:
        writer.append("entries", every)
        record = writer.commit(0, 0, pa.large_string())
    opened = open_segment(tmp_path, record)
    fences = every[bounds[:-1]]
    stored = segment.EntryLists(CheckedArray(opened, "entries"), starts, fences)
    assert page_starts[-1] == len(fences) == 24
    keys = np.stack(lists, axis=1).astype(np.uint32)
    find_entries, rounds = segment.kernel.find_entries, []

    def counted(*arguments):
        rounds.append(1)
        return find_entries(*arguments)

    numbers = np.tile(np.arange(3), 4000)
    slots = sealed(segment.kernel.Slots(keys.reshape(-1), numbers, np.repeat(np.arange(4000), 3)))
    with (
        patch.object(segment, "_ROOM", room),
        patch.object(segment.kernel, "find_entries", counted),
    ):
        queries, found = stored.find(slots)
    assert set(zip(range(4000), range(4000), strict=True)) <= set(
        zip(queries.tolist(), found.tolist(), strict=True)
    )
    assert stored.is_checked.all()
    assert opened.is_checked.all()
    assert len(rounds) <= 3


@given(st.lists(st.integers(0, 1500), max_size=6))
def test_bounds_of_pages__begin_anew_with_each_list(sizes):
    starts = np.cumsum([0, *sizes]).astype(np.int64)
    page_starts, bounds = segment.bounds_of_pages(starts)
    expected = [
        start + place
        for start, size in zip(starts.tolist(), sizes, strict=False)
        for place in range(0, size, 512)
    ]
    assert bounds.tolist() == [*expected, int(starts[-1])]
    assert np.diff(page_starts).tolist() == [-(-size // 512) for size in sizes]
