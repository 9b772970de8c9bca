from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fsspec
import pytest


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
