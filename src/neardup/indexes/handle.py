"""An index that stays open: every file is checked once, and what is made of it is kept."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy.typing as npt

from neardup.errors import IndexFormatError, NeardupError, ReadError
from neardup.indexes.folder import (
    EXTRA,
    OpenTail,
    changing,
    load_extra,
    load_removed,
    load_tail,
    mapped_files,
    read_current,
)
from neardup.indexes.manifest import (
    Entry,
    Manifest,
    RemovedRecord,
    SegmentRecord,
    entry_of_manifest,
    load_manifest,
)
from neardup.indexes.segments import Segment, open_segment
from neardup.runs.arrays import RESTORE, AnyArray, check_array, check_size
from neardup.runs.disk import FileRecord
from neardup.runs.runner import Runner
from neardup.tables import Uint32s

V = TypeVar("V")


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
    """All files that a manifest names, checked and mapped.

    ``removed`` holds, for each segment, the numbers of the documents that it has lost; ``extras``
    the arrays that belong to no segment, by the names of their files; ``denied`` is the segment of
    documents that must not come back.
    """

    folder: Path
    manifest: Manifest
    segments: tuple[Segment, ...]
    removed: tuple[Uint32s, ...]
    extras: Mapping[str, AnyArray]
    tail: OpenTail | None = None
    denied: Segment | None = None

    def extra(self, name: str, dtype: npt.DTypeLike, *, ndim: int = 1) -> AnyArray:
        """Return an array that belongs to no segment, if it is there and of that type."""
        path = self.folder / EXTRA / f"{name}.npy"
        if path.name not in self.extras:
            message = f"the index has no such file; {RESTORE}"
            raise IndexFormatError(message, path=str(path))
        return check_array(path, self.extras[path.name], dtype, ndim)


class CheckedFiles:
    """Opens the files of an index; those that it has open already are not read again.

    Files never change under their names, so that a file is known by its record. Those that the
    manifest opened last does not name are forgotten. For one thread at a time. Arrays named
    ``unread`` are checked by those who read them.
    """

    def __init__(self, folder: Path, unread: AbstractSet[str] = frozenset()) -> None:
        self._folder, self._unread = folder, unread
        self._segments: dict[str, Segment] = {}
        self._removed: dict[RemovedRecord, Uint32s] = {}
        self._extras: dict[tuple[str, FileRecord], AnyArray] = {}
        self._tail: OpenTail | None = None
        self._last: OpenFiles | None = None

    def open(self, manifest: Manifest, runner: Runner) -> OpenFiles:
        """Check the files of a manifest that are not open yet, and map them into memory."""
        self.check_sizes(manifest)
        if self._last is not None and self._last.manifest == manifest:
            return self._last
        segments, removed = [], []
        for record in manifest.segments:
            segments.append(self._open_segment(record, runner))
            removed.append(self._open_removed(record))
        extras = {name: self._open_extra(name, file) for name, file in manifest.files.items()}
        tail = manifest.tail
        self._tail = None if tail is None else load_tail(self._folder, tail, self._tail)
        denied = None
        if manifest.denied is not None:
            denied = self._open_segment(manifest.denied, runner)
        self._forget_others(manifest)
        files = tuple(segments), tuple(removed), extras, self._tail, denied
        self._last = OpenFiles(self._folder, manifest, *files)
        return self._last

    def check_sizes(self, manifest: Manifest) -> None:
        """Make sure that no file of a manifest has become shorter or longer.

        To touch what has been cut off of a mapped file ends the process. One that is gone stays
        mapped as it was.
        """
        try:
            for name, record in mapped_files(manifest):
                check_size(f"{self._folder}/{name}", record, may_be_gone=True)
        except NeardupError:
            self._segments, self._removed, self._extras = {}, {}, {}
            self._tail = self._last = None
            raise

    def _open_segment(self, record: SegmentRecord, runner: Runner) -> Segment:
        # What it has lost is written elsewhere, and changes.
        record = replace(record, removed=None)
        known = self._segments.get(record.name)
        if known is None or known.record != record:
            known = open_segment(self._folder, record, runner, self._unread)
            self._segments[record.name] = known
        return known

    def _open_removed(self, record: SegmentRecord) -> Uint32s:
        if record.removed is None:
            return load_removed(self._folder, record)
        if record.removed not in self._removed:
            self._removed[record.removed] = load_removed(self._folder, record)
        return self._removed[record.removed]

    def _open_extra(self, name: str, file: FileRecord) -> AnyArray:
        if (name, file) not in self._extras:
            self._extras[name, file] = load_extra(self._folder, name, file)
        return self._extras[name, file]

    def _forget_others(self, manifest: Manifest) -> None:
        names = {record.name for record in manifest.all_segments}
        removed = {record.removed for record in manifest.segments}
        extras = set(manifest.files.items())
        self._segments = {k: v for k, v in self._segments.items() if k in names}
        self._removed = {k: v for k, v in self._removed.items() if k in removed}
        self._extras = {k: v for k, v in self._extras.items() if k in extras}


@dataclass(frozen=True)
class _Seen(Generic[V]):
    """What was made of a manifest, and what its entry in the folder was like."""

    manifest: Manifest
    view: V
    entry: Entry | None


class Handle(ABC, Generic[V]):
    """An index that stays open, for any number of threads.

    A kind of index says in ``make_view`` what its users see of the files, its view, and keeps there
    whatever it makes of a segment: an unchanged segment is the same object each time. A view stays
    what it is, whatever becomes of the folder.

    Parameters
    ----------
    folder
        The index.
    timeout
        Seconds to wait for the write lock.
    follows
        Whether ``latest`` looks for what others have changed.
    """

    unread: ClassVar[AbstractSet[str]] = frozenset()
    """Arrays that are not read when they are opened: the view checks what it touches of them."""

    def __init__(self, folder: Path, *, timeout: float = 0.0, follows: bool = False) -> None:
        self.folder, self.timeout, self.follows = folder, timeout, follows
        self._files = CheckedFiles(folder, self.unread)
        self._lock = threading.RLock()
        self._seen: _Seen[V] | None = None
        self._made: tuple[OpenFiles, V] | None = None

    def read(self, files: OpenFiles) -> V:
        """Make the view of some files; one thread at a time."""
        # A writer reads while other threads look at what was before.
        with self._lock:
            if self._made is None or self._made[0] is not files:
                self._made = files, self.make_view(files)
            return self._made[1]

    @abstractmethod
    def make_view(self, files: OpenFiles) -> V:
        """Make the view of some files, for ``read``."""

    def view(self, runner: Runner) -> V:
        """Return the index as it was opened, refreshed, or changed through this handle last."""
        seen = self._seen
        if seen is None:
            with self._lock:
                seen = self._seen or self._look(runner)
        return seen.view

    def latest(self, runner: Runner) -> V:
        """Return the index as it is now, whoever has changed it; ``view`` unless it follows.

        A look at the manifest's entry in its folder, in some microseconds, tells whether it is
        another file; only then it is read.
        """
        seen = self._seen
        if self.follows and seen is not None and seen.entry != entry_of_manifest(self.folder):
            with self._lock:
                # Unless another thread has done it meanwhile.
                if self._seen is seen:
                    self.refresh(runner)
        return self.view(runner)

    def refresh(self, runner: Runner) -> None:
        """See what others have changed since; only new files are read."""
        with self._lock:
            entry, seen = entry_of_manifest(self.folder), self._seen
            if seen is None or seen.manifest != load_manifest(self.folder):
                self._look(runner)
                return
            try:
                self._files.check_sizes(seen.manifest)
            except NeardupError:
                self._seen = None
                raise
            self._seen = replace(seen, entry=entry)

    @contextmanager
    def changing(self, runner: Runner) -> Iterator[OpenFiles]:
        """Hold the write lock, and open what the index holds now; see ``storage.folder.changing``.

        If the block has changed the index, the next view is that of its change.
        """
        before = None
        try:
            with changing(self.folder, self.timeout) as before:
                with self._lock:
                    files = self._files.open(before, runner)
                yield files
        except BaseException:
            # An error may come when the new manifest has its name already.
            with contextlib.suppress(NeardupError):
                if before is not None and load_manifest(self.folder) != before:
                    self._forget_view()
            raise
        self._forget_view()

    def reopen(self, runner: Runner) -> OpenFiles:
        """Open what the index holds now, in a block of ``changing`` that has changed it."""
        with self._lock:
            return self._files.open(load_manifest(self.folder), runner)

    def _forget_view(self) -> None:
        # With the lock, so that a thread that has just looked at what was before cannot be late.
        with self._lock:
            self._seen = None

    def _look(self, runner: Runner) -> _Seen[V]:
        # Before the manifest is read: if it is replaced in between, the next look finds another.
        entry = entry_of_manifest(self.folder)

        def open_view(manifest: Manifest) -> _Seen[V]:
            return _Seen(manifest, self.read(self._files.open(manifest, runner)), entry)

        self._seen = read_current(self.folder, open_view)
        return self._seen
