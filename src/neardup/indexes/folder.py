"""The folder of an index: making it, opening it while others write, and cleaning it up."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock, Timeout

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    InvalidParameterError,
    NeardupError,
    OutputExistsError,
    ReadError,
    WriteError,
)
from neardup.indexes.history import trim_history
from neardup.indexes.manifest import (
    MANIFEST,
    NAME,
    Manifest,
    RemovedRecord,
    SegmentRecord,
    TailRecord,
    free_name,
    load_manifest,
    no_index,
    store_manifest,
)
from neardup.indexes.segments import SEGMENTS
from neardup.runs.arrays import (
    RESTORE,
    AnyArray,
    array_in,
    check_array,
    check_file,
    check_size,
    header,
    map_file,
    stored,
)
from neardup.runs.disk import (
    HOLDER,
    LOCK,
    FileRecord,
    find_holder,
    make_folder,
    part_of,
    store_file,
    store_holder,
    sync_folder,
    translated,
    write_all,
)
from neardup.runs.scratch import recover, scratch_beside
from neardup.tables import Uint32s

# Arrays outside segments: removed documents, and what belongs to the whole index.

REMOVED = "removed"
EXTRA = "extra"
TAIL = "tail"


def mapped_files(manifest: Manifest) -> Iterator[tuple[str, FileRecord]]:
    """Yield the names of mapped files, as strings: there are many, and a commit asks for them."""
    for segment in manifest.all_segments:
        for name, record in segment.files.items():
            yield f"{SEGMENTS}/{segment.name}/{name}", record
        if segment.removed is not None:
            yield f"{REMOVED}/{segment.removed.name}.npy", segment.removed.file
    for name, record in manifest.files.items():
        yield f"{EXTRA}/{name}", record


def write_removed(folder: Path, name: str, numbers: Uint32s) -> RemovedRecord:
    """Write the numbers of all documents that a segment has lost, under a name not in use."""
    if numbers.dtype != np.uint32 or numbers.ndim != 1 or not _is_ascending(numbers):
        message = "removed documents are given as ascending uint32 numbers, at least one"
        raise InvalidParameterError(message)
    file = _write_array(folder / REMOVED, name, numbers)
    return RemovedRecord(name, len(numbers), file)


def load_removed(folder: Path, record: SegmentRecord) -> Uint32s:
    """Check and map the numbers of the documents that a segment has lost; none if it lost none."""
    if record.removed is None:
        return np.empty(0, np.uint32)
    path = folder / REMOVED / f"{record.removed.name}.npy"
    numbers = check_array(path, _load_array(path, record.removed.file), np.uint32)
    is_right = len(numbers) == record.removed.n_documents and _is_ascending(numbers)
    if not is_right or numbers[-1] >= record.n_documents:
        message = f"the numbers are not those of {record.removed.n_documents:,} documents"
        raise IndexFormatError(f"{message}; {RESTORE}", path=str(path))
    return numbers


def write_extra(folder: Path, name: str, array: AnyArray) -> dict[str, FileRecord]:
    """Write an array of the whole index under a name not in use; give its entry for ``files``."""
    return {f"{name}.npy": _write_array(folder / EXTRA, name, array)}


def load_extra(folder: Path, name: str, record: FileRecord) -> AnyArray:
    """Check and map an array of the whole index; ``name`` is that of its file."""
    return _load_array(folder / EXTRA / name, record)


def append_to_tail(folder: Path, manifest: Manifest, data: bytes) -> tuple[str, FileRecord]:
    """Write behind the tail that a manifest names, or begin one under a name not in use.

    Returns its name and what the next manifest is to say of it: until then nothing of this belongs
    to the index. All is on the disk when it returns.
    """
    old = manifest.tail
    name = free_name(manifest, 0) if old is None else old.name
    size, checksum = (0, 0) if old is None else (old.file.size, int(old.file.checksum, 16))
    path = folder / TAIL / f"{name}.log"
    with translated(path):
        make_folder(path.parent)
        with path.open("xb" if old is None else "r+b", buffering=0) as file:
            # A writer that was killed may have left something behind the end.
            file.truncate(size)
            file.seek(size)
            write_all(file.fileno(), data)
            os.fsync(file.fileno())
        if old is None:
            sync_folder(path.parent)
    return name, FileRecord(size + len(data), f"{zlib.crc32(data, checksum):08x}")


@dataclass(frozen=True)
class OpenTail:
    """What a tail holds, in the parts in which it was read."""

    record: TailRecord
    parts: tuple[bytes, ...]


def load_tail(folder: Path, record: TailRecord, known: OpenTail | None) -> OpenTail:
    """Read and check a tail, of one that is known already what has come since."""
    path = folder / TAIL / f"{record.name}.log"
    check_size(path, record.file, grows=True)
    if known is not None and known.record == record:
        return known
    if known is not None and known.record.file.size > record.file.size:
        # An older state was put back.
        known = None
    before, parts = FileRecord(0, "0"), tuple[bytes, ...]()
    if known is not None and known.record.name == record.name:
        before, parts = known.record.file, known.parts
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(before.size)
            data = file.read(record.file.size - before.size)
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    found = f"{zlib.crc32(data, int(before.checksum, 16)):08x}"
    if found != record.file.checksum:
        message = f"the file is damaged (checksum {found}, not {record.file.checksum})"
        raise IndexFormatError(f"{message}; {RESTORE}", path=str(path))
    return OpenTail(record, (*parts, data))


def _write_array(folder: Path, name: str, array: AnyArray) -> FileRecord:
    if not NAME.fullmatch(name):
        message = f"a name has small letters, digits, '-' and '_', got {name!r}"
        raise InvalidParameterError(message)
    array = stored(array)
    path = folder / f"{name}.npy"
    with translated(path):
        if os.path.lexists(path):
            message = f"{path} exists; remove what does not belong to the index first"
            raise WriteError(message)
        make_folder(folder)
    try:
        return store_file(path, header(array.dtype, len(array), array.ndim), array.data)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def _load_array(path: Path, record: FileRecord) -> AnyArray:
    check_file(path, record)
    return array_in(path, map_file(path, record))


def _is_ascending(numbers: Uint32s) -> bool:
    return len(numbers) > 0 and bool(np.all(numbers[:-1] < numbers[1:]))


T = TypeVar("T")

_FOLDER_NAME = re.compile(rf"{NAME.pattern}|\.{NAME.pattern}\.part")
_LOG_NAME = re.compile(rf"{NAME.pattern}\.log")
_ARRAY_NAME = re.compile(rf"{NAME.pattern}\.npy|\.{NAME.pattern}\.npy\.part")


# One writer at a time, across processes and threads; the system frees the lock of a killed one.
# Nobody takes it twice while another waits: who waits for it holds the turn, which all need first.
_TURN = "turn.lock"
# Shorter than a commit takes, so that two who insert in turn hardly wait for anything else; for who
# has the turn shorter still, as long as the lock may be held by such.
_POLL_SECONDS = 0.01
_SOON, _POLL_SOON_SECONDS = 0.5, 0.001


@contextmanager
def write_lock(folder: Path, timeout: float = 0.0) -> Iterator[None]:
    """Hold the right to change an index; readers need none.

    ``timeout`` says for how many seconds to wait for it.
    """
    if not folder.is_dir():
        raise no_index(folder)
    # Whoever ends the block may be another thread than that which began it.
    lock = FileLock(folder / LOCK, thread_local=False)
    try:
        with translated(folder):
            _acquire(lock, folder, timeout)
        store_holder(folder)
        yield
    finally:
        if lock.is_locked:
            # Before the release: after it, the text may be the next writer's.
            with contextlib.suppress(OSError):
                (folder / HOLDER).unlink()
            lock.release()


def _acquire(lock: FileLock, folder: Path, timeout: float) -> None:
    start = time.monotonic()

    def left() -> float:
        return max(timeout - (time.monotonic() - start), 0.0)

    turn = FileLock(folder / _TURN, thread_local=False)
    try:
        turn.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
        try:
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=min(left(), _SOON), poll_interval=_POLL_SOON_SECONDS)
            if not lock.is_locked:
                lock.acquire(timeout=left(), poll_interval=_POLL_SECONDS)
        finally:
            turn.release()
    except Timeout:
        raise IndexLockedError(str(folder), find_holder(folder), timeout) from None


def create_index(folder: Path, manifest: Manifest) -> None:
    """Make an index of no segments; folders above it are made, too."""
    # A path has taken one of the slashes away.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(folder)):
        message = f"{folder} is a URL; an index is local, build it and copy it there"
        raise WriteError(message)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    with translated(folder):
        _check_free(folder)
        has_failed = False
        try:
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                # Another run may be building an index for this place.
                with scratch_beside(folder):
                    folder.mkdir(exist_ok=True)
            for path in missing:
                sync_folder(path.parent)
            with write_lock(folder):
                # Another process may have been quicker.
                _check_free(folder)
                try:
                    store_manifest(folder, manifest)
                except BaseException:
                    has_failed = True
                    (folder / MANIFEST).unlink(missing_ok=True)
                    raise
        except (IndexLockedError, OutputExistsError):
            # Another process is at work here, or was: nothing may go from under it.
            raise
        except BaseException:
            # Only where no other process can be at work; folders go only if they are empty.
            if has_failed:
                with contextlib.suppress(OSError):
                    (folder / LOCK).unlink()
            # Without it writers come in any order, and still one at a time.
            with contextlib.suppress(OSError):
                (folder / _TURN).unlink()
            for path in missing:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise


@contextmanager
def created_index(folder: Path, manifest: Manifest) -> Iterator[None]:
    """Make an index of no segments, which goes again if an error ends the block unchanged."""
    create_index(folder, manifest)
    try:
        yield
    except BaseException:
        # Others may have found it meanwhile.
        with contextlib.suppress(NeardupError, OSError):
            with write_lock(folder):
                is_unchanged = load_manifest(folder) == manifest
                if is_unchanged:
                    (folder / MANIFEST).unlink()
            if is_unchanged:
                shutil.rmtree(folder)
        raise


def _check_free(folder: Path) -> None:
    if not os.path.lexists(folder) and not recover(folder):
        return
    if not folder.is_dir():
        message = f"{folder} is not a folder; an index is a folder, choose another name"
        raise WriteError(message)
    if (folder / MANIFEST).exists():
        message = f"{folder} is an index already; add to it, or choose another name"
        raise OutputExistsError(message)
    # What a killed process may have left while it made an index here.
    ours = {LOCK, _TURN, HOLDER, part_of(folder / HOLDER).name, part_of(folder / MANIFEST).name}
    if any(path.name not in ours for path in folder.iterdir()):
        message = f"{folder} is no index and not empty; choose another name"
        raise OutputExistsError(message)


def read_current(folder: Path, open_files: Callable[[Manifest], T]) -> T:
    """Open the files that the manifest names; again, if a writer has replaced it meanwhile.

    A writer that compacts an index removes files that a reader, which holds no lock, may be about
    to open. Files that are open already stay readable.
    """
    manifest = load_manifest(folder)
    while True:
        try:
            return open_files(manifest)
        except (IndexFormatError, ReadError):
            current = load_manifest(folder)
            if current == manifest:
                raise
            manifest = current


@contextmanager
def changing(folder: Path, timeout: float = 0.0) -> Iterator[Manifest]:
    """Hold the write lock, give the manifest, and clean up before and afterwards.

    ``timeout`` says for how many seconds to wait for the lock.

    The block writes new files under names not in use and stores a manifest::

        with changing(folder) as old:
            record = ...
            store_manifest(folder, replace(old, generation=old.generation + 1, segments=...))
    """
    # First without the lock, whose file has no place in a folder that is no index.
    load_manifest(folder)
    with write_lock(folder, timeout):
        old = load_manifest(folder)
        remove_orphans(folder, old)
        try:
            yield old
        except BaseException:
            # Nobody knows which of the two manifests a crash would leave now.
            with contextlib.suppress(NeardupError):
                remove_orphans(folder, load_manifest(folder), old)
            raise
        remove_orphans(folder, load_manifest(folder))


def remove_orphans(folder: Path, *manifests: Manifest) -> list[Path]:
    """Remove segments, arrays and temporary files that none of the manifests names.

    The caller holds the write lock, and the manifest that is stored is among them; of two, either
    may be the one that a crash of the machine would leave. Files under
    names that neardup does not give are left alone. Readers that have mapped a file keep it;
    Windows refuses to remove a file that is mapped, and it goes with a later call.

    Returns
    -------
    What was removed.
    """
    trim_history(folder, max(manifest.generation for manifest in manifests))
    orphans = list(_orphans(folder, manifests))
    if orphans and len(manifests) == 1:
        # A writer may have been killed just after the manifest got its name. After a crash of the
        # machine, the old manifest must not be back while its files are gone.
        with translated(folder):
            sync_folder(folder)
    removed = []
    for path in orphans:
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            removed.append(path)
    return removed


def _orphans(folder: Path, manifests: Sequence[Manifest]) -> Iterator[Path]:
    records = [record for manifest in manifests for record in manifest.segments]
    places = {
        SEGMENTS: (
            _FOLDER_NAME,
            {each.name for manifest in manifests for each in manifest.all_segments},
        ),
        REMOVED: (
            _ARRAY_NAME,
            {f"{record.removed.name}.npy" for record in records if record.removed},
        ),
        EXTRA: (_ARRAY_NAME, {name for manifest in manifests for name in manifest.files}),
        TAIL: (_LOG_NAME, {f"{each.tail.name}.log" for each in manifests if each.tail}),
    }
    for place, (pattern, named) in places.items():
        try:
            # Not Path.iterdir: a commit looks twice, and mostly there is nothing to be found.
            found = sorted(os.listdir(f"{folder}{os.sep}{place}"))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in found:
            if name not in named and pattern.fullmatch(name):
                yield folder / place / name
    if (temporary := part_of(folder / MANIFEST)).exists():
        yield temporary
