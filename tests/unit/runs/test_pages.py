"""Checksums of pages: of any cuts the same, each checked when it is touched, and only then."""

from __future__ import annotations

import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import IndexFormatError
from neardup.runs.arrays import PAGE_BYTES, CheckedPages, PageSums, count_pages

PATH = Path("entries.npy")


def sums_of(data: bytes) -> list[int]:
    return [
        zlib.crc32(data[start : start + PAGE_BYTES]) for start in range(0, len(data), PAGE_BYTES)
    ]


@given(st.lists(st.integers(0, 2 * PAGE_BYTES + 100), max_size=6), st.randoms())
def test_page_sums__of_any_cuts(sizes, generator):
    data = generator.randbytes(sum(sizes))
    sums, place = PageSums(), 0
    for size in sizes:
        sums.update(memoryview(data)[place : place + size])
        place += size
    assert sums.finish().tolist() == sums_of(data)
    assert count_pages(len(data)) == len(sums_of(data))


def test_page_sums__that_end_early():
    """A page that is closed is short, and the next one begins behind it."""
    sums = PageSums()
    for part in (b"ab", b"", b"c" * PAGE_BYTES):
        sums.update(part)
        sums.close_page()
        sums.close_page()
    assert sums.finish().tolist() == [zlib.crc32(b"ab"), zlib.crc32(b"c" * PAGE_BYTES)]


@pytest.fixture
def array():
    return np.random.default_rng(1).integers(0, 2**63, 2000).astype(np.uint64)


def pages_of(array, damaged=None):
    sums = np.array(sums_of(array.tobytes()), np.uint32)
    if damaged is not None:
        array = array.copy()
        array.view(np.uint8)[damaged] ^= 16
    return CheckedPages(PATH, array, sums)


def touches(pages):
    """Give each way to touch an element."""
    return [
        lambda element: pages.check_elements(np.array([element])),
        lambda element: pages.check_ranges(np.array([element]), np.array([element + 1])),
        lambda element: pages.check([element // 512]),
    ]


@pytest.mark.parametrize("way", range(3))
@pytest.mark.parametrize("place", [0, 4095, 4096, 8191, 12_288, 15_999])
def test_checked_pages__each_flip_is_found_where_it_is_touched(array, way, place):
    pages = pages_of(array, damaged=place)
    touch = touches(pages)[way]
    for element in (0, 511, 512, 1023, 1024, 1536, 1999):
        if element // 512 == place // 4096:
            with pytest.raises(IndexFormatError, match=r"entries\.npy.*damaged \(page"):
                touch(element)
        else:
            touch(element)
    with pytest.raises(IndexFormatError):
        pages.check_all()


def test_checked_pages__with_bounds_of_their_own(array):
    bounds = np.array([0, 10, 10, 700, 2000])
    sums = np.array(
        [zlib.crc32(array[a:b].tobytes()) for a, b in pairwise(bounds)],
        np.uint32,
    )
    array[699] ^= np.uint64(1)
    pages = CheckedPages(PATH, array, sums, bounds)
    pages.check([0, 1, 3])
    with pytest.raises(IndexFormatError, match="page 2"):
        pages.check([2])
    # What was found damaged is so the next time, too.
    with pytest.raises(IndexFormatError, match="page 2"):
        pages.check([2])
