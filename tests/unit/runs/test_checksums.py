"""Checksums cover every byte and do not depend on how a file is cut into parts."""

from __future__ import annotations

import zlib

import numpy as np

from neardup.runs.disk import HEAD, RunningChecksum, record_of_file
from tests.each import each_of


@each_of("size", [0, 1, HEAD - 1, HEAD, HEAD + 1, 5000])
def test_checksum__parts(size, tmp_path):
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "a").write_bytes(data)
    found = record_of_file(tmp_path / "a")
    assert found.size == size
    assert found.checksum == f"{zlib.crc32(data[HEAD:] + data[:HEAD]):08x}"
    for n_parts in (1, 2, 7, 300):
        checksum = RunningChecksum()
        for part in np.array_split(np.frombuffer(data, np.uint8), n_parts):
            checksum.update(part)
        assert checksum.record() == found


def test_checksum__head_is_replaced(tmp_path):
    checksum = RunningChecksum()
    checksum.update(bytes(HEAD) + b"rest")
    checksum.replace_head(b"x" * HEAD)
    (tmp_path / "a").write_bytes(b"x" * HEAD + b"rest")
    assert checksum.record() == record_of_file(tmp_path / "a")


def test_checksum__every_single_bit(tmp_path):
    data = bytearray(np.random.default_rng(6).bytes(HEAD + 40))
    seen = set()
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        checksum = RunningChecksum()
        checksum.update(data)
        seen.add(checksum.record())
        data[bit // 8] ^= 1 << bit % 8
    assert len(seen) == 8 * len(data)
