"""What segments lose: documents that are taken out stay in the files, and are known by number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.storage.extras import write_removed
from neardup.storage.manifest import Manifest, SegmentRecord
from neardup.tables import Uint32s


def without(
    folder: Path, manifest: Manifest, record: SegmentRecord, before: Uint32s, rows: Uint32s
) -> SegmentRecord:
    """Return the record of a segment that loses rows, ascending, and has lost some before.

    Raises
    ------
    WriteError
        If their numbers cannot be written.
    """
    if not len(rows):
        return record
    name = f"{record.name}-{manifest.generation + 1:06d}"
    everything: Uint32s = np.union1d(before, rows).astype(np.uint32)
    return replace(record, removed=write_removed(folder, name, everything))


def check_all_found(wanted: pa.Array, have: pa.ChunkedArray) -> None:
    """Make sure that an index has all documents that are to be removed, by their ids.

    Raises
    ------
    InvalidInputError
        If it has not.
    """
    missing = wanted.filter(pc.invert(pc.is_in(wanted, value_set=have)))
    if len(missing):
        others = {1: "", 2: " and another one"}.get(
            len(missing), f" and {len(missing) - 1:,} others"
        )
        message = f"the index has no document {missing[0].as_py()!r}{others}; nothing was removed"
        raise InvalidInputError(message)
