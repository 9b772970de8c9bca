"""Writing a segment of documents, batch after batch, within a bounded memory."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.documents import segment
from neardup.documents.queries import N_OTHER_LISTS
from neardup.documents.reading import DocumentBatch, PackedBlock, pack_cells
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment import ID_TYPES
from neardup.files.ids import as_text, common_id_type
from neardup.index.segments import SegmentWriter
from neardup.index.store import SEGMENTS, SegmentRecord
from neardup.kernels.bucket.entries import PAGE
from neardup.runs.arrays import AnyArray, PageSums
from neardup.runs.disk import part_of, translated
from neardup.runs.runner import Runner
from neardup.tables import Filters, Floats, Int64s, Texts, Uint32s, Uint64s

# Entries that are sorted in memory; more of them go to files, as sorted runs.
RUN_ENTRIES = 1 << 25

# Bytes of an array whose parts are small that are written together.
_WRITTEN_AT_ONCE = 1 << 20

# Entries of a list that are merged at once.
_MERGED_AT_ONCE = 1 << 22


class DocumentSegmentWriter:
    """Writes a segment; made by ``new_segment``, for one thread.

    Documents are numbered as they come. What is copied of another segment goes to ``blocks``, and
    to the ``sources`` of ``lists``, whose rows are the documents' numbers here.
    """

    def __init__(
        self,
        writer: SegmentWriter,
        runs_folder: Path,
        scheme: DocumentScheme,
        runner: Runner,
        run_entries: int,
    ) -> None:
        self.n_documents = 0
        self._n_tokens = 0
        self._writer, self._scheme, self._runner = writer, scheme, runner
        self._id_types: list[pa.DataType] = []
        self.lists = _Runs(scheme.banding.bands + N_OTHER_LISTS, runs_folder, runner, run_entries)
        of_filters = ("filters", "filter-starts") if scheme.has_filters else ()
        # In the order of the checksums of their pages.
        self._sums = {name: PageSums() for name in (*of_filters, "digests", "ids", "id-starts")}
        self._n_words, self._n_id_bytes = 0, 0
        self.blocks = _NewBlocks(writer, "blocks")
        self._gone = _NewBlocks(writer, "gone-blocks")
        self._append("digests", np.empty(0, np.uint64))
        self._append("ids", np.empty(0, np.uint8))
        self._append("id-starts", np.zeros(1, np.int64))
        if scheme.has_filters:
            self._append("filters", np.empty(0, np.uint64))
            self._append("filter-starts", np.zeros(1, np.int64))

    @property
    def n_gone(self) -> int:
        """Count the gone documents."""
        return self._gone.n_rows

    def add(self, batch: DocumentBatch) -> None:
        """Write the next documents."""
        for number, (keys, rows) in enumerate(batch.lists):
            self.lists.add(number, segment.sorted_entries(keys, rows + self.n_documents))
        ids = Texts.from_arrow(as_text(batch.ids))
        n_tokens = int(batch.n_tokens.sum())
        self.add_columns(batch.digests, batch.filters, ids, batch.ids.type, n_tokens)
        self.blocks.append(batch.packed)
        self.lists.spill_if_many()

    def add_columns(
        self,
        digests: Uint64s,
        filters: Filters | None,
        ids: Texts,
        id_type: pa.DataType,
        n_tokens: int,
    ) -> None:
        """Write what is known of the next documents but their entries and blocks.

        ``digests`` has shape (n, 2); ``n_tokens`` is the number of all their tokens. Ids were read
        as values of a type.
        """
        self._append("digests", np.ascontiguousarray(digests).reshape(-1))
        if filters is not None:
            self._append_filters(filters)
        first, stop = int(ids.offsets[0]), int(ids.offsets[-1])
        self._append("ids", ids.data[first:stop])
        self._append("id-starts", ids.offsets[1:] + (self._n_id_bytes - first))
        self._n_id_bytes += stop - first
        if len(digests):
            self._id_types.append(id_type)
        self._n_tokens += n_tokens
        self.n_documents += len(digests)

    def add_gone(
        self, ids: pa.Array, kept_ids: pa.Array, digests: Uint64s, similarities: Floats
    ) -> None:
        """Write which documents went for which; they are no documents of the index."""
        if not len(ids):
            return
        rows = np.arange(len(ids), dtype=np.int64) + self._gone.n_rows
        number = self._scheme.banding.bands + N_OTHER_LISTS - 1
        self.lists.add(number, segment.sorted_entries(digests[:, 0] >> np.uint64(32), rows))
        cells = segment.cells_of_gone(ids, kept_ids, digests, similarities)
        self._gone.append(pack_cells(cells, None))

    def finish(self, name: str) -> SegmentRecord:
        """Write the lists, and see that all is on the disk."""
        writer = self._writer
        starts, fences, sums = self._write_lists()
        kind = common_id_type(self._id_types)
        writer.add("layout", np.concatenate([[ID_TYPES.index(kind)], starts]).astype(np.int64))
        writer.add("fences", fences)
        every = [sums, *(each.finish() for each in self._sums.values())]
        every.append(self.blocks.finish("block-index"))
        if self._gone.n_rows:
            every.append(self._gone.finish("gone-index"))
        writer.add("sums", np.concatenate(every))
        return SegmentRecord(name, self.n_documents, self._n_tokens, writer.commit())

    def _write_lists(self) -> tuple[Int64s, Uint64s, Uint32s]:
        """Write all lists; returns where they start, their fences, and the sums of their pages."""
        starts, fences, sums = [0], [np.empty(0, np.uint64)], PageSums()
        written = Buffered(self._writer, "entries", np.empty(0, np.uint64))
        for number, parts in enumerate(self.lists.merged()):
            n = 0
            for part in parts:
                written.append(part)
                sums.update(part.data)
                fences.append(part[-n % PAGE :: PAGE])
                n += len(part)
            sums.close_page()
            starts.append(starts[-1] + n)
            self._runner.report("lists", number + 1, len(self.lists))
        written.flush()
        return np.array(starts, np.int64), np.concatenate(fences), sums.finish()

    def _append(self, name: str, array: AnyArray) -> None:
        self._writer.append(name, array)
        self._sums[name].update(array.data)

    def _append_filters(self, filters: Filters) -> None:
        """Write filters, each behind the size of its set."""
        words = np.insert(filters.words, filters.offsets[:-1], filters.sizes.astype(np.uint64))
        ends = filters.offsets[1:] + np.arange(1, len(filters) + 1)
        self._append("filters", words)
        self._append("filter-starts", (ends + self._n_words).astype(np.int64))
        self._n_words += len(words)


@contextmanager
def new_segment(
    folder: Path,
    name: str,
    scheme: DocumentScheme,
    runner: Runner,
    *,
    run_entries: int = RUN_ENTRIES,
) -> Iterator[DocumentSegmentWriter]:
    """Write a new segment of an index whose write lock is held; it is there after ``finish``."""
    runs = part_of(folder / SEGMENTS / f"{name}-runs")
    try:
        with SegmentWriter(folder, name) as writer:
            yield DocumentSegmentWriter(writer, runs, scheme, runner, run_entries)
    finally:
        shutil.rmtree(runs, ignore_errors=True)


class Buffered:
    """An array of a segment that grows by small parts, which are written together.

    It begins with a part, which says of what type it is.
    """

    def __init__(self, writer: SegmentWriter, name: str, first: AnyArray) -> None:
        self._writer, self._name = writer, name
        self._parts, self._size = [first], 0

    def append(self, part: AnyArray) -> None:
        """Take the next values."""
        self._parts.append(part)
        self._size += part.nbytes
        if self._size >= _WRITTEN_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        if self._parts:
            self._writer.append(self._name, np.concatenate(self._parts))
            self._parts, self._size = [], 0


class _NewBlocks:
    """Blocks as they are written, and where each of them starts."""

    def __init__(self, writer: SegmentWriter, name: str) -> None:
        self.n_rows = 0
        self._writer = writer
        self._data = Buffered(writer, name, np.empty(0, np.uint8))
        self._sums: list[int] = []
        self._rows: list[tuple[int, int, int]] = []
        self._size = 0

    def append(self, packed: Sequence[PackedBlock]) -> None:
        for data, n_rows, raw_size in packed:
            self._rows.append((self._size, self.n_rows, raw_size))
            self._sums.append(zlib.crc32(data))
            self._size += len(data)
            self.n_rows += n_rows
            self._data.append(np.frombuffer(data, np.uint8))

    def finish(self, index: str) -> Uint32s:
        """Write the index of the blocks, and return their checksums."""
        self._data.flush()
        rows = np.array([*self._rows, (self._size, self.n_rows, 0)], np.int64)
        self._writer.add(index, rows)
        return np.array(self._sums, np.uint32)


class _Runs:
    """The entries of all lists: sorted pieces in memory, or in files where there are many."""

    def __init__(self, n_lists: int, folder: Path, runner: Runner, most: int) -> None:
        self._pieces: list[list[Uint64s]] = [[] for _ in range(n_lists)]
        self._files: list[tuple[Uint64s, Int64s]] = []
        self.sources: list[Callable[[int], Uint64s]] = []
        self._folder, self._runner, self._most = folder, runner, most
        self._n_entries = 0

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, number: int, run: Uint64s) -> None:
        """Take the next entries of a list, ascending."""
        if len(run):
            self._pieces[number].append(run)
            self._n_entries += len(run)

    def spill_if_many(self) -> None:
        """Write all entries to a file, as one run for each list, if there are too many."""
        if self._n_entries < self._most:
            return
        path = self._folder / f"{len(self._files)}.npy"
        with translated(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            starts = [0]
            with path.open("wb") as file:
                for run in self._runner.map(_joined, self._pieces):
                    file.write(run.data)
                    starts.append(starts[-1] + len(run))
            mapped: Uint64s = np.memmap(path, np.uint64, mode="r")
        self._files.append((mapped, np.array(starts, np.int64)))
        self._pieces = [[] for _ in self._pieces]
        self._n_entries = 0

    def merged(self) -> Iterator[Iterator[Uint64s] | Sequence[Uint64s]]:
        """Yield the entries of each list, ascending, in parts."""
        if not (self._files or self.sources):
            yield from (
                [run] if len(run) else [] for run in self._runner.map(_joined, self._pieces)
            )
            return
        for number, pieces in enumerate(self._pieces):
            runs = [mapped[starts[number] : starts[number + 1]] for mapped, starts in self._files]
            runs += (read(number) for read in self.sources)
            runs.append(_joined(pieces))
            yield segment.merge(runs, _MERGED_AT_ONCE)


def _joined(pieces: Sequence[Uint64s]) -> Uint64s:
    """Put sorted pieces together."""
    if len(pieces) == 1:
        return pieces[0]
    joined: Uint64s = np.concatenate([np.empty(0, np.uint64), *pieces])
    joined.sort()
    return joined
