"""The database of an index: its state and write lock."""

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import TIMEOUT_MAX, Lock, RLock
from typing import Any
from urllib.parse import quote

import numpy as np

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    NeardupError,
    OutputExistsError,
    ReadError,
    WriteError,
)
from neardup.files.destinations import recover
from neardup.options.choices import IndexKind
from neardup.runs.disk import HOLDER, find_holder, part_of, store_holder, sync_folder, write_errors
from neardup.tables import Int64s, Uint32s
from neardup.version import __version__

FILE = "index.sqlite"
SEGMENTS = "segments"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
RESTORE = "restore the index from a copy, or build it again"

# Grows with each change of the files that an earlier neardup cannot read.
FORMAT = 7

_TABLES = f"""
PRAGMA journal_mode = WAL;
PRAGMA user_version = {FORMAT};
CREATE TABLE state (generation INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE removed (segment TEXT PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE pending (number INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE denied (number INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
CREATE TABLE gone (number INTEGER PRIMARY KEY, data BLOB, checksum INTEGER);
"""

_GENERATION = "SELECT max(generation) FROM state"
_NOTHING: Uint32s = np.empty(0, np.uint32)


@dataclass(frozen=True)
class SegmentRecord:
    """A segment's file, counts, and checksum after ``data_bytes`` bytes."""

    name: str
    n_documents: int
    n_tokens: int
    n_bytes: int
    data_bytes: int
    checksum: int
    n_removed: int = 0


def segment_bytes(records: Iterable[SegmentRecord]) -> int:
    """Count the bytes of segments."""
    return sum(record.n_bytes for record in records)


@dataclass(frozen=True)
class PendingRecord:
    """Counts of documents in database rows, numbered from ``first``."""

    first: int = 0
    n_rows: int = 0
    n_documents: int = 0
    n_tokens: int = 0
    n_bytes: int = 0
    n_removed: int = 0

    @property
    def name(self) -> str:
        """Name of the removed rows, unique because numbers never recur."""
        return f"pending-{self.first}"

    def with_rows(
        self, packed: Sequence[bytes], n_documents: int, n_tokens: int = 0
    ) -> PendingRecord:
        """Return the counts with more rows of packed documents."""
        return replace(
            self,
            n_rows=self.n_rows + len(packed),
            n_documents=self.n_documents + n_documents,
            n_tokens=self.n_tokens + n_tokens,
            n_bytes=self.n_bytes + sum(map(len, packed)),
        )


@dataclass(frozen=True)
class Manifest:
    """Files and counts of an index.

    ``scheme`` has plain JSON values, ``generation`` is the number of changes, and ``segments`` are
    in the order of addition. Document frequencies in the segment ``frequencies`` decide weights.
    ``pending`` documents follow the segments' documents, ``denied`` ones must not come back, and
    ``gone`` ones were left out for others; all three are in rows of the database.
    """

    scheme: Mapping[str, Any]
    generation: int = 0
    segments: tuple[SegmentRecord, ...] = ()
    frequencies: SegmentRecord | None = None
    pending: PendingRecord = field(default_factory=PendingRecord)
    denied: PendingRecord = field(default_factory=PendingRecord)
    gone: PendingRecord = field(default_factory=PendingRecord)
    created_with: str = __version__

    @property
    def all_segments(self) -> tuple[SegmentRecord, ...]:
        """All segments, with segments of documents first."""
        return self.segments + (() if self.frequencies is None else (self.frequencies,))

    @property
    def parts(self) -> tuple[SegmentRecord | PendingRecord, ...]:
        """Segments of documents, and pending documents last."""
        return *self.segments, self.pending

    @property
    def n_documents(self) -> int:
        """Count the documents that can be found."""
        return sum(each.n_documents - each.n_removed for each in self.parts)

    @property
    def n_bytes(self) -> int:
        """Count the bytes of all segments and of pending documents."""
        rows = self.pending.n_bytes + self.denied.n_bytes + self.gone.n_bytes
        return segment_bytes(self.all_segments) + rows

    @property
    def kind(self) -> IndexKind:
        """Kind of results: documents or passages."""
        return "documents" if self.scheme.get("kind") == "documents" else "passages"

    @property
    def digest(self) -> str:
        """Return a digest that changes with the index."""
        import msgspec

        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()

    def free_name(self, number: int) -> str:
        """Name a segment by its number and the next generation."""
        return f"g{self.generation + 1:06d}-{number:04d}"


@dataclass(frozen=True)
class Contents:
    """The rows of the database at one time.

    ``removed`` has the removed rows of each segment, and those of pending documents last;
    ``pending`` and ``denied`` are packed documents, ``new_gone`` packed documents that the next
    commit adds to those left out; ``file`` identifies the database.
    """

    manifest: Manifest
    removed: tuple[Uint32s, ...] = (_NOTHING,)
    pending: tuple[bytes, ...] = ()
    denied: tuple[bytes, ...] = ()
    new_gone: tuple[bytes, ...] = ()
    file: tuple[int, ...] = ()

    def without(self, rows: Sequence[Int64s]) -> Contents:
        """Return the contents without some rows of segments and pending documents."""
        removed = [
            np.union1d(old, new).astype(np.uint32)
            for old, new in zip(self.removed, rows, strict=True)
        ]
        counts = [len(rows) for rows in removed]
        segments = tuple(
            replace(record, n_removed=n)
            for record, n in zip(self.manifest.segments, counts, strict=False)
        )
        pending = replace(self.manifest.pending, n_removed=counts[-1])
        manifest = replace(self.manifest, segments=segments, pending=pending)
        return replace(self, manifest=manifest, removed=tuple(removed))

    def with_segments(self, records: Sequence[SegmentRecord], first: int) -> Contents:
        """Replace pending documents and segments from ``first`` on."""
        pending = self.manifest.pending
        manifest = replace(
            self.manifest,
            segments=(*self.manifest.segments[:first], *records),
            pending=PendingRecord(pending.first + pending.n_rows),
        )
        removed = (*self.removed[:first], *[_NOTHING] * (len(records) + 1))
        return replace(self, manifest=manifest, removed=removed, pending=())

    def with_pending(self, packed: Sequence[bytes], n_documents: int, n_tokens: int) -> Contents:
        """Return the contents with more pending documents."""
        pending = self.manifest.pending.with_rows(packed, n_documents, n_tokens)
        manifest = replace(self.manifest, pending=pending)
        return replace(self, manifest=manifest, pending=(*self.pending, *packed))

    def with_gone(
        self, packed: Sequence[bytes], n_documents: int, *, is_anew: bool = False
    ) -> Contents:
        """Return the contents with more documents left out, or with these alone."""
        record, new = self.manifest.gone, self.new_gone
        if is_anew:
            record, new = PendingRecord(record.first + record.n_rows), ()
        manifest = replace(self.manifest, gone=record.with_rows(packed, n_documents))
        return replace(self, manifest=manifest, new_gone=(*new, *packed))

    def removed_by_name(self) -> dict[str, tuple[int, Uint32s]]:
        """Return the number and rows of each segment's removals."""
        parts = zip(self.manifest.parts, self.removed, strict=True)
        return {each.name: (each.n_removed, rows) for each, rows in parts if each.n_removed}


class Database:
    """Thread-safe open database of an index."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / FILE
        # Reading and writing have a connection each: a reader must not see an open transaction.
        self._open: dict[bool, tuple[tuple[int, ...], sqlite3.Connection]] = {}
        self._reading, self._writing = RLock(), Lock()
        self.has_tried = False
        self._known: Contents | None = None
        weakref.finalize(self, _close, self._open)

    def close(self) -> None:
        """Close the database, so that its folder can be moved."""
        _close(self._open)

    def has_changed(self, contents: Contents) -> bool:
        """Return whether another writer changed the index, in microseconds."""
        try:
            with self._reading:
                connection, file = self._connect(writes=False)
                row = connection.execute(_GENERATION).fetchone()
            return (row[0], file) != (contents.manifest.generation, contents.file)
        except (sqlite3.Error, NeardupError):
            # Reading it again finds and reports the reason.
            return True

    def read(self) -> Contents:
        """Read the committed contents, reusing rows that were read before.

        ReadError or IndexFormatError if the index is missing, damaged, or of another version.
        """
        with self._reading, self._translated():
            connection, file = self._connect(writes=False)
            known = self._known
            if known is not None and known.file != file:
                known = None
            if known is not None:
                (generation,) = connection.execute(_GENERATION).fetchone()
                if generation == known.manifest.generation:
                    return known
            with _snapshot(connection):
                self._known = replace(self._read(connection, known), file=file)
            return self._known

    def read_gone(self) -> list[bytes]:
        """Read the packed documents that were left out for others."""
        with self._reading, self._translated():
            connection, _ = self._connect(writes=False)
            with _snapshot(connection):
                n_rows = self._read(connection, None).manifest.gone.n_rows
                rows = self._select(connection, "gone")
            if len(rows) != n_rows:
                raise self._damaged("documents that were left out are missing")
            return [data for _, data, _ in rows]

    def check(self) -> None:
        """Read every page of the database, and raise if damaged."""
        with self._reading, self._translated():
            self.read_gone()
            (found,) = self._connect(writes=False)[0].execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise self._damaged(found)

    @contextmanager
    def writing(self, timeout: float) -> Iterator[None]:
        """Lock the index, and finally roll back uncommitted changes.

        IndexLockedError if another writer holds it for longer than ``timeout`` seconds.
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
                    # Short enough to get the lock between two commits of a fast writer.
                    time.sleep(0.001 if now - start < 0.5 else 0.01)
                else:
                    return

    def commit(self, after: Contents) -> None:
        """Store the next state durably in one step, within ``writing``.

        ``after`` derives from the current state. Only new rows are written.
        """
        self.has_tried = True
        with self._translated(is_writing=True):
            connection = self._open[True][1]
            if not connection.in_transaction:
                # An earlier commit has failed, and SQLite has given the lock back.
                self._begin(0, 0)
            before = self.read()
            if before.manifest.generation != after.manifest.generation:
                message = f"{self.folder} was changed by others since a commit failed; start over"
                raise WriteError(message)
            manifest = replace(after.manifest, generation=after.manifest.generation + 1)
            execute, is_insertion = connection.execute, after.removed is before.removed
            _write_packed(execute, before, after)
            if not is_insertion:
                _write_removed(execute, before.removed_by_name(), after.removed_by_name())
            execute("DELETE FROM state")
            execute("INSERT INTO state VALUES (?,?,?)", _state_row(manifest))
            execute("COMMIT")
            with self._reading:
                self._known = replace(after, manifest=manifest, new_gone=(), file=before.file)
        if not is_insertion:
            # The log of the database starts anew.
            with contextlib.suppress(sqlite3.Error):
                execute("PRAGMA wal_checkpoint(TRUNCATE)")
        # An insertion leaves no orphans, but a killed change before it may have.
        self.remove_orphans(manifest)

    def remove_orphans(self, manifest: Manifest) -> None:
        """Remove segment files outside the index, within ``writing``.

        Readers that have mapped a file keep it.
        """
        named = {record.name for record in manifest.all_segments}
        with contextlib.suppress(OSError):
            for path in sorted((self.folder / SEGMENTS).iterdir()):
                name = path.name.removeprefix(".").removesuffix(".part")
                if path.name not in named and NAME.fullmatch(name):
                    path.unlink(missing_ok=True)

    def _connect(self, *, writes: bool) -> tuple[sqlite3.Connection, tuple[int, ...]]:
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
        """Read the contents in a snapshot, but for rows that ``known`` contents have."""
        import msgspec

        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            message = (
                f"the index has format {version}, this neardup ({__version__}) reads {FORMAT}; use "
                "another neardup, or build the index again"
            )
            raise IndexFormatError(message, path=str(self.path))
        rows = self._select(connection, "state")
        if len(rows) != 1:
            raise self._damaged("no state")
        manifest = msgspec.json.decode(rows[0][1], type=Manifest)
        packed = []
        for table in ("pending", "denied"):
            record, before = getattr(manifest, table), ()
            if known is not None and getattr(known.manifest, table).first == record.first:
                before = getattr(known, table)
            new = self._select(connection, table, "number >= ?", record.first + len(before))
            packed.append((*before, *(data for _, data, _ in new)))
            if len(packed[-1]) != record.n_rows:
                raise self._damaged(f"{table} documents are missing")
        removed = {} if known is None else known.removed_by_name()
        parts = []
        for each in manifest.parts:
            n, own = removed.get(each.name, (0, _NOTHING))
            if n != each.n_removed:
                rows = self._select(connection, "removed", "segment = ?", each.name)
                own = np.frombuffer(rows[0][1] if rows else b"", np.uint32)
                if len(own) != each.n_removed:
                    raise self._damaged("removed documents are missing")
            parts.append(own)
        return Contents(manifest, tuple(parts), *packed)

    def _select(
        self, connection: sqlite3.Connection, table: str, where: str = "1", *values: Any
    ) -> list[tuple[Any, ...]]:
        query = f"SELECT * FROM {table} WHERE {where} ORDER BY 1"
        rows = connection.execute(query, values).fetchall()
        for row in rows:
            key, data, _ = row
            if type(data) is not bytes or _with_checksum(key, data) != row:
                raise self._damaged("a row has another checksum")
        return rows

    def _damaged(self, reason: object) -> IndexFormatError:
        message = f"the database is damaged ({reason}); {RESTORE}"
        return IndexFormatError(message, path=str(self.path))

    @contextmanager
    def _translated(self, *, is_writing: bool = False) -> Iterator[None]:
        """Convert errors of SQLite to one line with the file."""
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


# Errors of the operating system by SQLite's error code.
_REASONS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read one state of the database within the block."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _close(connections: dict[bool, tuple[tuple[int, ...], sqlite3.Connection]]) -> None:
    """Close this process's connections, not those inherited from its parent."""
    for file, connection in connections.values():
        if file[-1] == os.getpid():
            with contextlib.suppress(sqlite3.Error):
                connection.close()
    connections.clear()


def _write_packed(execute: Callable[..., object], before: Contents, after: Contents) -> None:
    """Insert new rows of packed documents, and delete the rows that were replaced."""
    for table in ("pending", "denied", "gone"):
        record, old = getattr(after.manifest, table), getattr(before.manifest, table)
        execute(f"DELETE FROM {table} WHERE number < ?", (record.first,))
        n_known = old.n_rows if old.first == record.first else 0
        rows = after.new_gone if table == "gone" else getattr(after, table)[n_known:]
        for number, data in enumerate(rows, record.first + n_known):
            execute(f"INSERT INTO {table} VALUES (?,?,?)", _with_checksum(number, data))


def _write_removed(
    execute: Callable[..., object],
    before: Mapping[str, tuple[int, Uint32s]],
    after: Mapping[str, tuple[int, Uint32s]],
) -> None:
    """Write the removed rows of segments with other numbers of removed rows."""
    for name in before.keys() - after.keys():
        execute("DELETE FROM removed WHERE segment = ?", (name,))
    for name, (n_removed, rows) in after.items():
        if name not in before or before[name][0] != n_removed:
            row = _with_checksum(name, rows.tobytes())
            execute("INSERT OR REPLACE INTO removed VALUES (?,?,?)", row)


def _with_checksum(key: int | str, data: bytes) -> tuple[Any, ...]:
    return key, data, zlib.crc32(data, zlib.crc32(str(key).encode()))


def _state_row(manifest: Manifest) -> tuple[Any, ...]:
    import msgspec

    return _with_checksum(manifest.generation, msgspec.json.encode(manifest))


def create_index(folder: Path, scheme: Mapping[str, Any]) -> None:
    """Make an empty index, and the folders above it.

    OutputExistsError or WriteError if the folder is in use, or cannot be made.
    """
    # `Path` removes one slash of `s3://`.
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(folder)):
        message = f"{folder} is a URL; an index is local, build it and copy it there"
        raise WriteError(message)
    part = part_of(folder / FILE)
    part = part.with_name(f"{part.name}{os.getpid()}-{time.monotonic_ns()}")
    with write_errors(folder):
        _check_free(folder)
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            sync_folder(path.parent)
        try:
            _write_database(part, Manifest(scheme))
            # Fails where another process has made an index meanwhile.
            os.link(part, folder / FILE)
            sync_folder(folder)
        except FileExistsError:
            raise _exists(folder) from None
        finally:
            part.unlink(missing_ok=True)


def _write_database(path: Path, manifest: Manifest) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO state VALUES (?,?,?)", _state_row(manifest))
        data = bytearray(connection.serialize())
    # A database in memory has no log; this one has: bytes 18 and 19 of a file name its version.
    data[18:20] = b"\2\2"
    with path.open("xb", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


@contextmanager
def created_index(folder: Path, scheme: Mapping[str, Any]) -> Iterator[None]:
    """Make an empty index, and remove it unchanged after errors."""
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
    return OutputExistsError(f"{folder} already holds an index; add to it, or choose another name")


def _check_free(folder: Path) -> None:
    if not os.path.lexists(folder) and not recover(folder):
        return
    if not folder.is_dir():
        message = f"{folder} is not a folder; an index is a folder, choose another name"
        raise WriteError(message)
    if (folder / FILE).exists():
        raise _exists(folder)
    # A killed process leaves a file of this name.
    leftover = part_of(folder / FILE).name
    if any(not path.name.startswith(leftover) for path in folder.iterdir()):
        message = f"{folder} is not an index and not empty; choose another name"
        raise OutputExistsError(message)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of the index in a folder."""
    with contextlib.closing(Database(folder)) as database:
        return database.read().manifest


def index_kind(folder: Path) -> IndexKind:
    """Return the kind of the index in a folder.

    ReadError or IndexFormatError if the index is missing, damaged, or of another version.
    """
    return read_manifest(folder).kind


def check_kind(folder: Path, manifest: Manifest, kind: IndexKind) -> None:
    """Raise if an index is of another kind."""
    if manifest.kind != kind:
        message = (
            f"this is an index of {manifest.kind}, not of {kind}; neardup.open_index opens either"
        )
        raise IndexFormatError(message, path=str(folder))


def no_index(folder: Path) -> NeardupError:
    """Return the error for a folder without an index."""
    if folder.is_file():
        message = "no index: this is a file; the folder of an index comes first, then files"
        return ReadError(message, path=str(folder))
    message = f"folder not found; make an index with: neardup index build {folder} INPUT"
    if folder.is_dir():
        message = f"this folder has no {FILE}; give the folder of an index"
    return ReadError(message, path=str(folder))


def index_named(data: Any) -> Path | None:
    """Return the path of an index folder, else None."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    recover(Path(os.fsdecode(data)))
    # A URL or a pattern is a string, too. `os.path.isfile` returns False for it.
    return Path(data) if os.path.isfile(os.path.join(data, FILE)) else None  # noqa: PTH113, PTH118
