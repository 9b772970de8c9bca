from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.files.rawsource import Buffers
from tests.each import each_of


def address_of(view):
    return np.frombuffer(view, np.uint8).ctypes.data


def test_take__memory_that_is_not_used_any_more():
    buffers = Buffers()
    view = buffers.take(1000)
    address = address_of(view)
    view[:3] = b"abc"
    del view
    smaller = buffers.take(10)
    assert (address_of(smaller), len(smaller)) == (address, 10)


@each_of(
    "see",
    [
        lambda view: view[5:],
        lambda view: np.frombuffer(view, np.uint8),
        lambda view: np.frombuffer(view, np.uint8)[5:9],
        pa.py_buffer,
        lambda view: pa.py_buffer(view[3:]),
    ],
    ids=["part", "array", "part of an array", "buffer", "buffer of a part"],
)
def test_take__not_what_a_view_still_needs(see):
    buffers = Buffers()
    view = buffers.take(1000)
    view[:] = b"x" * 1000
    seen = see(view)
    del view
    others = [buffers.take(1000) for _ in range(3)]
    for other in others:
        other[:] = b"y" * 1000
    assert bytes(memoryview(seen)).count(b"x") == len(memoryview(seen))


def test_take__more_than_there_was():
    buffers = Buffers()
    view = buffers.take(10)
    del view
    larger = buffers.take(5000)
    larger[:] = b"z" * 5000
    assert bytes(larger) == b"z" * 5000


def test_take__as_many_as_are_in_use():
    buffers = Buffers()
    views = [buffers.take(100) for _ in range(3)]
    assert len({address_of(view) for view in views}) == 3


def test_take__used_longer_than_the_buffers():
    view = Buffers().take(4)
    view[:] = b"abcd"
    assert bytes(view) == b"abcd"
