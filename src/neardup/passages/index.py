"""An index of passages as its readers see it, and its handle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup.index.handle import IndexHandle, OpenFiles, open_frequencies
from neardup.index.index import OpenIndex
from neardup.index.segments import Segment, open_segment
from neardup.index.store import Manifest, SegmentRecord
from neardup.options.choices import InverseFrequency
from neardup.passages.pending import PendingDocuments
from neardup.passages.scheme import PassageScheme, restore_scheme
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import PassageSegment, read_segment
from neardup.runs.runner import Runner, release_memory
from neardup.tables import Int64s, Uint32s
from neardup.text.weighting import DocumentFrequencies


@dataclass(frozen=True)
class OpenPassages(OpenIndex[PassageScheme, PassageSegment]):
    """An index of passages, with a searcher per segment.

    With ``gives_back``, little of its files stays in memory.
    """

    frequencies: DocumentFrequencies | None
    searchers: tuple[SegmentSearcher, ...]
    gives_back: bool = False

    texts_in: ClassVar = "documents.arrow"

    def document_sizes(self) -> Int64s:
        """Return the number of tokens of each document that is not removed."""
        sizes = [
            np.delete(np.diff(segment.offsets), removed)
            for segment, removed in zip(self.segments, self.removed, strict=True)
        ]
        return np.concatenate([np.empty(0, np.int64), *sizes])

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return the ids and texts of documents, whose numbers ascend."""
        tables = [
            pa.table(
                {
                    "id": segment.ids_of(rows).cast(self.id_type),
                    "text": segment.texts.take(pa.array(rows)),
                }
            )
            for segment, rows in self.by_segment(documents)
        ]
        schema = pa.schema([("id", self.id_type), ("text", pa.large_string())])
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def weighed_by(self, idf: InverseFrequency) -> OpenPassages:
        """Return an index without min-hashes, with other inverse document frequencies."""
        scheme = self.scheme.weighed_by(idf)
        searchers = tuple(
            SegmentSearcher(segment, scheme, self.frequencies) for segment in self.segments
        )
        return replace(self, scheme=scheme, searchers=searchers)

    def leave(self, number: int) -> None:
        """Free the memory of a segment's files, if ``gives_back`` is set."""
        if self.gives_back:
            self.segments[number].let_go()

    def search_bytes(self, n_threads: int) -> int:
        """Return the approximate memory of a search of all segments."""
        return sum(searcher.memory_bytes(n_threads) for searcher in self.searchers)

    def in_turns(
        self, first: int, n_threads: int, fits: Callable[[int], bool]
    ) -> Iterator[Sequence[int]]:
        """Yield groups of segment numbers that fit into memory together.

        If all fit, data of the search stay for the next one; otherwise they are freed after each
        group.
        """
        turns: list[list[int]] = [[]]
        n_bytes = 0
        for number in range(first, len(self.segments)):
            needed = self.searchers[number].memory_bytes(n_threads)
            if turns[-1] and not fits(n_bytes + needed):
                turns.append([])
                n_bytes = 0
            turns[-1].append(number)
            n_bytes += needed
        for turn in filter(None, turns):
            yield turn
            if len(turns) > 1:
                for number in turn:
                    self.searchers[number].forget()
                # The C library would keep much of it, in fragments.
                release_memory()

    def counts(self) -> dict[str, Any]:
        """Return the document counts for ``describe``."""
        return {
            "documents": self.n_documents,
            "removed_documents": sum(map(len, self.removed)),
            "tokens": self.manifest.pending.n_tokens
            + sum(record.n_tokens for record in self.manifest.segments),
            "windows": sum(len(segment.windows.starts) for segment in self.segments),
        }

    def describe(self, folder: Path) -> dict[str, Any]:
        """Describe an index, with defaults that the first versions did not write."""
        return {**super().describe(folder), "scheme": self.scheme.describe()}


def open_segments(
    folder: Path,
    records: Sequence[SegmentRecord],
    removed: Sequence[Uint32s],
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
    pending: Sequence[PassageSegment] = (),
) -> OpenPassages:
    """Open some segments of an index with known scheme and frequencies as an index.

    Every byte of them is checked. ``removed`` has the removed rows of each segment, ``pending`` are
    further segments in memory.
    """
    segments = [read_segment(open_segment(folder, record, runner), scheme) for record in records]
    segments += pending
    searchers = tuple(SegmentSearcher(segment, scheme, frequencies) for segment in segments)
    manifest = Manifest(scheme.describe(), segments=tuple(records))
    return OpenPassages(manifest, scheme, tuple(segments), tuple(removed), frequencies, searchers)


_Decided = tuple[PassageScheme, DocumentFrequencies | None]


class PassageHandle(IndexHandle[OpenPassages, _Decided, SegmentSearcher]):
    """An open index of passages; its segments keep their lookup tables."""

    kind: ClassVar = "passages"

    def restore(self, files: OpenFiles) -> _Decided:
        """Restore the scheme and the frequencies."""
        scheme = restore_scheme(files.manifest.scheme, self.tokenizer)
        return scheme, open_frequencies(files)

    def open_part(self, segment: Segment, restored: _Decided) -> SegmentSearcher:
        """Open the files of a segment."""
        scheme, frequencies = restored
        return SegmentSearcher(read_segment(segment, scheme), scheme, frequencies)

    def view_of(
        self, files: OpenFiles, restored: _Decided, parts: tuple[SegmentSearcher, ...]
    ) -> OpenPassages:
        """Combine all segments to an index."""
        scheme, frequencies = restored
        if self._pending is None or self._pending.made_by is not restored:
            self._pending = PendingDocuments(restored)
        pending = self._pending.read(files.contents.pending)
        waiting = tuple(searcher.segment for searcher in pending)
        segments = (*(searcher.segment for searcher in parts), *waiting)
        # Pending documents are rewritten when one of them is removed.
        removed = (*files.removed[:-1], *[np.empty(0, np.uint32)] * len(waiting))
        searchers = (*parts, *pending)
        return OpenPassages(files.manifest, scheme, segments, removed, frequencies, searchers)

    _pending: PendingDocuments | None = None
