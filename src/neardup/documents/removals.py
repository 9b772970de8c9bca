"""Taking documents out of an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.compaction import gone_of
from neardup.documents.handle import DocumentHandle
from neardup.documents.index import OpenDocuments
from neardup.documents.segment import DocumentSegment
from neardup.runtime.runner import Runner
from neardup.storage.generations import store_next
from neardup.storage.losses import check_all_found, without

_ORPHANS = pa.schema(
    [("id", pa.large_string()), ("kept_id", pa.large_string()), ("similarity", pa.float64())]
)


@dataclass(frozen=True)
class Removal:
    """What a removal did: documents taken out, documents left, and what had gone for the former.

    ``orphans`` has the columns ``id``, ``kept_id`` and ``similarity``: documents that are not in
    the index because they went for one that now is not, either.
    """

    n_removed: int
    n_documents: int
    orphans: pa.Table = field(default_factory=_ORPHANS.empty_table)


def remove_documents(handle: DocumentHandle, ids: Iterable[str | int], runner: Runner) -> Removal:
    """Take documents out; all of them or none.

    What they take stays on disk until their segments are written anew.

    Raises
    ------
    InvalidInputError
        If there is no document of one of the ids.
    IndexLockedError, ReadError, WriteError, IndexFormatError
        As additions.
    """
    wanted = pa.array(sorted(set(map(str, ids))), pa.large_string())
    with handle.changing(runner) as files:
        manifest, index = files.manifest, handle.read(files)
        documents = index.documents_of_ids(wanted)
        found = wanted.filter(pa.array(documents >= 0))
        check_all_found(wanted, pa.chunked_array([found], pa.large_string()))
        orphans = find_orphans(index, wanted)
        if len(wanted):
            bounds = np.searchsorted(np.sort(documents), index.first_documents)
            records = []
            for number, record in enumerate(manifest.segments):
                own = np.sort(documents)[bounds[number] : bounds[number + 1]]
                rows = (own - index.first_documents[number]).astype(np.uint32)
                before = index.removed[number]
                records.append(without(handle.folder, manifest, record, before, rows))
            store_next(handle.folder, manifest, records, manifest.files)
    return Removal(len(wanted), index.n_documents - len(wanted), orphans)


def find_orphans(index: OpenDocuments, ids: pa.Array) -> pa.Table:
    """Return the documents that went for some of the index, which are given by their ids."""
    parts = [_ORPHANS.empty_table()]
    for number, segment in enumerate(index.segments):
        assert isinstance(segment, DocumentSegment)
        for gone_ids, kept_ids, _, similarities in gone_of(segment):
            keepers = index.documents_of_ids(kept_ids)
            is_there = (keepers >= 0) & (keepers < index.first_documents[number + 1])
            mask = pc.and_(pc.is_in(kept_ids, value_set=ids), pa.array(is_there))
            columns = [gone_ids, kept_ids, pa.array(similarities)]
            parts.append(pa.table(columns, _ORPHANS).filter(mask))
    every = pa.concat_tables(parts)
    # Who repeats an addition notes again what went.
    pairs = zip(every["id"].to_pylist(), every["kept_id"].to_pylist(), strict=True)
    firsts = {pair: place for place, pair in reversed(list(enumerate(pairs)))}
    return every.take(pa.array(sorted(firsts.values()), pa.int64()))
