from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.files.rawrows import Buffers
from tests.each import each_of


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
