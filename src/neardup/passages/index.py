"""A passage index as its readers see it: segments, and what was taken out of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.ids import common_id_type
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import PassageSegment
from neardup.storage.manifest import Manifest, SegmentRecord
from neardup.tables import Bools, Int64s, Uint32s
from neardup.text.weighting import DocumentFrequencies


@dataclass(frozen=True)
class OpenIndex:
    """All that a reader needs of an index, as it was at one moment; for any number of threads.

    ``removed`` holds, for each segment, the numbers of documents that are no longer there.
    """

    manifest: Manifest
    scheme: PassageScheme
    frequencies: DocumentFrequencies | None
    searchers: tuple[SegmentSearcher, ...]
    removed: tuple[Uint32s, ...]

    @cached_property
    def segments(self) -> tuple[PassageSegment, ...]:
        """The documents and windows, in the order in which they were added."""
        return tuple(searcher.segment for searcher in self.searchers)

    @cached_property
    def first_documents(self) -> Int64s:
        """The number of each segment's first document, and that of all documents (n + 1)."""
        sizes = [len(segment.ids) for segment in self.segments]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def id_type(self) -> pa.DataType:
        """The type that the ids of all documents have together."""
        return common_id_type(segment.id_type for segment in self.segments)

    @property
    def n_documents(self) -> int:
        """Documents that can be found."""
        return int(self.first_documents[-1]) - sum(map(len, self.removed))

    def document_sizes(self) -> Int64s:
        """Return the number of tokens of each document that can be found."""
        sizes = [
            np.delete(np.diff(segment.offsets), removed)
            for segment, removed in zip(self.segments, self.removed, strict=True)
        ]
        return np.concatenate([np.empty(0, np.int64), *sizes])

    def segments_of(self, documents: Int64s) -> Int64s:
        """Return the segments of some documents, which are counted through all segments."""
        return np.searchsorted(self.first_documents, documents, side="right") - 1

    def are_kept(self, segment: int, documents: Int64s) -> Bools:
        """Return which of some documents of a segment are still there."""
        removed = self.removed[segment]
        if not len(removed):
            return np.ones(len(documents), np.bool_)
        places = np.minimum(np.searchsorted(removed, documents), len(removed) - 1)
        kept: Bools = removed[places] != documents
        return kept


def segment_bytes(records: Iterable[SegmentRecord]) -> int:
    """Count the bytes of all files of some segments."""
    return sum(file.size for record in records for file in record.files.values())


def describe_index(folder: Path, index: OpenIndex) -> dict[str, Any]:
    """Tell what an index holds, in plain values."""
    manifest = index.manifest
    records = manifest.segments
    of_texts = sum(segment.files["documents.arrow"].size for segment in records)
    n_tokens = sum(segment.n_tokens for segment in records)
    return {
        "folder": str(folder),
        "documents": index.n_documents,
        "removed_documents": sum(map(len, index.removed)),
        "tokens": n_tokens,
        "windows": sum(len(segment.windows.starts) for segment in index.segments),
        "segments": len(records),
        "bytes": segment_bytes(records) + sum(record.size for record in manifest.files.values()),
        "bytes_of_texts": of_texts,
        "scheme": index.scheme.describe(),
        "generation": manifest.generation,
        "created_with": manifest.created_with,
    }
