"""Collections of nothing but ids."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.rows import ColumnNames
from neardup.reading.catalogue import Catalogue

COLUMNS = ColumnNames(id="id")


class Ids(list[pa.Array]):
    """Arrays of ids, and their type."""

    def __init__(self, parts: Sequence[Sequence[Any]], kind: pa.DataType) -> None:
        super().__init__(pa.array(part, kind) for part in parts)
        self.kind = kind


def make_catalogue(parts: Sequence[Sequence[Any]], kind: pa.DataType) -> Catalogue:
    """Make a collection of documents with these ids, some in each slice."""
    n = sum(map(len, parts))
    return Catalogue(
        sources=[SimpleNamespace(name="f")],
        columns=COLUMNS,
        source_starts=np.array([0, n]),
        numbers=np.arange(n),
        n_tokens=np.ones(n, np.int64),
        lengths=None,
        ids=Ids(parts, kind),
        order=None,
        text_bytes=0,
    )
