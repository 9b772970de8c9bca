"""The database of an index: its state, and the right to change it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import sqlite3
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import TIMEOUT_MAX, Lock, RLock
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    InvalidParameterError,
    NeardupError,
    OutputExistsError,
    ReadError,
    SketchMismatchError,
    WriteError,
)
from neardup.files.destinations import recover, recover_above, scratch_beside
from neardup.options.choices import IndexKind
from neardup.runs.arrays import RESTORE
from neardup.runs.disk import (
    HOLDER,
    FileRecord,
    find_holder,
    note_written,
    part_of,
    store_holder,
    sync_folder,
    translated,
)
from neardup.tables import Uint32s
from neardup.text.tokenizers import TokenFunction, file_in_name
from neardup.version import __version__

FILE = "index.sqlite"
SEGMENTS = "segments"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")

# Grows with each change of the files that an earlier neardup cannot read. Indexes before 2 had a
# manifest.json and no database.
FORMAT = 3
_EARLIER = "manifest.json"

# A state has the generation, that of the layout, and the counts of pending documents; a layout has
# the manifest and the removed rows of each segment.
_TABLES = f"""
PRAGMA journal_mode = WAL;
PRAGMA user_version = {FORMAT};
CREATE TABLE state (generation INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE layout (generation INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE pending (number INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE denied (number INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
"""

_GENERATION = "SELECT max(generation) FROM state"

T = TypeVar("T")


@dataclass(frozen=True)
class SegmentRecord:
    """A segment: its folder's name, its counts and its files."""

    name: str
    n_documents: int
    n_tokens: int
    files: Mapping[str, FileRecord]
    n_removed: int = 0


def segment_bytes(records: Iterable[SegmentRecord]) -> int:
    """Count the bytes of all files of some segments."""
    return sum(file.size for record in records for file in record.files.values())


@dataclass(frozen=True)
class PendingRecord:
    """Counts of the documents that wait in the database for a segment."""

    n_rows: int = 0
    n_documents: int = 0
    n_gone: int = 0
    n_tokens: int = 0
    n_bytes: int = 0
    n_removed: int = 0

    def with_rows(
        self, packed: Sequence[bytes], n_documents: int, n_tokens: int = 0, n_gone: int = 0
    ) -> PendingRecord:
        """Return the counts with more rows of packed documents."""
        return PendingRecord(
            self.n_rows + len(packed),
            self.n_documents + n_documents,
            self.n_gone + n_gone,
            self.n_tokens + n_tokens,
            self.n_bytes + sum(map(len, packed)),
            self.n_removed,
        )


@dataclass(frozen=True)
class Manifest:
    """List what belongs to an index.

    Parameters
    ----------
    scheme
        How the index was made, as plain JSON values.
    generation
        Number of changes since the index was made.
    laid_out
        Generation of the last change that was more than an insertion.
    segments
        In the order in which they were added.
    frequencies
        Segment of the document frequencies that decide weights.
    pending
        Documents behind those of the segments, in rows of the database.
    denied
        Documents that must not come back, in rows of the database.
    created_with
        Version of neardup that made the index.
    """

    scheme: Mapping[str, Any]
    generation: int = 0
    laid_out: int = 0
    segments: tuple[SegmentRecord, ...] = ()
    frequencies: SegmentRecord | None = None
    pending: PendingRecord = field(default_factory=PendingRecord)
    denied: PendingRecord = field(default_factory=PendingRecord)
    created_with: str = __version__

    @property
    def all_segments(self) -> tuple[SegmentRecord, ...]:
        """All segments, those of documents first."""
        return self.segments + (() if self.frequencies is None else (self.frequencies,))

    @property
    def n_documents(self) -> int:
        """Count the documents that can be found."""
        n_pending = self.pending.n_documents - self.pending.n_removed
        return n_pending + sum(each.n_documents - each.n_removed for each in self.segments)

    @property
    def n_bytes(self) -> int:
        """Count the bytes of all segments and of pending documents."""
        return segment_bytes(self.all_segments) + self.pending.n_bytes + self.denied.n_bytes

    @property
    def kind(self) -> IndexKind:
        """What the index finds."""
        return "documents" if self.scheme.get("kind") == "documents" else "passages"

    @property
    def digest(self) -> str:
        """Return a digest that changes with the index."""
        import msgspec

        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


def free_name(manifest: Manifest, number: int) -> str:
    """Name a segment by the generation that adds it and its number."""
    return f"g{manifest.generation + 1:06d}-{number:04d}"


@dataclass(frozen=True)
class Contents:
    """The rows of the database at one moment.

    ``removed`` has the removed rows of each segment, and those of pending documents last;
    ``pending`` and ``denied`` are packed documents; ``file`` identifies the database.
    """

    manifest: Manifest
    removed: tuple[Uint32s, ...]
    pending: tuple[bytes, ...] = ()
    denied: tuple[bytes, ...] = ()
    file: tuple[int, ...] = ()


class Database:
    """The open database of an index, for any number of threads.

    Parameters
    ----------
    folder
        The index.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / FILE
        # Reading and writing have a connection each: a reader must not see an open transaction.
        self._open: dict[bool, tuple[tuple[int, ...], sqlite3.Connection]] = {}
        self._reading, self._writing = RLock(), Lock()
        self.has_tried = False
        weakref.finalize(self, _close, self._open)

    def close(self) -> None:
        """Close the database, so that its folder can be moved."""
        _close(self._open)

    def has_changed(self, contents: Contents) -> bool:
        """Return whether others have changed the index, in some microseconds."""
        try:
            with self._reading:
                connection, file = self._connect(writes=False)
                row = connection.execute(_GENERATION).fetchone()
            return (row[0], file) != (contents.manifest.generation, contents.file)
        except (sqlite3.Error, NeardupError):
            # Reading it again finds and reports the reason.
            return True

    def read(self, known: Contents | None = None) -> Contents:
        """Read what is committed; rows that are known already are not read again.

        Raises
        ------
        ReadError, IndexFormatError
            If there is no index, or it is damaged or of another version.
        """
        with self._reading, self._translated():
            connection, file = self._connect(writes=False)
            if known is not None and known.file != file:
                known = None
            if known is not None:
                (generation,) = connection.execute(_GENERATION).fetchone()
                if generation == known.manifest.generation:
                    return known
            connection.execute("BEGIN")
            try:
                return replace(self._read(connection, known), file=file)
            finally:
                connection.execute("ROLLBACK")

    def check(self) -> None:
        """Read every page of the database, and raise if one is damaged."""
        with self._reading, self._translated():
            (found,) = self._connect(writes=False)[0].execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise self._damaged(found)

    def copy(self) -> tuple[Contents, bytes]:
        """Return what is committed, and a copy of the database as the bytes of a file."""
        with self._reading, self._translated(), contextlib.closing(_new()) as target:
            connection, file = self._connect(writes=False)
            connection.backup(target)
            return replace(self._read(target, None), file=file), target.serialize()

    @contextmanager
    def writing(self, timeout: float) -> Iterator[None]:
        """Hold the right to change the index; what is not committed is undone at the end.

        Raises
        ------
        IndexLockedError
            If another writer holds it for longer than ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        if not self._writing.acquire(timeout=min(max(timeout, 0), TIMEOUT_MAX)):
            raise IndexLockedError(str(self.folder), find_holder(self.folder), timeout)
        try:
            self._begin(deadline, timeout)
            self.has_tried = False
            try:
                store_holder(self.folder)
                yield
            finally:
                with contextlib.suppress(OSError):
                    (self.folder / HOLDER).unlink()
                if True in self._open and self._open[True][1].in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        self._open[True][1].execute("ROLLBACK")
        finally:
            self._writing.release()

    def _begin(self, deadline: float, timeout: float) -> None:
        """Begin a transaction that writes, waiting for the one of another writer."""
        start = time.monotonic()
        with self._translated(is_writing=True):
            connection, _ = self._connect(writes=True)
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                        raise
                    now = time.monotonic()
                    if now >= deadline:
                        holder = find_holder(self.folder)
                        raise IndexLockedError(str(self.folder), holder, timeout) from None
                    # Short enough to come in between two commits of a writer who is quick.
                    time.sleep(0.001 if now - start < 0.5 else 0.01)
                else:
                    return

    def commit(
        self,
        manifest: Manifest,
        *,
        removed: Sequence[Uint32s] | None = None,
        packed: Sequence[bytes] = (),
        denied: Sequence[bytes] = (),
    ) -> None:
        """Store the next state of the index in one durable step, within ``writing``.

        ``removed`` are the removed rows of each segment, and of pending documents last. ``packed``
        are the last rows of pending documents; without ``removed`` all else stays as it is then.
        ``denied`` are more rows of denied documents.
        """
        is_laid_out = not packed or removed is not None
        self.has_tried = True
        with self._translated(is_writing=True):
            connection = self._open[True][1]
            if not connection.in_transaction:
                # An earlier commit has failed, and SQLite has given the lock back.
                self._begin(0, 0)
                if self._read(connection, None).manifest.generation >= manifest.generation:
                    message = (
                        f"{self.folder} was changed by others since a commit failed; start over"
                    )
                    raise WriteError(message)
            execute = connection.execute
            for table, rows in (("pending", packed), ("denied", denied)):
                first = getattr(manifest, table).n_rows - len(rows)
                execute(f"DELETE FROM {table} WHERE number >= ?", (first,))
                for number, data in enumerate(rows, first):
                    execute(f"INSERT INTO {table} VALUES (?,?,?)", _with_checksum(number, data))
            if is_laid_out:
                manifest = replace(manifest, laid_out=manifest.generation)
                execute("DELETE FROM layout")
                execute("INSERT INTO layout VALUES (?,?,?)", _layout_row(manifest, removed))
            execute("DELETE FROM state")
            execute("INSERT INTO state VALUES (?,?,?)", _state_row(manifest))
            execute("COMMIT")
        note_written(str(self.folder))
        if is_laid_out:
            # The log of the database starts anew.
            with contextlib.suppress(sqlite3.Error):
                execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # Also after an insertion: a change before it may have been killed after its commit.
        self.remove_orphans(manifest)

    def remove_orphans(self, manifest: Manifest) -> None:
        """Remove the folders of segments that do not belong to the index, within ``writing``.

        Readers that have mapped a file keep it. Windows refuses to remove such a file; it goes with
        a later change.
        """
        named = {record.name for record in manifest.all_segments}
        with contextlib.suppress(OSError):
            for path in sorted((self.folder / SEGMENTS).iterdir()):
                name = path.name.removeprefix(".").removesuffix(".part")
                if path.name not in named and NAME.fullmatch(name):
                    shutil.rmtree(path, ignore_errors=True)

    def _connect(self, *, writes: bool) -> tuple[sqlite3.Connection, tuple[int, ...]]:
        """Return an open connection to the file that has the database's name now."""
        try:
            # Not self.path.stat, which takes several times as long.
            found = os.stat(self.path)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            if recover(self.folder):
                return self._connect(writes=writes)
            raise no_index(self.folder) from None
        except OSError as error:
            raise ReadError(error.strerror or str(error), path=str(self.path)) from error
        file = found.st_dev, found.st_ino, os.getpid()
        known = self._open.get(writes)
        if known is not None and known[0] == file:
            return known[1], file
        how = "rw" if writes or os.access(self.folder, os.W_OK) else "ro&immutable=1"
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={how}",
            timeout=0 if writes else 5,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        connection.execute("PRAGMA synchronous = FULL")
        self._open[writes] = file, connection
        return connection, file

    def _read(self, connection: sqlite3.Connection, known: Contents | None) -> Contents:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            message = (
                f"the index has format {version}, this neardup ({__version__}) reads {FORMAT}; use "
                "another neardup, or build the index again"
            )
            raise IndexFormatError(message, path=str(self.path))
        generation, laid_out, pending = self._one(
            connection, "state", tuple[int, int, PendingRecord]
        )
        before: tuple[bytes, ...] = ()
        if known is not None and known.manifest.laid_out == laid_out:
            before, denied, removed = known.pending, known.denied, known.removed
            manifest = known.manifest
        else:
            manifest, rows = self._one(connection, "layout", tuple[Manifest, list[bytes]])
            removed = tuple(np.frombuffer(each, np.uint32) for each in rows)
            denied = self._packed(connection, "denied", (), manifest.denied)
        manifest = replace(manifest, generation=generation, laid_out=laid_out, pending=pending)
        packed = self._packed(connection, "pending", before, manifest.pending)
        return Contents(manifest, removed, packed, denied)

    def _packed(
        self,
        connection: sqlite3.Connection,
        table: str,
        known: tuple[bytes, ...],
        record: PendingRecord,
    ) -> tuple[bytes, ...]:
        """Return the packed documents of a table; known ones are not read again."""
        query = f"SELECT * FROM {table} WHERE number >= ? ORDER BY 1"
        rows = map(self._checked, connection.execute(query, (len(known),)).fetchall())
        packed = (*known, *(data for _, data, _ in rows))
        if len(packed) != record.n_rows:
            raise self._damaged(f"{table} documents are missing")
        return packed

    def _checked(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        if _checksum(row[:-1]) != row[-1]:
            raise self._damaged("a row has another checksum")
        return row

    def _one(self, connection: sqlite3.Connection, table: str, kind: type[T]) -> T:
        import msgspec

        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        if len(rows) != 1:
            raise self._damaged(f"no {table}")
        return msgspec.json.decode(self._checked(rows[0])[1], type=kind)

    def _damaged(self, reason: object) -> IndexFormatError:
        message = f"the database is damaged ({reason}); {RESTORE}"
        return IndexFormatError(message, path=str(self.path))

    @contextmanager
    def _translated(self, *, is_writing: bool = False) -> Iterator[None]:
        """Turn errors of SQLite into one line that names the file."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise self._damaged(error) from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise IndexLockedError(str(self.folder), find_holder(self.folder)) from error
            if code not in _REASONS:
                raise self._damaged(error) from error
            words = os.strerror(_REASONS[code])
            if is_writing or code == sqlite3.SQLITE_FULL:
                message = f"cannot write {self.path}: {words}"
                raise WriteError(message) from error
            raise ReadError(words, path=str(self.path)) from error


# What the system has refused where SQLite names one of its own reasons.
_REASONS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


def _close(connections: dict[bool, tuple[tuple[int, ...], sqlite3.Connection]]) -> None:
    """Close connections of this process; those of its parent belong to the parent."""
    for file, connection in connections.values():
        if file[-1] == os.getpid():
            with contextlib.suppress(sqlite3.Error):
                connection.close()
    connections.clear()


def _checksum(row: Iterable[Any]) -> int:
    checksum = 0
    for value in row:
        data = value if isinstance(value, bytes) else str(value).encode()
        checksum = zlib.crc32(data, zlib.crc32(b"%d" % len(data), checksum))
    return checksum


def _with_checksum(*row: Any) -> tuple[Any, ...]:
    return *row, _checksum(row)


def _state_row(manifest: Manifest) -> tuple[Any, ...]:
    import msgspec

    state = manifest.generation, manifest.laid_out, manifest.pending
    return _with_checksum(manifest.generation, msgspec.json.encode(state))


def _layout_row(manifest: Manifest, removed: Sequence[Uint32s] | None) -> tuple[Any, ...]:
    import msgspec

    rows = [each.tobytes() for each in removed or ()]
    rows += [b""] * (len(manifest.segments) + 1 - len(rows))
    return _with_checksum(manifest.generation, msgspec.json.encode((manifest, rows)))


# Making an index, and finding one.


def _new() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None)


def create_index(folder: Path, scheme: Mapping[str, Any]) -> None:
    """Make an empty index; folders above it are made, too.

    Raises
    ------
    OutputExistsError, WriteError
        If the folder is in use, or cannot be made.
    """
    # A path has taken one of the slashes away.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(folder)):
        message = f"{folder} is a URL; an index is local, build it and copy it there"
        raise WriteError(message)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    part = part_of(folder / FILE)
    with translated(folder):
        _check_free(folder)
        try:
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                # Another run may be building an index for this place.
                with scratch_beside(folder):
                    folder.mkdir(exist_ok=True)
            for path in missing:
                sync_folder(path.parent)
            part = part.with_name(f"{part.name}{os.getpid()}-{time.monotonic_ns()}")
            _write_database(part, Manifest(scheme))
            try:
                # Fails where another process has made an index meanwhile.
                os.link(part, folder / FILE)
            except FileExistsError:
                raise _exists(folder) from None
            sync_folder(folder)
        except OutputExistsError:
            raise
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            for path in missing:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _write_database(path: Path, manifest: Manifest) -> None:
    with contextlib.closing(_new()) as connection:
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO layout VALUES (?,?,?)", _layout_row(manifest, None))
        connection.execute("INSERT INTO state VALUES (?,?,?)", _state_row(manifest))
        data = bytearray(connection.serialize())
    # A database in memory has no log; this one has: bytes 18 and 19 of a file name its version.
    data[18:20] = b"\2\2"
    with path.open("xb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


@contextmanager
def created_index(folder: Path, scheme: Mapping[str, Any]) -> Iterator[None]:
    """Make an empty index, which goes again if an error ends the block and nothing was added."""
    create_index(folder, scheme)
    try:
        yield
    except BaseException:
        with contextlib.suppress(NeardupError, OSError):
            database = Database(folder)
            with database.writing(0):
                is_unchanged = database.read().manifest.generation == 0
            database.close()
            if is_unchanged:
                shutil.rmtree(folder)
        raise


def _exists(folder: Path) -> OutputExistsError:
    return OutputExistsError(f"{folder} is an index already; add to it, or choose another name")


def _check_free(folder: Path) -> None:
    if not os.path.lexists(folder) and not recover(folder):
        return
    if not folder.is_dir():
        message = f"{folder} is not a folder; an index is a folder, choose another name"
        raise WriteError(message)
    if (folder / FILE).exists():
        raise _exists(folder)
    # What a killed process may have left while it made an index here.
    leftover = part_of(folder / FILE).name
    if any(not path.name.startswith(leftover) for path in folder.iterdir()):
        message = f"{folder} is not an index and not empty; choose another name"
        raise OutputExistsError(message)


def read_manifest(folder: Path) -> Manifest:
    """Read what belongs to the index in a folder."""
    with contextlib.closing(Database(folder)) as database:
        return database.read().manifest


def kind_of(folder: Path) -> IndexKind:
    """Return what kind of index lies in a folder.

    Raises
    ------
    ReadError, IndexFormatError
        If there is none, or it is damaged or of another version.
    """
    return read_manifest(folder).kind


def check_kind(folder: Path, manifest: Manifest, kind: IndexKind) -> None:
    """Make sure that an index is of a kind."""
    if manifest.kind != kind:
        message = (
            f"this is an index of {manifest.kind}, not of {kind}; neardup.open_index opens either"
        )
        raise IndexFormatError(message, path=str(folder))


def no_index(folder: Path) -> NeardupError:
    """Return the error for a folder that holds no index."""
    if folder.is_file():
        message = "no index: this is a file; the folder of an index comes first, then files"
        return ReadError(message, path=str(folder))
    if (folder / _EARLIER).is_file():
        message = "the index was made by an earlier neardup; build it again"
        return IndexFormatError(message, path=str(folder))
    found = f"the folder has no {FILE}" if folder.is_dir() else "folder not found"
    message = f"no index: {found}; make one with: neardup index build {folder} INPUT"
    return ReadError(message, path=str(folder))


def index_named(data: Any) -> Path | None:
    """Return the folder of an index of either kind, if that is what a path names."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    recover_above(os.fsdecode(data))
    # A URL or a pattern is a string too; os.path says no to whatever cannot be a path.
    names = FILE, _EARLIER
    is_index = any(os.path.isfile(os.path.join(data, name)) for name in names)  # noqa: PTH113, PTH118
    return Path(data) if is_index else None


# The scheme of an index, as it was described.


def described_tokenizer(
    description: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None
) -> str | Path | TokenFunction:
    """Return the tokenizer that is given, or that is described, if its name is enough."""
    name = str(description.get("tokenizer"))
    file = file_in_name(name)
    if tokenizer is None and file is not None:
        message = f"tokenizer must be given: this index was made with the file {file}"
        raise InvalidParameterError(message)
    return name if tokenizer is None else tokenizer


def check_restored(found: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Make sure that a scheme is the one that was described."""
    differing = [key for key in {**found, **description} if found.get(key) != description.get(key)]
    if differing:
        raise SketchMismatchError(
            {key: (description.get(key), found.get(key)) for key in sorted(differing)}
        )
