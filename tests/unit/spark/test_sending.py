"""Rows of a task on their way to partitions: all arrive, in blocks of any size."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from neardup.engine.spark import read
from neardup.engine.spark.read import from_bytes, sending


@sending
def send_rows(sizes):
    start = 0
    for size in sizes:
        numbers = np.arange(start, start + size)
        start += size
        yield pa.RecordBatch.from_pydict({"row": numbers}), numbers * 7 % 3
    yield 1, "a failure"


@pytest.mark.parametrize("n_bytes", [1, 100, 1 << 20])
def test_sending(monkeypatch, n_bytes):
    monkeypatch.setattr(read, "_WAITING_BYTES", n_bytes)
    rows, others = defaultdict(list), []
    for partition, data in send_rows([5, 0, 20, 1, 7]):
        if isinstance(data, bytes):
            rows[partition] += from_bytes(data)["row"].tolist()
        else:
            others.append((partition, data))
    assert others == [(1, "a failure")]
    assert rows == {part: [n for n in range(33) if n * 7 % 3 == part] for part in range(3)}
