"""Taking documents out of an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.passages.handle import PassageHandle
from neardup.passages.segment import DOCUMENT_SCHEMA
from neardup.runtime.runner import Runner
from neardup.storage.generations import store_next
from neardup.storage.losses import check_all_found, without


@dataclass(frozen=True)
class Removal:
    """How many documents were taken out, and how many are left."""

    n_removed: int
    n_documents: int


def remove_documents(handle: PassageHandle, ids: Iterable[str | int], runner: Runner) -> Removal:
    """Take documents out; all of them or none.

    Their windows stay on disk until the index is compacted. No tokenizer is needed for it.

    Raises
    ------
    InvalidInputError
        If there is no document of one of the ids.
    """
    wanted = pa.array(sorted(set(map(str, ids))), pa.large_string())
    with handle.changing(runner) as files:
        manifest = files.manifest
        lost, found = [], []
        for record, segment, before in zip(
            manifest.segments, files.segments, files.removed, strict=True
        ):
            column = segment.table("documents", DOCUMENT_SCHEMA)["id"]
            rows = np.flatnonzero(pc.is_in(column, value_set=wanted).to_numpy())
            rows = np.setdiff1d(rows, before)
            found += column.take(pa.array(rows)).chunks
            lost.append((record, before, rows.astype(np.uint32)))
        check_all_found(wanted, pa.chunked_array(found, pa.large_string()))
        if len(wanted):
            records = [without(handle.folder, manifest, *of_segment) for of_segment in lost]
            store_next(handle.folder, manifest, records, manifest.files)
    n_before = sum(record.n_documents for record in manifest.segments)
    n_lost = sum(map(len, files.removed))
    return Removal(len(wanted), n_before - n_lost - len(wanted))
