"""Where texts seem to lie inside longer ones, told from their edit signatures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.jobs.sketch.sketches import Sketches
from neardup.sketches.edit.place import place_inside
from neardup.sketches.edit.signature import EditScheme
from neardup.tables import Int64s


def check_places(sketches: Sketches) -> EditScheme:
    """Give the scheme of sketches that tell places.

    Raises
    ------
    InvalidParameterError
        For sketches that do not.
    """
    scheme = sketches.kind_scheme
    if not isinstance(scheme, EditScheme):
        message = f"places are told by sketches of kind edit, got {sketches.kind}"
        raise InvalidParameterError(message, "places")
    return scheme


def add_places(table: pa.Table, sketches: Sketches) -> pa.Table:
    """Add to pairs of rows ``left`` and ``right`` where the shorter text may lie in the longer one.

    ``inner`` is a or b, the shorter one of the pair (a where both are as long); ``place_start`` and
    ``place_end`` are characters of the other one, and ``place_share`` is the part of the inner
    one's symbols that was found there in order. All are null where there is no estimate.
    """
    scheme = check_places(sketches)
    rows = sketches.rows
    left, right = (np.array(table[name].to_numpy(), np.int64) for name in ("left", "right"))
    is_known = table["distance"].is_valid().to_numpy()
    known = np.flatnonzero(is_known)
    lengths: Int64s = rows.lengths  # type: ignore[union-attr]
    is_left = lengths[left] <= lengths[right]
    inner, outer = np.where(is_left, left, right), np.where(is_left, right, left)
    places = place_inside(rows, scheme, inner[known], outer[known])  # type: ignore[arg-type]
    columns: dict[str, np.ndarray] = {
        "place_start": places.starts,
        "place_end": places.stops,
        "place_share": places.shares,
    }
    table = table.append_column("inner", pa.array(np.where(is_left, "a", "b"), mask=~is_known))
    for name, found in columns.items():
        values = np.zeros(len(table), found.dtype)
        values[known] = found
        table = table.append_column(name, pa.array(values, mask=~is_known))
    return table
