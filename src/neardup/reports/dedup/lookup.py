"""Removed documents as a block of data in the page, to be looked up by id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Int64s

# Bytes of data in a page. Browsers read them in a few hundredths of a second.
MOST_BYTES = 3_000_000

# Characters of an id or name that are listed.
MOST_CHARACTERS = 200

# Rows that show how much one needs; and how far below the limit another attempt aims.
_PILOT = 2_000
_MARGIN = 0.98

_KEEPER = ["kept_in", "kept_id", "kept_file", "kept_row"]


@dataclass(frozen=True)
class Lookup:
    """Columns of ``n_listed`` of all ``n_removed`` documents, as plain values for JSON.

    ``n_cut`` of those listed have an id that was cut to ``MOST_CHARACTERS``.
    """

    columns: Mapping[str, Any]
    n_listed: int
    n_removed: int
    n_cut: int

    @property
    def is_sample(self) -> bool:
        """Whether some removed documents are not listed."""
        return self.n_listed < self.n_removed


def list_removed(removed: pa.Table, *, most_bytes: int = MOST_BYTES) -> Lookup:
    """List removed documents, and those that stay for them, as columns.

    All of them, if they need at most so many bytes; else as many as fit, evenly spread over the
    table: every seventh, say.

    Parameters
    ----------
    removed
        The table of removed documents.
    most_bytes
        Of the columns as JSON.

    Notes
    -----
    Similarities are whole numbers of ten-thousandths, rounded, but below 10,000 if they are below
    1; null where none is known. Keepers stand once each: ``kept`` has their places.
    """
    n_removed = len(removed)
    _, n_bytes, _ = _list_some(removed, min(n_removed, _PILOT))
    per_row = max(n_bytes, 1) / max(min(n_removed, _PILOT), 1)
    n_listed = min(n_removed, int(most_bytes / per_row))
    while True:
        columns, n_bytes, n_cut = _list_some(removed, n_listed)
        if n_bytes <= most_bytes or not n_listed:
            return Lookup(columns, n_listed, n_removed, n_cut)
        n_listed = min(n_listed - 1, int(n_listed * most_bytes / n_bytes * _MARGIN))


def _list_some(removed: pa.Table, n: int) -> tuple[dict[str, Any], int, int]:
    """List so many documents, evenly spread; return also the bytes of JSON and the ids cut."""
    places: Int64s = np.linspace(0, max(len(removed) - 1, 0), n).astype(np.int64)
    columns, n_cut = _list_columns(removed.take(pa.array(places)))
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"))
    return columns, len(text.encode()), n_cut


def _list_columns(removed: pa.Table) -> tuple[dict[str, Any], int]:
    """Return the object that the page reads, and how many of its ids were cut."""
    keepers = removed.select(_KEEPER).group_by(_KEEPER, use_threads=False).aggregate([])
    # Arrow joins nothing on null, which the places of keepers of an index are.
    key_of = {tuple(row.values()): place for place, row in enumerate(keepers.to_pylist())}
    files: dict[str | None, int] = {}
    n_cut = 0

    def cut(ids: pa.ChunkedArray) -> list[str]:
        nonlocal n_cut
        texts = pc.cast(ids, pa.large_string())
        n_cut += pc.sum(pc.greater(pc.utf8_length(texts), MOST_CHARACTERS)).as_py() or 0
        return list(pc.utf8_slice_codeunits(texts, 0, MOST_CHARACTERS).to_pylist())

    def number(names: pa.ChunkedArray) -> list[int]:
        return [files.setdefault(name, len(files)) for name in names.to_pylist()]

    similarities = removed["similarity"]
    rounded = pc.cast(pc.round(pc.multiply(similarities, 10_000)), pa.int32())
    ten_thousandths = pc.if_else(
        pc.less(similarities, 1),
        pc.min_element_wise(rounded, pa.scalar(9_999, pa.int32())),
        rounded,
    )
    columns = {
        "id": cut(removed["id"]),
        "file": number(removed["file"]),
        "row": removed["row"].to_pylist(),
        "similarity": ten_thousandths.to_pylist(),
        "copy": [int(bool(copy)) for copy in removed["exact_copy"].to_pylist()],
        "kept": [key_of[tuple(row.values())] for row in removed.select(_KEEPER).to_pylist()],
        "keeper": {
            "id": cut(keepers["kept_id"]),
            "file": number(keepers["kept_file"]),
            "row": keepers["kept_row"].to_pylist(),
            "against": [int(where == "against") for where in keepers["kept_in"].to_pylist()],
        },
    }
    columns["files"] = [None if name is None else name[:MOST_CHARACTERS] for name in files]
    return columns, n_cut
