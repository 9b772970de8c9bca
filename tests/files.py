"""Files compressed and read with other libraries than neardup, where there are such."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from neardup.files.rows import Mask, RowBlock, Source


def compress(name: str, data: bytes) -> bytes:
    """Compress as the suffix of the name says."""
    suffix = name.rpartition(".")[2]
    if suffix == "zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    compressors = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    return compressors.get(suffix, bytes)(data)


def decompress(path: Path) -> bytes:
    """Read a file that is compressed as its suffix says."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return stream.read()
    decompressors = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    return decompressors.get(path.suffix, bytes)(data)


def check_skipped(skipped: list[tuple[int, str]], facts: dict[int, str]) -> None:
    """Check the rows that were skipped, and the facts in each reason."""
    assert [row for row, _ in skipped] == list(facts)
    for row, reason in skipped:
        assert re.search(facts[row], reason)


def copy_rows(
    source: Source, write: Callable[[RowBlock, Mask], None], keep: Callable[[int], bool]
) -> None:
    """Write the rows of a source whose running index passes a test."""
    seen = 0
    for block in source.blocks():
        write(block, np.array([keep(seen + i) for i in range(len(block))], np.bool_))
        seen += len(block)
