"""An open index with verified files and cached data."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from neardup.errors import IndexFormatError, NeardupError, ReadError
from neardup.files.rows import Source
from neardup.index.open_index import (
    Addition,
    CompactionResult,
    OpenIndex,
    RemovalResult,
    SeenFolder,
    SharedIndex,
    check_all_found,
    wanted_ids,
)
from neardup.index.segments import Segment, SegmentWriter, check_all, check_size, open_segment
from neardup.index.store import Contents, Database, SegmentRecord, check_kind
from neardup.options.choices import IndexKind, TokenizerChoice
from neardup.options.option import no_effect
from neardup.runs.runner import Runner
from neardup.text.weighting import DocumentFrequencies

V = TypeVar("V", bound=OpenIndex[Any, Any])


class IndexHandle(ABC, Generic[V]):
    """An open index, for any number of threads.

    A kind of index restores its scheme, and makes a part of each segment, which is kept as long as
    the segment belongs to the index. Readers see an unchanging view (V).

    A ``tokenizer`` that is a file or a function has to be given. ``timeout`` is in seconds, for
    another writer.
    """

    kind: ClassVar[IndexKind]
    is_lazy: ClassVar[bool]
    """Whether pages of segments are verified only when they are read."""

    def __init__(
        self,
        folder: Path,
        tokenizer: TokenizerChoice | None = None,
        *,
        timeout: float = 0.0,
    ) -> None:
        self.folder, self.timeout = folder, timeout
        self.tokenizer, self.database = tokenizer, Database(folder)
        self._lock = threading.RLock()
        # The view that readers see.
        self._seen: V | None = None
        self._restored: tuple[object, Any] = (None, None)
        self._parts: dict[SegmentRecord, Any] = {}

    @abstractmethod
    def restore(self, contents: Contents, frequencies: DocumentFrequencies | None) -> Any:
        """Restore the scheme from its description."""

    @abstractmethod
    def open_part(self, segment: Segment, restored: Any) -> Any:
        """Return the part that is looked up in a segment."""

    @abstractmethod
    def view_of(self, contents: Contents, restored: Any, parts: tuple[Any, ...]) -> V:
        """Return the view of all segments and of pending documents."""

    @abstractmethod
    def add(self, sources: Sequence[Source], options: Any, runner: Runner) -> Addition:
        """Add documents, all of them or none."""

    @abstractmethod
    def _merge(self, index: V, first: int, runner: Runner) -> None:
        """Merge segments from ``first`` on, and pending documents, within ``changing``."""

    def remove(
        self, ids: Iterable[str | int], runner: Runner, *, deny: bool = False
    ) -> RemovalResult:
        """Remove documents by id, all of them or none.

        ``deny``: later additions leave out the removed documents and their orphans.
        """
        start = time.perf_counter()
        wanted = wanted_ids(ids)
        with self.changing(runner) as index:
            found = index.rows_of_ids(wanted)
            check_all_found(wanted, found)
            # Their rows stay on the disk until their segments are written anew.
            left = index.contents_without(found)
            after, result = self._after_removal(index, left, wanted, deny=deny)
            if len(wanted):
                self.database.commit(after)
        return replace(result, seconds=time.perf_counter() - start)

    def without(self, index: V, ids: pa.Array, runner: Runner) -> V:
        """Return an index without the documents of some ids, within ``changing``."""
        found = index.rows_of_ids(ids)
        if not any(len(rows) for _, rows in found):
            return index
        return self._open(index.contents_without(found), runner)

    def _after_removal(
        self, index: V, after: Contents, ids: pa.Array, *, deny: bool
    ) -> tuple[Contents, RemovalResult]:
        if deny:
            raise no_effect("deny", "in an index of passages", "use one of documents")
        return after, RemovalResult(len(ids), after.manifest.n_documents)

    def compact(self, runner: Runner) -> CompactionResult:
        """Rewrite the index without removed documents, in few segments."""
        start = time.perf_counter()
        with runner.stage("compact") as note, self.changing(runner) as index:
            before = index.manifest
            if before.pending.n_rows or len(before.segments) > 1 or any(map(len, index.removed)):
                self._merge(index, 0, runner)
            after = self.database.read().manifest
            note(segments=len(after.segments))
        n_freed = max(0, before.n_bytes - after.n_bytes)
        seconds = time.perf_counter() - start
        return CompactionResult(len(after.segments), after.n_documents, n_freed, seconds)

    def describe(self, runner: Runner) -> dict[str, Any]:
        """Describe the committed index in plain values, after checking every byte."""
        view = self.view(runner)
        view.check_all(runner)
        self.database.check()
        return view.describe(self.folder)

    def view(self, runner: Runner) -> V:
        """Return the committed state, and open only new files."""
        seen = self._seen
        if seen is not None and not self.database.has_changed(seen.contents):
            return seen
        with self._lock:
            while True:
                contents = self.database.read()
                try:
                    self._seen = self._open(contents, runner)
                except (IndexFormatError, ReadError):
                    # A writer may have removed files meanwhile.
                    if self.database.read() is contents:
                        raise
                else:
                    return self._seen

    def share(self, index: V) -> SharedIndex[V]:
        """Return a state of this index for tasks in other processes."""
        return SharedIndex(index, SeenFolder(self.folder))

    @contextmanager
    def changing(self, runner: Runner) -> Iterator[V]:
        """Lock the index for changes, and open its state.

        The block writes new segments and commits to ``database``. Files of uncommitted segments are
        removed, unless a commit was tried: after a crash, either state may be the current one.
        """
        # An index of another kind is the more important error than a locked index.
        check_kind(self.folder, self.database.read().manifest, self.kind)
        try:
            with self.database.writing(self.timeout):
                before = self.database.read()
                try:
                    yield self._open(before, runner)
                except BaseException:
                    with contextlib.suppress(NeardupError):
                        if not self.database.has_tried:
                            self.database.remove_orphans(before.manifest)
                    raise
        finally:
            # A reader that is opening the former state has the lock: it must not store it later.
            with self._lock:
                self._seen = None

    def _open(self, contents: Contents, runner: Runner) -> V:
        with self._lock:
            seen = self._seen
            if seen is not None and seen.contents is contents:
                return seen
            return self._open_anew(contents, runner)

    def _open_anew(self, contents: Contents, runner: Runner) -> V:
        manifest = contents.manifest
        check_kind(self.folder, manifest, self.kind)
        try:
            for record in manifest.all_segments:
                check_size(self.folder, record, may_be_gone=True)
        except NeardupError:
            self._seen, self._parts = None, {}
            raise
        # Frequencies come with the first addition, and stay.
        decided = manifest.scheme, manifest.frequencies
        if self._restored[0] != decided:
            frequencies = self._open_frequencies(manifest.frequencies)
            self._restored, self._parts = (decided, self.restore(contents, frequencies)), {}
        restored, known = self._restored[1], self._parts
        records = [replace(record, n_removed=0) for record in manifest.segments]
        new = [open_segment(self.folder, record) for record in records if record not in known]
        if not self.is_lazy:
            check_all(new, runner)
        made = {segment.record: self.open_part(segment, restored) for segment in new}
        self._parts = {
            record: known[record] if record in known else made[record] for record in records
        }
        return self.view_of(contents, restored, tuple(self._parts.values()))

    def _open_frequencies(self, record: SegmentRecord | None) -> DocumentFrequencies | None:
        if record is None:
            return None
        stored = open_segment(self.folder, record)
        hashes, counts = stored.array("hashes"), stored.array("counts")
        return DocumentFrequencies(hashes, counts, record.n_documents)


def store_frequencies(
    folder: Path, contents: Contents, frequencies: DocumentFrequencies
) -> Contents:
    """Write an index's permanent document frequencies as a segment."""
    with SegmentWriter(folder, contents.manifest.free_name(9999)) as writer:
        writer.append("hashes", frequencies.hashes)
        writer.append("counts", frequencies.counts)
        record = writer.commit(frequencies.n_documents, 0, pa.large_string())
    return replace(contents, manifest=replace(contents.manifest, frequencies=record))
