from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.common.ordering import first_at_least, order_of, sort_range
from tests.each import each_of

SIZES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 300)


def ordered(values):
    """The order that the kernel finds, its arrays full of junk before."""
    order, scratch = np.full(len(values), -7, np.int64), np.full(len(values), -7, np.int64)
    order_of(np.array(values, np.int64), order, scratch)
    return order.tolist()


def sort_of(values, start, stop):
    array = np.array(values, np.uint64)
    sort_range(array, np.int64(start), np.int64(stop))
    return array.tolist()


def in_order(values):
    return sorted(range(len(values)), key=values.__getitem__)


@given(st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 4), max_size=90), st.data())
def test_sort_range__of_places(values, data):
    size = data.draw(st.integers(0, len(values)))
    array = np.array(values, np.int32)
    sort_range(array, 0, size)
    assert array.tolist() == sorted(values[:size]) + values[size:]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 4), max_size=90))
def test_order_of__sorted(values):
    assert ordered(values) == in_order(values)


@each_of("size", SIZES)
@each_of("greatest", [0, 3, 1000])
def test_order_of__sizes(size, greatest):
    values = [random.Random(size).randint(0, greatest) for _ in range(size)]
    assert ordered(values) == in_order(values)
    values.sort()
    assert ordered(values) == list(range(size))
    values.reverse()
    assert ordered(values) == in_order(values)


@given(st.data())
def test_sort_range__sorted(data):
    values = data.draw(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 4), max_size=90))
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    expected = values[:start] + sorted(values[start:stop]) + values[stop:]
    assert sort_of(values, start, stop) == expected


@each_of("size", SIZES)
@each_of("greatest", [0, 3, 1000])
def test_sort_range__sizes(size, greatest):
    values = [random.Random(size).randint(0, greatest) for _ in range(size)]
    assert sort_of(values, 0, size) == sorted(values)
    assert sort_of(sorted(values, reverse=True), 0, size) == sorted(values)


def test_first_at_least__by_definition():
    generator = random.Random(3)
    for _ in range(60):
        values = sorted(generator.choices(range(8), k=generator.randrange(1, 9)))
        start = generator.randint(0, len(values))
        stop = generator.randint(start, len(values))
        least = generator.randint(-1, 9)
        found = first_at_least(np.array(values, np.int32), start, stop, least)
        assert found == start + sum(value < least for value in values[start:stop])
