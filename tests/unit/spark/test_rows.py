"""Rows come out of the outbox once each, with the partition that they were given."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from neardup.spark import read
from neardup.spark.read import Outbox, from_bytes, to_bytes


@pytest.mark.parametrize("room", [1, 200, 10**9])
def test_outbox(monkeypatch, room):
    monkeypatch.setattr(read, "_WAITING_BYTES", room)
    generator = np.random.default_rng(5)
    outbox = Outbox()
    expected: dict[int, list[int]] = {}
    sent: list[tuple[int, bytes]] = []
    number = 0
    for size in (3, 0, 10, 1):
        numbers = np.arange(number, number + size)
        partitions = generator.integers(0, 4, size)
        for each, partition in zip(numbers.tolist(), partitions.tolist(), strict=True):
            expected.setdefault(partition, []).append(each)
        batch = pa.RecordBatch.from_pydict({"number": numbers, "text": [str(n) for n in numbers]})
        if size:
            sent += outbox.add(batch, partitions)
        number += size
    sent += outbox.rest()
    assert list(outbox.rest()) == []
    found: dict[int, list[int]] = {}
    for partition, data in sent:
        batch = from_bytes(data)
        assert batch.column("text").to_pylist() == [str(n) for n in batch.column(0).to_pylist()]
        found.setdefault(partition, []).extend(batch.column("number").to_pylist())
    assert found == expected


def test_to_bytes__of_a_slice_only_its_rows():
    batch = pa.RecordBatch.from_pydict({"text": ["word" * 100] * 1000})
    data = to_bytes(batch.slice(500, 2))
    assert len(data) < 2000
    assert from_bytes(data).column("text").to_pylist() == ["word" * 100] * 2
