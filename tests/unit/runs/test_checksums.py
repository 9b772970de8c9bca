"""Checksums of files cover every byte."""

from __future__ import annotations

import zlib

import numpy as np

from neardup.runs.disk import record_of_file
from tests.each import each_of


@each_of("size", [0, 1, 5000, (1 << 20) + 1])
def test_record_of_file(size, tmp_path):
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "a").write_bytes(data)
    found = record_of_file(tmp_path / "a")
    assert (found.size, found.checksum) == (size, f"{zlib.crc32(data):08x}")
