"""The stage add: what stays of a collection goes into an index, which is told what went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.documents.additions import Adding, known_id
from neardup.documents.index import OpenDocuments
from neardup.documents.queries import Queries
from neardup.documents.reading import ReadDocuments, read_block
from neardup.files.rows import RowBlock, Source
from neardup.jobs.dedup.decide import Assignment
from neardup.jobs.dedup.ids import KeeperIds
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import file_has_changed, numbered_blocks
from neardup.reading.signed_batches import SignedBatches, filters_of, numbers_of, take_filters
from neardup.reading.texts import IdLookup
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


def add_survivors(
    new: Adding,
    batches: SignedBatches,
    own: Catalogue,
    other: Catalogue,
    assignment: Assignment,
    are_known: Bools,
    runner: Runner,
) -> int:
    """Add the documents that stay, and note those that went; returns how many were added.

    ``batches`` are the signed documents of ``own``, which are not signed again, and ``other`` those
    of the index for which some went. Those that ``are_known`` are there.
    """
    stays = assignment.stays & own.is_document & ~are_known

    def read(item: _Part) -> ReadDocuments:
        select = stays[item.rows]
        queries = _queries_of(item.batch, np.flatnonzero(select), batches.n_bands)
        return read_block(
            item.source, item.block, own.columns, new.scheme, select=select, queries=queries
        )

    count = runner.counter("add", int(stays.sum()))
    n_added = 0
    for documents in runner.map(read, _parts(batches, own, stays)):
        ids = documents.batch.ids
        known = np.flatnonzero(new.index.documents_of_ids(ids) >= 0)
        if len(known):
            first = int(known[0])
            row = int(documents.numbers[first])
            raise known_id(ids[first].as_py(), documents.source, row, own.columns)
        new.add(documents.batch)
        n_added += len(ids)
        count(len(ids))
    _note_gone(new, batches, own, other, assignment)
    return n_added


def find_known(
    index: OpenDocuments, batches: SignedBatches, own: Catalogue, assignment: Assignment
) -> Bools:
    """Return which documents are in the index themselves, with the same id and the same tokens.

    So it is where a run is repeated that had added them.
    """
    are_known: Bools = np.zeros(len(own), np.bool_)
    ids = IdLookup(own)
    may_be = assignment.exact | (own.n_tokens == 0)
    for start, digests in batches.digests():
        rows = start + np.flatnonzero(may_be[start : start + len(digests)])
        documents = index.documents_of_ids(ids.take(rows))
        rows, documents = rows[documents >= 0], documents[documents >= 0]
        order = np.argsort(documents)
        rows, documents = rows[order], documents[order]
        is_same = index.digests_of(documents) == digests.values[rows - start]
        are_known[rows[is_same.all(axis=1)]] = True
    return are_known


@dataclass(frozen=True)
class _Part:
    """A block that is read again, the numbers of its documents, and what was signed of them."""

    source: Source
    block: RowBlock
    rows: slice
    batch: pa.RecordBatch


def _parts(batches: SignedBatches, own: Catalogue, stays: Bools) -> Iterator[_Part]:
    """Yield the blocks of which some document stays."""
    signed = iter(batches)
    for source, start, stop in own.ranges():
        for block, rows in numbered_blocks(source, start, stop):
            first, batch = next(signed)
            if first != rows.start or len(batch) != len(block):
                raise file_has_changed(source.name)
            if stays[rows].any():
                yield _Part(source, block, rows, batch)


def _queries_of(batch: pa.RecordBatch, rows: Int64s, n_bands: int) -> Queries:
    """Return what was signed of some documents of a batch."""
    digests = np.column_stack(
        [numbers_of(batch, f"digest_{half}")[rows] for half in ("low", "high")]
    )
    keys = np.column_stack([numbers_of(batch, f"key_{band}")[rows] for band in range(n_bands)])
    filters = filters_of(batch)
    if filters is not None:
        filters = take_filters(filters, rows)
    return Queries(numbers_of(batch, "n_tokens")[rows], digests, keys, filters, None)


def _note_gone(
    new: Adding, batches: SignedBatches, own: Catalogue, other: Catalogue, assignment: Assignment
) -> None:
    own_ids = IdLookup(own)
    kept_ids = KeeperIds(own, other, assignment.keepers, shares_ids=True)
    for start, digests in batches.digests():
        gone = start + np.flatnonzero(~assignment.stays[start : start + len(digests)])
        new.went(
            own_ids.take(gone),
            kept_ids.take(assignment.keepers[gone]),
            digests.values[gone - start],
            assignment.similarities[gone],
        )
