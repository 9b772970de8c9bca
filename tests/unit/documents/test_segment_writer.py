"""A segment has the same bytes, however much of it was in memory when it was written."""

from __future__ import annotations

import random

import pytest

from neardup import DocumentIndex, ReadOptions
from neardup.documents.document_handle import FANOUT, count_to_merge
from neardup.runs.runner import Runner
from tests.calls import grouped
from tests.document_indexes import OPTIONS, small_pieces


def rows():
    generator = random.Random(4)
    words = [f"w{n}" for n in range(50)]
    return [
        {"id": f"d{n}", "text": " ".join(generator.choices(words, k=n % 30))} for n in range(300)
    ]


@pytest.mark.slow
def test_compaction__is_one_segment_of_what_is_there(tmp_path):
    """It has the lists that the documents would have if they had been added at once."""
    wanted = [row for n, row in enumerate(rows()) if n % 3]
    at_once = DocumentIndex.create(tmp_path / "once", **grouped(**OPTIONS))
    at_once.add(wanted, read=ReadOptions(id_column="id"))
    for block_bytes in (1, 300, 16_384):
        folder = tmp_path / str(block_bytes)
        with small_pieces(fanout=100, block_bytes=block_bytes):
            parts = DocumentIndex.create(folder, **grouped(**OPTIONS))
            for start in range(0, 300, 60):
                parts.add(rows()[start : start + 60], read=ReadOptions(id_column="id"))
            parts.remove([row["id"] for n, row in enumerate(rows()) if n % 3 == 0])
            assert parts.compact().n_segments == 1
        (found,), (expected,) = (each._handle.view(Runner(1)).segments for each in (parts, at_once))
        for name in ("entries", "fences", "list-starts", "digests", "n-tokens", "filters"):
            assert (found.stored.array(name) == expected.stored.array(name)).all(), name
        assert parts.documents(0, 1000) == at_once.documents(0, 1000)
        assert parts.info()["tokens"] == at_once.info()["tokens"]


def grow(additions, sizes=()):
    """Add segments; return the sizes that there are in the end, the most there were, and the work.

    The work is the number of documents that were written when segments were put together.
    """
    sizes, most, written = list(sizes), 0, 0
    for size in additions:
        sizes.append(size)
        while n := count_to_merge(sizes):
            merged = sum(sizes[-n:])
            written += merged
            sizes[-n:] = [merged]
        most = max(most, len(sizes))
    return sizes, most, written


def test_count_to_merge__equal_ones_behind_a_larger_one():
    larger = [1_000_000]
    assert count_to_merge([*larger, *[1000] * (FANOUT - 1)]) == 0
    assert count_to_merge([*larger, *[1000] * FANOUT]) == FANOUT
    # Those in front have become one of the next size, of which there are few.
    assert count_to_merge([*larger, 8000, *[1000] * (FANOUT - 1)]) == 0


@pytest.mark.parametrize("seed", range(3))
def test_growth__stays_within_what_is_promised(seed):
    rng = random.Random(seed)
    additions = [int(10 ** rng.uniform(0, 5)) for _ in range(2000)]
    sizes, most, written = grow(additions)
    assert sum(sizes) == sum(additions)
    n_tiers = 7
    assert most <= (FANOUT - 1) * n_tiers + 1
    assert written <= 2 * n_tiers * sum(additions)
