"""Pending documents of a passage index, stored in its database until they fill a segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import pyarrow as pa
import pyarrow.ipc

from neardup.files.ids import as_text, common_id_type, join_ids
from neardup.passages.documents import DocumentBlock, join_blocks
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import DocumentsById, PassageSegment, hold_segment
from neardup.runs.runner import Runner
from neardup.tables import Int64s, TokenLists, TokenSpans
from neardup.text.weighting import DocumentFrequencies

# Maximum pending documents and tokens: each process that searches the index computes their windows.
MOST_PENDING, MOST_PENDING_TOKENS = 1 << 10, 1 << 18


def pack_block(block: DocumentBlock) -> bytes:
    """Serialize documents for a row of the database."""
    offsets, spans = pa.array(block.tokens.offsets), block.spans
    columns = {
        "id": block.ids,
        "text": block.texts,
        **{
            name: pa.LargeListArray.from_arrays(offsets, pa.array(values))
            for name, values in (
                ("token", block.tokens.values), ("start", spans.starts), ("stop", spans.stops)
            )
        },
    }  # fmt: skip
    if block.files is not None:
        columns["files"] = block.files
    table, sink = pa.table(columns), pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return cast(bytes, sink.getvalue().to_pybytes())


def unpack_block(data: bytes) -> DocumentBlock:
    """Return the documents of a row, whose checksum has been verified."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    table = pa.ipc.open_stream(pa.py_buffer(data), options=options).read_all()
    column = {name: table[name].combine_chunks() for name in table.column_names}
    tokens, starts, stops = (column[name].values.to_numpy() for name in ("token", "start", "stop"))
    return DocumentBlock(
        column["id"],
        column["text"],
        TokenLists(tokens, column["token"].offsets.to_numpy()),
        TokenSpans(starts, stops),
        files=column.get("files"),
    )


class PendingSegment(DocumentsById):
    """A segment of documents that wait, whose windows are made when it is first searched.

    It has the attributes of ``PassageSegment``.
    """

    def __init__(
        self,
        blocks: Sequence[DocumentBlock],
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.blocks, self._made_by = tuple(blocks), (scheme, frequencies)
        self.n_tokens = sum(block.n_tokens for block in blocks)
        self._n_documents = sum(map(len, blocks))
        self.id_type = common_id_type(block.ids.type for block in blocks)

    @property
    def is_held(self) -> bool:
        """Whether its windows are computed."""
        return "_held" in vars(self)

    def __len__(self) -> int:
        return self._n_documents

    @cached_property
    def block(self) -> DocumentBlock:
        """All documents in one block."""
        return join_blocks(self.blocks)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids, as large strings."""
        return as_text(join_ids([block.ids for block in self.blocks]))

    @property
    def texts(self) -> pa.Array:
        """The texts."""
        return self.block.texts

    @property
    def offsets(self) -> Int64s:
        """Where the tokens of each document begin."""
        return self.block.tokens.offsets

    @cached_property
    def _held(self) -> PassageSegment:
        return hold_segment("pending", self.block, *self._made_by, Runner(1))[1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._held, name)


class PendingDocuments:
    """The pending documents, in a few segments that grow with new rows.

    A segment with computed windows stays unchanged until more than half its tokens have been added
    after it.
    """

    def __init__(self, made_by: tuple[PassageScheme, DocumentFrequencies | None]) -> None:
        self.made_by = made_by
        self._rows: tuple[bytes, ...] = ()
        self._blocks: list[DocumentBlock] = []
        self._searchers: list[SegmentSearcher] = []

    def read(self, rows: tuple[bytes, ...]) -> list[SegmentSearcher]:
        """Return the segments of some rows; rows that were read before are cached."""
        n = len(self._rows)
        if rows[:n] != self._rows:
            n, self._blocks, self._searchers = 0, [], []
        self._rows = rows
        self._blocks += map(unpack_block, rows[n:])
        if len(rows) > n:
            kept = list(self._searchers)
            n_kept = sum(len(_pending_of(searcher).blocks) for searcher in kept)
            n_new = sum(block.n_tokens for block in self._blocks[n_kept:])
            while kept:
                last = _pending_of(kept[-1])
                if last.is_held and last.n_tokens > 2 * n_new:
                    break
                n_new, n_kept = n_new + last.n_tokens, n_kept - len(last.blocks)
                kept.pop()
            new = PendingSegment(self._blocks[n_kept:], *self.made_by)
            self._searchers = [*kept, SegmentSearcher(cast(PassageSegment, new), *self.made_by)]
        return self._searchers


def _pending_of(searcher: SegmentSearcher) -> PendingSegment:
    return cast(PendingSegment, searcher.segment)
