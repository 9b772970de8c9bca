"""Writing an index anew, without what was taken out of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from neardup.passages.documents import DocumentBlock
from neardup.passages.gathering import SEGMENT_TOKENS, gather
from neardup.passages.handle import PassageHandle
from neardup.passages.index import segment_bytes
from neardup.passages.segment import PassageSegment
from neardup.passages.segment_writer import write_segment
from neardup.runtime.runner import Runner
from neardup.storage.generations import free_name, store_next
from neardup.storage.manifest import SegmentRecord
from neardup.tables import Bools, TokenSpans, Uint32s


@dataclass(frozen=True)
class Compaction:
    """How many segments and documents an index has now, and how many bytes less."""

    n_segments: int
    n_documents: int
    n_freed_bytes: int


def compact_index(
    handle: PassageHandle, runner: Runner, *, segment_tokens: int = SEGMENT_TOKENS
) -> Compaction:
    """Write all segments anew, without removed documents and as few as possible.

    The answers stay the same. Documents are not tokenised again.

    Raises
    ------
    IndexLockedError
        If another writer is at work.
    ReadError, WriteError, IndexFormatError
        If files cannot be read or written, or are damaged.
    """
    folder = handle.folder
    with handle.changing(runner) as opened:
        manifest, index = opened.manifest, handle.read(opened)
        blocks = map(_stored_block, index.segments, index.removed)
        records: list[SegmentRecord] = []
        n_done = 0
        for block in gather(blocks, segment_tokens):
            if len(block):
                name = free_name(manifest, len(records))
                records.append(
                    write_segment(folder, name, block, index.scheme, index.frequencies, runner)
                )
                n_done += len(block)
                runner.report("compact", n_done, index.n_documents)
        store_next(folder, manifest, records, manifest.files)
        n_freed = segment_bytes(manifest.segments) - segment_bytes(records)
        return Compaction(len(records), index.n_documents, n_freed)


def _stored_block(segment: PassageSegment, removed: Uint32s) -> DocumentBlock:
    """Return the documents of a segment that are still there, as they were read."""
    tokens = segment.token_lists()
    n = len(tokens.values)
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
    starts, stops = segment.byte_places(np.arange(n, dtype=np.int64), documents)
    keep: Bools = np.ones(len(tokens), np.bool_)
    keep[removed] = False
    of_kept = np.repeat(keep, np.diff(tokens.offsets))
    sizes = np.diff(tokens.offsets)[keep]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ids = segment.ids.cast(segment.id_type)
    return DocumentBlock(
        ids if keep.all() else ids.filter(pa.array(keep)),
        segment.texts if keep.all() else segment.texts.filter(pa.array(keep)),
        replace(tokens, values=tokens.values[of_kept], offsets=offsets),
        TokenSpans(starts[of_kept], stops[of_kept]),
    )
