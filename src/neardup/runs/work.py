"""The work folder of a run, for resuming.

    .NAME.neardup-work-DIGEST/
      key.json              inputs of the folder: options, versions, files
      TASK.FILE             file of a task; a temporary name until the task is done
      done-NUMBER.json      record of a completed task: its name, result, and checksums of its files
      write.lock            one process at a time; the system frees the lock of a killed process

A task writes its files under temporary names, syncs them to the disk, renames them and stores its
record. Files without a record are removed when the folder is opened again. A resumed run first
compares all files with their checksums: a damaged task and all later ones count as not done.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from logging import getLogger
from pathlib import Path
from threading import RLock
from typing import Any, Self

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError, WriteError
from neardup.runs.disk import (
    HOLDER,
    LOCK,
    PATIENCE,
    UNFINISHED,
    FileRecord,
    LockedFolder,
    finish_file,
    record_of_file,
    store_file,
    sync_folder,
    unsynced,
    work_errors,
)

KEY = "key.json"

_log = getLogger(__name__)


def digest_of(key: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a work key, in hex."""
    return hashlib.sha256(json.dumps(key, sort_keys=True, allow_nan=False).encode()).hexdigest()


class WorkPlace(LockedFolder):
    """A run's folder, named by its key's digest."""

    # Private, because it may hold texts.
    _mode = 0o700

    def __init__(self, parent: Path, name: str, digest: str) -> None:
        super().__init__(parent / f".{name}.neardup-work-{digest[:12]}")
        self.parent, self.name = parent, name
        self._process = os.getpid()

    def exists(self) -> bool:
        """Return whether the folder exists."""
        return os.path.lexists(self.path)

    def enter(self, patience: float = PATIENCE) -> None:
        """Create the folder and its parents, and lock it."""
        try:
            super().enter(patience)
        except TimeoutError:
            message = (
                f"the same command is at work in {self.path} already: {self.holder}; wait until "
                "that is done, or end it"
            )
            raise WriteError(message) from None

    def store_key(self, key: Mapping[str, Any]) -> None:
        """Store the key, from which a later run resumes."""
        store_file(self.path / KEY, json.dumps(key, indent=1).encode())
        sync_folder(self.parent)

    def leave(self) -> None:
        """Free the lock, and keep the folder."""
        if self._process == os.getpid():
            super().leave()

    def clear(self) -> None:
        """Remove all except lock and holder, records from the last."""
        paths = sorted(self.path.iterdir(), reverse=True)
        for path in sorted(paths, key=lambda path: not _RECORD.fullmatch(path.name)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in (LOCK, HOLDER):
                path.unlink()

    def remove(self) -> None:
        """Remove the folder if this process owns it."""
        if self._process == os.getpid():
            with contextlib.suppress(OSError):
                self.clear()
            super().remove()

    def others(self) -> list[Path]:
        """Return other work folders of this name, oldest first."""
        name = re.compile(re.escape(self.path.name[:-12]) + "[0-9a-f]{12}")
        times: list[tuple[int, Path]] = []
        with contextlib.suppress(OSError), os.scandir(self.parent) as entries:
            for entry in entries:
                is_other = name.fullmatch(entry.name) and entry.name != self.path.name
                if is_other and entry.is_dir(follow_symlinks=False):
                    time = entry.stat(follow_symlinks=False).st_mtime_ns
                    times.append((time, self.parent / entry.name))
        return [path for _, path in sorted(times)]

    def remove_others(self) -> None:
        """Remove other unlocked work folders of this name."""
        for path in self.others():
            other = WorkPlace(self.parent, self.name, path.name[-12:])
            with contextlib.suppress(OSError):
                # The lock of a living process raises WriteError, which is an OSError.
                other.enter(patience=0)
                if other.is_locked:
                    other.remove()

    def _make(self) -> None:
        self.parent.mkdir(parents=True, exist_ok=True)
        super()._make()


_RECORD = re.compile(r"done-\d{6}\.json")


@dataclass(frozen=True)
class TaskRecord:
    """A completed task, with its files and JSON result."""

    number: int
    name: str
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    result: Any = None


class TaskFiles:
    """Temporary paths and small JSON result of a task."""

    def __init__(self, stem: str, suffix: str) -> None:
        self.result: Any = None
        self.parts: dict[str, Path] = {}
        self._stem, self._suffix = stem, suffix

    def new(self, file_name: str) -> Path:
        """Return a temporary path for a file of that name."""
        path = Path(f"{self._stem}.{file_name}.{self._suffix}")
        self.parts[file_name] = path
        return path


class WorkFolder:
    """Thread-safe folder of completed tasks, created with the first.

    As a context manager, it removes the results at the end. After an error it keeps them if tasks
    are done, except for errors in options or inputs: a corrected command has another key.
    ``stale`` are the folders of earlier runs of the same name with other options or inputs, and
    ``problems`` damaged tasks that are repeated, a line each.
    """

    def __init__(self, place: WorkPlace, key: Mapping[str, Any] | None) -> None:
        self.stale = place.others()
        self.problems: list[str] = []
        self._place, self.key = place, key
        # Checksums of records start with the key, so that records of another run count as damaged.
        self._seed = 0 if key is None else zlib.crc32(digest_of(key).encode())
        self._records: dict[str, TaskRecord] = {}
        self._token = secrets.token_hex(4)
        self._mutex = RLock()
        self._is_entered = self._is_closed = False
        self._finalizer: weakref.finalize[..., Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, InvalidParameterError | InvalidInputError):
            self.remove()
        else:
            self.close()

    @classmethod
    def open(
        cls, parent: Path, name: str, key: Mapping[str, Any], *, at_once: bool = False
    ) -> Self:
        """Open a key's work folder, with an earlier run's results.

        ``key`` has all inputs, from ``opening.key_of``. With ``at_once`` the folder is created now,
        because runs for other outputs may use the same one.
        """
        folder = cls(WorkPlace(parent, name, digest_of(key)), key)
        if at_once or folder._place.exists():
            folder._enter(is_fresh=False)
        return folder

    @classmethod
    def temporary(cls, parent: Path | None = None, name: str = "run") -> WorkFolder:
        """Return a work folder that is always removed.

        Leftovers of killed processes are removed first. Without ``parent``, it is in the system's
        temporary folder.
        """
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        folder = cls(WorkPlace(parent, name, secrets.token_hex(6)), None)
        folder._place.remove_others()
        folder._finalizer = weakref.finalize(folder, folder._place.remove)
        return folder

    @property
    def folder(self) -> Path:
        """Path of the folder, which may not exist yet."""
        return self._place.path

    @property
    def n_done(self) -> int:
        """Number of completed tasks."""
        return len(self._records)

    def describe_earlier_runs(self) -> list[str]:
        """Describe earlier runs, a line each.

        Results with other options stay until this run is done, because the user may return to them.
        """
        lines, n = list(self.problems), self.n_done
        if n:
            done = "1 task is done" if n == 1 else f"{n:,} tasks are done"
            over = f"to start over, remove {self.folder}"
            lines.append(f"continuing a stopped run: {done}; {over}")
        start = "" if n else "starts over, and "
        return lines + [
            f"{path} belongs to a stopped run with other options or inputs; this run {start}"
            "removes that folder at the end"
            for path in self.stale
        ]

    def remove_stale(self) -> None:
        """Remove the folders of earlier runs that no process uses."""
        self._place.remove_others()

    def is_done(self, task: str) -> bool:
        """Return whether a task is done."""
        return task in self._records

    def result(self, task: str) -> Any:
        """Return a completed task's result, read from JSON."""
        return self._records[task].result

    def path(self, task: str, file_name: str) -> Path:
        """Return the path of a completed task's file."""
        record, path = self._records[task], self._path_of(task, file_name)
        try:
            n_bytes = path.stat().st_size
        except OSError:
            n_bytes = -1
        if n_bytes != record.files[file_name].size:
            message = "this file of an unfinished run is damaged, or gone; run the command again"
            raise ReadError(message, path=str(path))
        return path

    @contextmanager
    def task(self, name: str) -> Iterator[TaskFiles]:
        """Run a task, done if the block raises no error."""
        with self._mutex:
            self._check_open(f"task {name!r}")
        files = TaskFiles(f"{self.folder}/.{name}", f"{self._token}.part")
        try:
            with self._errors(is_foreign=True):
                yield files
            with self._errors():
                self._finish(name, files)
        finally:
            for part in files.parts.values():
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        """Yield a temporary empty folder for this process.

        Its files are not synced. A killed process leaves it to the cleanup of the work folder.
        """
        path = self.folder / f"{secrets.token_hex(4)}.passing"
        with self._mutex, self._errors():
            self._check_open("a temporary folder")
            path.mkdir()
        try:
            with unsynced(path), self._errors(is_foreign=True):
                yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def discard(self, task: str) -> None:
        """Remove a task of a temporary folder, and its files."""
        assert self.key is None
        with self._mutex, self._errors():
            for name in self._records.pop(task).files:
                self._path_of(task, name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the work, and keep the folder if resumable."""
        with self._mutex:
            if self.key is None or not self._records:
                self.remove()
            elif not self._is_closed:
                self._is_closed = True
                if self._is_entered:
                    self._place.leave()
                    UNFINISHED.set(self.folder)

    def remove(self) -> None:
        """Remove the folder after a finished run."""
        with self._mutex:
            if not self._is_closed:
                self._is_closed = True
                if self._finalizer is not None:
                    self._finalizer()
                elif self._is_entered:
                    self._place.remove()

    def _errors(self, *, is_foreign: bool = False) -> AbstractContextManager[None]:
        is_lasting = self.key is not None
        return work_errors(self.folder, is_lasting=is_lasting, is_foreign=is_foreign)

    def _check_open(self, what: str) -> None:
        """Raise if the folder is closed, create it if missing."""
        if self._is_closed:
            message = f"{what} comes too late: the folder is closed"
            raise ValueError(message)
        if not self._is_entered:
            # Present content is unknown and unused, because the folder was missing at the start.
            self._enter(is_fresh=True)

    def _enter(self, *, is_fresh: bool) -> None:
        with self._errors():
            is_new = not self._place.exists()
            self._place.enter()
            try:
                if is_fresh:
                    self._place.clear()
                if self.key is not None:
                    self._load()
                    self._place.store_key(self.key)
                    self._remove_leftovers()
            except BaseException:
                # A folder without a key cannot be resumed.
                (self._place.remove if is_new else self._place.leave)()
                raise
        self._is_entered = True

    def _path_of(self, task: str, file_name: str) -> Path:
        return self.folder / f"{task}.{file_name}"

    def _record_path(self, number: int) -> Path:
        return self.folder / f"done-{number:06d}.json"

    def _finish(self, name: str, files: TaskFiles) -> None:
        self._check_open(f"task {name!r}")
        result = json.loads(json.dumps(files.result, allow_nan=False))
        if self.key is None:
            finished = {
                each: FileRecord(part.stat().st_size, "") for each, part in files.parts.items()
            }
        else:
            finished = {each: finish_file(part) for each, part in files.parts.items()}
        with self._mutex:
            # Repeated, because only here no other thread can close it any more.
            self._check_open(f"task {name!r}")
            record = TaskRecord(len(self._records), name, finished, result)
            try:
                for each, part in files.parts.items():
                    part.replace(self._path_of(name, each))
                self._store(record)
            except BaseException as error:
                stored = self._record_path(record.number)
                # An interrupt may come after completion.
                if isinstance(error, Exception):
                    with contextlib.suppress(OSError):
                        stored.unlink(missing_ok=True)
                if not stored.exists():
                    for each in files.parts:
                        with contextlib.suppress(OSError):
                            self._path_of(name, each).unlink()
                raise

    def _store(self, record: TaskRecord) -> None:
        if self.key is not None:
            body = json.dumps(asdict(record), allow_nan=False).encode()
            checksum = b"%08x " % zlib.crc32(body, self._seed)
            store_file(self._record_path(record.number), checksum, body)
        self._records[record.name] = record

    def _load(self) -> None:
        """Load an earlier process's tasks before the first damaged task."""
        self._records, damaged = {}, None
        stored = sorted(p.name for p in self.folder.iterdir() if _RECORD.fullmatch(p.name))
        for number in range(len(stored)):
            record = self._read_record(number)
            damaged = self._record_path(number) if record is None else self._damage_of(record)
            if record is None or damaged is not None:
                break
            self._records[record.name] = record
        if damaged is not None:
            problem = f"{damaged} is damaged, or missing; neardup repeats the lost work"
            _log.warning("%s", problem)
            self.problems.append(problem)
            for name in reversed(stored):
                if name >= self._record_path(len(self._records)).name:
                    (self.folder / name).unlink(missing_ok=True)

    def _read_record(self, number: int) -> TaskRecord | None:
        try:
            data = self._record_path(number).read_bytes()
            content = json.loads(data[9:])
            files = {name: FileRecord(**file) for name, file in content.pop("files").items()}
            record = TaskRecord(files=files, **content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        is_intact = data[:9] == b"%08x " % zlib.crc32(data[9:], self._seed)
        return record if is_intact and record.number == number else None

    def _damage_of(self, record: TaskRecord) -> Path | None:
        for name, expected in record.files.items():
            path = self._path_of(record.name, name)
            try:
                # Reading a file takes long.
                if path.stat().st_size != expected.size or record_of_file(path) != expected:
                    return path
            except OSError:
                return path
        return None

    def _remove_leftovers(self) -> None:
        known = {KEY, LOCK, HOLDER}
        for record in self._records.values():
            known.add(self._record_path(record.number).name)
            known |= {self._path_of(record.name, name).name for name in record.files}
        for path in self.folder.iterdir():
            if path.name not in known and not path.is_dir():
                path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Workspace:
    """Memory and work folder of a job.

    ``memory`` is in bytes, in addition to the interpreter and libraries. Without ``work``, all data
    stay in memory, whatever their size.
    """

    memory: int
    work: WorkFolder | None = None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *raised: Any) -> None:
        if self.work is not None:
            self.work.__exit__(*raised)

    def share(self, share: float) -> int:
        """Return a share of the memory, at least a byte."""
        return max(1, int(self.memory * share))

    def fits(self, n_bytes: int, share: float) -> bool:
        """Return whether data fit into a share of the memory."""
        return self.work is None or n_bytes <= self.share(share)

    def passes(self, n_bytes: int, share: float) -> int:
        """Return the number of passes over data of this size."""
        return 1 if self.work is None else -(-n_bytes // self.share(share)) or 1

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        """Yield an empty folder, temporary without a work folder."""
        with contextlib.ExitStack() as stack:
            work = self.work or stack.enter_context(WorkFolder.temporary())
            yield stack.enter_context(work.temporary_folder())


IN_MEMORY = Workspace(0)
"""Workspace of jobs that keep all data in memory, whatever their size."""
