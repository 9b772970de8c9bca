"""An index that stays open: each file is checked once, and what is made of it is kept."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from neardup.errors import IndexFormatError, NeardupError, ReadError
from neardup.index.segments import Segment, SegmentWriter, open_segment
from neardup.index.store import (
    SEGMENTS,
    Contents,
    Database,
    Manifest,
    SegmentRecord,
    check_kind,
)
from neardup.options.choices import IndexKind
from neardup.runs.arrays import check_size
from neardup.runs.runner import Runner
from neardup.tables import Uint32s
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import DocumentFrequencies


def check_seen(folder: Path) -> None:
    """Raise if an executor does not see the folder of an index."""
    if not folder.is_dir():
        message = "the executors do not see the index; put it where all of them reach it"
        raise ReadError(message, path=str(folder))


class SharedFolder(Protocol):
    """The folder of an index, for processes that this is sent to."""

    def open(self) -> AbstractContextManager[Path]:
        """Give the folder for as long as a block lasts; files that are mapped in it stay so."""
        ...


class SeenFolder:
    """A folder that all processes reach under the same path."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @contextmanager
    def open(self) -> Iterator[Path]:
        """Give the folder, if this process sees it."""
        check_seen(self.path)
        yield self.path


@dataclass(frozen=True)
class OpenFiles:
    """The contents of the database with the segments that they list, checked and mapped."""

    folder: Path
    contents: Contents
    segments: tuple[Segment, ...]
    frequencies: Segment | None = None

    @property
    def manifest(self) -> Manifest:
        """What belongs to the index."""
        return self.contents.manifest

    @property
    def removed(self) -> tuple[Uint32s, ...]:
        """The removed rows of each segment, and of pending documents last."""
        return self.contents.removed


class SegmentFiles:
    """Opens the segments of an index; those that are open already are not read again.

    For one thread at a time. Arrays named ``unread`` are checked by those who read them.
    """

    def __init__(self, folder: Path, unread: AbstractSet[str] = frozenset()) -> None:
        self._folder, self._unread = folder, unread
        self._segments: dict[str, Segment] = {}
        self._last: OpenFiles | None = None

    def open(self, contents: Contents, runner: Runner) -> OpenFiles:
        """Check the files of segments that are not open yet, and map them into memory."""
        last, manifest = self._last, contents.manifest
        if last is None or last.manifest.laid_out != manifest.laid_out:
            self.check_sizes(manifest)
            opened = {each.name: self._open(each, runner) for each in manifest.all_segments}
            self._segments = opened
            own = tuple(opened[record.name] for record in manifest.segments)
            record = manifest.frequencies
            frequencies = None if record is None else opened[record.name]
            last = OpenFiles(self._folder, contents, own, frequencies)
        if last.contents is not contents:
            last = replace(last, contents=contents)
        self._last = last
        return last

    def check_sizes(self, manifest: Manifest) -> None:
        """Make sure that no file of a segment has become shorter or longer.

        To touch what has been cut off of a mapped file ends the process. One that is gone stays
        mapped as it was.
        """
        try:
            for segment in manifest.all_segments:
                for name, record in segment.files.items():
                    path = f"{self._folder}/{SEGMENTS}/{segment.name}/{name}"
                    check_size(path, record, may_be_gone=True)
        except NeardupError:
            self._segments, self._last = {}, None
            raise

    def _open(self, record: SegmentRecord, runner: Runner) -> Segment:
        record = replace(record, n_removed=0)
        known = self._segments.get(record.name)
        if known is None or known.record != record:
            known = open_segment(self._folder, record, runner, self._unread)
        return known


V = TypeVar("V")
C = TypeVar("C")
P = TypeVar("P")


class IndexHandle(ABC, Generic[V, C, P]):
    """An open index, for any number of threads.

    A kind of index restores its scheme and frequencies (C), and makes of each segment something
    that is looked up by it (P), which is kept as long as the segment belongs to the index. Its
    readers see a view (V), which stays what it is, whatever becomes of the folder.

    Parameters
    ----------
    folder
        The index.
    tokenizer
        The ``tokenizer.json`` or the function that it was made with, if it was one.
    timeout
        Seconds to wait for another writer.
    follows
        Whether ``latest`` looks for changes of others.
    """

    kind: ClassVar[IndexKind]
    unread: ClassVar[AbstractSet[str]] = frozenset()
    """Arrays that are not read when they are opened: the view checks what it touches of them."""

    def __init__(
        self,
        folder: Path,
        tokenizer: str | Path | TokenFunction | None = None,
        *,
        timeout: float = 0.0,
        follows: bool = False,
    ) -> None:
        self.folder, self.timeout, self.follows = folder, timeout, follows
        self.tokenizer, self.database = tokenizer, Database(folder)
        self._files = SegmentFiles(folder, self.unread)
        self._lock = threading.RLock()
        self._seen: tuple[Contents, V] | None = None
        self._known: Contents | None = None
        self._made: tuple[OpenFiles, V] | None = None
        self._restored: tuple[C, object] | None = None
        self._parts: dict[Segment, P] = {}

    @abstractmethod
    def restore(self, files: OpenFiles) -> C:
        """Restore what decides the index."""

    @abstractmethod
    def open_part(self, segment: Segment, restored: C) -> P:
        """Make of a segment what is looked up in it."""

    @abstractmethod
    def view_of(self, files: OpenFiles, restored: C, parts: tuple[P, ...]) -> V:
        """Make the view of all segments."""

    def view(self, runner: Runner) -> V:
        """Return the index as it was opened, refreshed, or changed through this handle last."""
        seen = self._seen
        if seen is None:
            with self._lock:
                seen = self._seen or self._look(runner)
        return seen[1]

    def latest(self, runner: Runner) -> V:
        """Return the index as it is now, whoever has changed it; ``view`` unless it follows."""
        seen = self._seen
        if self.follows and seen is not None and self.database.has_changed(seen[0]):
            with self._lock:
                # Unless another thread has done it meanwhile.
                if self._seen is seen:
                    self.refresh(runner)
        return self.view(runner)

    def refresh(self, runner: Runner) -> None:
        """See what others have changed since; only new files are read."""
        with self._lock:
            seen = self._seen
            if seen is None or self._read_contents() is not seen[0]:
                self._look(runner)
                return
            try:
                self._files.check_sizes(seen[0].manifest)
            except NeardupError:
                self._seen = None
                raise

    def read(self, files: OpenFiles) -> V:
        """Make the view of some files."""
        # A writer reads while other threads look at what was before.
        with self._lock:
            if self._made is None or self._made[0] is not files:
                self._made = files, self._make_view(files)
            return self._made[1]

    @contextmanager
    def changing(self, runner: Runner) -> Iterator[OpenFiles]:
        """Hold the right to change the index, and open what it holds now.

        The block writes new segments and commits to ``database``. Files of segments that were not
        committed are removed, unless a commit was tried: a crash may still leave either state then.
        """
        if self._known is None:
            self._read_contents()
        before = None
        try:
            with self.database.writing(self.timeout):
                try:
                    before = self._read_contents()
                    with self._lock:
                        files = self._files.open(before, runner)
                    yield files
                except BaseException:
                    with contextlib.suppress(NeardupError):
                        if before is not None and not self.database.has_tried:
                            self.database.remove_orphans(before.manifest)
                    raise
        finally:
            self._forget_view()

    def _forget_view(self) -> None:
        # With the lock, so that a thread that has just looked at what was before cannot be late.
        with self._lock:
            self._seen = None

    def reopen(self, runner: Runner) -> OpenFiles:
        """Open what the index holds now."""
        with self._lock:
            return self._files.open(self._read_contents(), runner)

    def _read_contents(self) -> Contents:
        with self._lock:
            known, found = self._known, self.database.read(self._known)
            if known is not None and found.file != known.file:
                # Another index has taken the place of this one.
                self._files = SegmentFiles(self.folder, self.unread)
            self._known = found
            return found

    def _look(self, runner: Runner) -> tuple[Contents, V]:
        """Open what is committed; again, if a writer has removed files of it meanwhile."""
        while True:
            contents = self._read_contents()
            try:
                self._seen = contents, self.read(self._files.open(contents, runner))
            except (IndexFormatError, ReadError):
                if self._read_contents() is contents:
                    raise
            else:
                return self._seen

    def _make_view(self, files: OpenFiles) -> V:
        check_kind(self.folder, files.manifest, self.kind)
        # Frequencies come with the first addition, and stay.
        decided = (files.manifest.scheme, files.manifest.frequencies)
        if self._restored is None or self._restored[1] != decided:
            self._restored, self._parts = (self.restore(files), decided), {}
        restored, known = self._restored[0], self._parts
        self._parts = {
            segment: known[segment] if segment in known else self.open_part(segment, restored)
            for segment in files.segments
        }
        return self.view_of(files, restored, tuple(self._parts.values()))


# The document frequencies of an index, which its first documents decide for good: a segment.


def store_frequencies(folder: Path, name: str, frequencies: DocumentFrequencies) -> SegmentRecord:
    """Write frequencies as a segment."""
    with SegmentWriter(folder, name) as writer:
        writer.add("hashes", frequencies.hashes)
        writer.add("counts", frequencies.counts)
        files = writer.commit()
    return SegmentRecord(name, frequencies.n_documents, 0, files)


def open_frequencies(files: OpenFiles) -> DocumentFrequencies | None:
    """Return the frequencies of an index; None if none were counted yet."""
    stored = files.frequencies
    if stored is None:
        return None
    hashes = stored.array("hashes", np.uint64)
    counts = stored.array("counts", np.int64, length=len(hashes))
    return DocumentFrequencies(hashes, counts, stored.record.n_documents)
