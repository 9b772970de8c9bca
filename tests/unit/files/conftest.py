"""Files to read, and short ways to read them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from neardup.files.rows import Mask, RowBlock, Source

MakeFile = Callable[[str, bytes], Path]


def compress(name: str, data: bytes) -> bytes:
    """Compress as the suffix of the name says, with other libraries than neardup where possible."""
    suffix = name.rpartition(".")[2]
    if suffix == "zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    compressors = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    return compressors.get(suffix, bytes)(data)


def decompress(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return stream.read()
    decompressors = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    return decompressors.get(path.suffix, bytes)(data)


@pytest.fixture
def make_file(tmp_path: Path) -> MakeFile:
    """Write bytes below the folder ``in``, compressed by suffix."""

    def make(name: str, data: bytes) -> Path:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(compress(name, data))
        return path

    return make


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Write the rows of a source whose running index passes a test; give the path."""

    def write(source: Source, keep: Callable[[int], bool], folder: str = "out") -> Path:
        with source.writer(tmp_path / folder) as writer:
            copy_rows(source, writer.write, keep)
        return tmp_path / folder / source.name

    return write


def copy_rows(
    source: Source, write: Callable[[RowBlock, Mask], None], keep: Callable[[int], bool]
) -> None:
    seen = 0
    for block in source.blocks():
        write(block, np.array([keep(seen + i) for i in range(len(block))], np.bool_))
        seen += len(block)


@pytest.fixture
def read_back() -> Callable[[Path], bytes]:
    return decompress


@pytest.fixture
def copy() -> Callable[..., None]:
    return copy_rows
