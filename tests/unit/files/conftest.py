"""Files to read, and short ways to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec
import pytest

from neardup.files.streams import LocalDestination
from tests.files import compress, copy_rows, decompress

if TYPE_CHECKING:
    from neardup.files.rows import Source

MakeFile = Callable[[str, bytes], Path]


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
        with source.writer(LocalDestination(tmp_path / folder)) as writer:
            copy_rows(source, writer.write, keep)
        return tmp_path / folder / source.written_name

    return write


@pytest.fixture
def read_back() -> Callable[[Path], bytes]:
    return decompress


@pytest.fixture
def copy() -> Callable[..., None]:
    return copy_rows


@pytest.fixture
def memory() -> Iterator[Any]:
    """Give the file system in memory, empty."""
    system = fsspec.filesystem("memory")
    _clear(system)
    yield system
    _clear(system)


def _clear(system: Any) -> None:
    system.store.clear()
    system.pseudo_dirs[:] = [""]
