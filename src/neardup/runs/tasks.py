"""Work folders: location, lock, and completed tasks.

A resumed process compares the sizes of all files at once, and reads the files of a task on first
access. A damaged task counts as not done, and so do all tasks after it.

A folder is called ``.NAME.neardup-work-DIGEST``. Its process holds the lock on ``write.lock`` in
it; the system frees the lock of a killed process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from neardup.errors import ReadError, WriteError
from neardup.runs.disk import (
    HOLDER,
    LOCK,
    PATIENCE,
    FileRecord,
    LockedFolder,
    NewFile,
    record_of_file,
    store_file,
    sync_folder,
    write_all,
)
from neardup.runs.progress import job_logger

LOG = "tasks.log"
KEY = "key.json"
_MIDDLE = ".neardup-work-"
_DIGEST = re.compile(r"[0-9a-f]{12}")


def folder_name(name: str, digest: str) -> str:
    """Return the name of a run's work folder; ``digest`` is the digest of its key in hex."""
    return f".{name}{_MIDDLE}{digest[:12]}"


def is_of_name(folder: str, name: str) -> bool:
    """Return whether a folder is named like the work folders of a run."""
    prefix = folder_name(name, "")
    return folder.startswith(prefix) and bool(_DIGEST.fullmatch(folder[len(prefix) :]))


class Place(Protocol):
    """Location of a run's work, next to earlier runs of the same name."""

    def others(self) -> Sequence[Path | str]:
        """Return the locations of the same name with another key."""

    def remove_others(self, paths: Collection[Path | str] | None = None) -> Sequence[Path | str]:
        """Remove the given locations without a living process, and return them."""

    def key_of(self, other: Path | str) -> dict[str, Any] | None:
        """Return the key of a location; None if it cannot be read."""


class WorkPlace(LockedFolder):
    """A folder that is created, locked and removed as a whole, by the process of this object.

    Parameters
    ----------
    parent
        Parent folder, created if it is missing.
    name
        Name of the run, such as the name of its output.
    digest
        Digest of the folder's key, in hex.
    """

    def __init__(self, parent: Path, name: str, digest: str) -> None:
        super().__init__(parent / folder_name(name, digest))
        self.parent, self.name = parent, name
        # Parent folders that were created for this one.
        self.made: list[Path] = []
        self._process = os.getpid()

    def exists(self) -> bool:
        """Return whether the folder exists."""
        return os.path.lexists(self.path)

    def enter(self, patience: float = PATIENCE) -> None:
        """Create the folder and its parents, and lock it within some seconds."""
        try:
            super().enter(patience)
        except TimeoutError:
            message = (
                f"the same command is at work in {self.path} already: {self.holder}; wait until "
                "that is done, or end it"
            )
            raise WriteError(message) from None

    def note(self, key: Mapping[str, Any]) -> None:
        """Store the folder's key, and the parents that any process created for it."""
        made_before = _load(self.path).get("made")
        if isinstance(made_before, list):
            above = (*reversed(self.parent.parents), self.parent)
            self.made = [path for path in above if path in self.made or str(path) in made_before]
        content = {"key": key, "made": list(map(str, self.made))}
        store_file(self.path / KEY, json.dumps(content, indent=1).encode())
        # A later run resumes from it.
        for folder in (*self.made, self.path):
            sync_folder(folder.parent)

    def leave(self) -> None:
        """Free the lock; the folder stays."""
        if self._process == os.getpid():
            super().leave()

    def clear(self) -> None:
        """Remove everything except the lock and its holder, the log first."""
        # Without the log, the other files are meaningless.
        (self.path / LOG).unlink(missing_ok=True)
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in (LOCK, HOLDER):
                path.unlink()

    def remove(self) -> None:
        """Remove the folder and the parents created for it, as far as possible."""
        if self._process != os.getpid():
            # A forked copy of the owner has ended.
            return
        with contextlib.suppress(OSError):
            self.clear()
        super().remove()
        with contextlib.suppress(OSError):
            for folder in reversed(self.made):
                folder.rmdir()

    def others(self) -> list[Path]:
        """Return the work folders of the same name with another key, oldest first."""
        found: list[tuple[int, Path]] = []
        with contextlib.suppress(OSError), os.scandir(self.parent) as entries:
            for entry in entries:
                if (
                    is_of_name(entry.name, self.name)
                    and entry.name != self.path.name
                    and entry.is_dir(follow_symlinks=False)
                ):
                    path = self.parent / entry.name
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, path))
        return [path for _, path in sorted(found)]

    def remove_others(self, paths: Collection[Path | str] | None = None) -> list[Path]:
        """Remove and return the unlocked work folders of the same name, or some of them."""
        removed = []
        for path in self.others():
            if paths is not None and path not in paths:
                continue
            other = WorkPlace(self.parent, self.name, path.name[-12:])
            with contextlib.suppress(OSError):
                # The lock of a living process raises WriteError, which is an OSError.
                other.enter(patience=0)
                if other.is_locked:
                    other.remove()
                    removed.append(path)
        return removed

    @staticmethod
    def key_of(other: Path | str) -> dict[str, Any] | None:
        """Return the key of a work folder; None if it cannot be read."""
        key = _load(Path(other)).get("key")
        return key if isinstance(key, dict) else None

    def _make(self) -> None:
        """Create the folder for its owner only, because it may hold texts."""
        missing = [path for path in (self.parent, *self.parent.parents) if not path.exists()]
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                self.made.append(folder)
        if self.path.is_symlink():
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(mode=0o700)


def work_folders_of(output: Path) -> list[Path]:
    """Return the work folders next to an output, left or in use by runs."""
    return WorkPlace(output.parent, output.name, "").others()


def _load(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / KEY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


# The files of one task of a work folder, under temporary names until the task is done.

# Without a dot, so that the first dot in a file name ends the task's name.
_TASK = re.compile(r"[A-Za-z0-9_-]{1,80}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")


def file_of(folder: Path, task: str, file_name: str) -> Path:
    """Return the path of a file of a completed task."""
    return folder / f"{task}.{file_name}"


class TaskFiles:
    """Files and result of a running task.

    Parameters
    ----------
    folder
        Folder of its files.
    task
        Name of the task.
    token
        Part of the temporary names, unique per process.
    is_lasting
        Whether the files must survive a crash of the machine, with checksums.

    Attributes
    ----------
    result
        Result that is stored with the task: small, as JSON.
    """

    def __init__(self, folder: Path, task: str, token: str, *, is_lasting: bool) -> None:
        if not _TASK.fullmatch(task):
            message = f"no name of a task: {task!r}"
            raise ValueError(message)
        self.result: Any = None
        self._folder, self._task, self._token = folder, task, token
        self._is_lasting = is_lasting
        self._files: dict[str, Path | NewFile] = {}

    def new(self, file_name: str) -> Path:
        """Return a temporary path for a file of that name."""
        path = self._part_of(file_name)
        self._files[file_name] = path
        return path

    def new_file(self, file_name: str) -> NewFile:
        """Create a file of that name for appending.

        Its checksum is computed while it is written, and it is open only during a write.
        """
        file = NewFile(self._part_of(file_name))
        self._files[file_name] = file
        return file

    def finish(self) -> dict[str, FileRecord]:
        """Sync all files to the disk, and return their records."""
        return {name: self._finish(file) for name, file in self._files.items()}

    def take_names(self) -> None:
        """Rename all files to their final names."""
        for name in self._files:
            self._part_of(name).replace(file_of(self._folder, self._task, name))

    def give_up_names(self) -> None:
        """Remove the files with final names."""
        for name in self._files:
            with contextlib.suppress(OSError):
                file_of(self._folder, self._task, name).unlink()

    def remove_parts(self) -> None:
        """Remove the files with temporary names."""
        for name in self._files:
            with contextlib.suppress(OSError):
                self._part_of(name).unlink()

    def _finish(self, file: Path | NewFile) -> FileRecord:
        path = file if isinstance(file, Path) else file.path
        if not self._is_lasting:
            return FileRecord(path.stat().st_size, "")
        if isinstance(file, NewFile):
            return file.finish()
        with path.open("r+b", buffering=0) as opened:
            os.fsync(opened.fileno())
        return record_of_file(path)

    def _part_of(self, file_name: str) -> Path:
        if not _FILE.fullmatch(file_name):
            message = f"no name of a file: {file_name!r}"
            raise ValueError(message)
        return self._folder / f".{self._task}.{file_name}.{self._token}.part"


# The log of a work folder: completed tasks with their files and results. There is one line per
# task, added when its files are on the disk: the CRC-32 of all lines up to this one, in hex, and a
# JSON object. The first checksum continues the checksum of the folder's key. So a line that is
# lost, changed, moved or taken from another run is detected. A line that a killed run wrote in part
# is ignored.


@dataclass(frozen=True)
class TaskRecord:
    """A completed task: its files by name, and its result, which is JSON."""

    name: str
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    result: Any = None
    is_discarded: bool = False


class TaskLog:
    """The log of a work folder, changed by one process at a time.

    Parameters
    ----------
    path
        Path of the file, which may be missing.
    purpose
        Key of the folder, as a string; lines of another key count as damaged.
    """

    def __init__(self, path: Path, purpose: str) -> None:
        self.path = path
        self._start = zlib.crc32(purpose.encode())
        self._checksum, self._size = self._start, 0

    def load(self) -> tuple[dict[str, TaskRecord], bool]:
        """Return the completed tasks in order, and whether a line is damaged.

        Lines after a damaged one are ignored.
        """
        self._checksum, self._size = self._start, 0
        records: dict[str, TaskRecord] = {}
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return records, False
        for line in lines:
            if not line.endswith(b"\n"):
                # A killed run was just adding it.
                return records, line is not lines[-1]
            body = line[9:-1]
            checksum = zlib.crc32(body, self._checksum)
            try:
                if line[:9] != b"%08x " % checksum:
                    return records, True
                record = _decode(body)
            except (ValueError, KeyError, TypeError, AttributeError):
                return records, True
            records[record.name] = record
            self._checksum, self._size = checksum, self._size + len(line)
        return records, False

    @property
    def mark(self) -> tuple[int, int]:
        """End of the log, for ``cut_back``."""
        return self._checksum, self._size

    def append(self, record: TaskRecord) -> None:
        """Add or change a task durably."""
        body = _encode(record)
        checksum = zlib.crc32(body, self._checksum)
        line = b"%08x %s\n" % (checksum, body)
        with self.path.open("r+b", buffering=0) as file:
            # Anything after the last whole line is damaged or incomplete.
            file.truncate(self._size)
            file.seek(self._size)
            write_all(file.fileno(), line)
            os.fsync(file.fileno())
        self._checksum, self._size = checksum, self._size + len(line)

    def cut_back(self, mark: tuple[int, int]) -> None:
        """Remove additions since a mark; if that fails, the next addition repeats it."""
        self._checksum, self._size = mark
        with contextlib.suppress(OSError):
            os.truncate(self.path, self._size)

    def store(self, records: Iterable[TaskRecord]) -> None:
        """Replace all lines in one step."""
        checksum, lines = self._start, []
        for record in records:
            body = _encode(record)
            checksum = zlib.crc32(body, checksum)
            lines.append(b"%08x %s\n" % (checksum, body))
        store_file(self.path, *lines)
        self._checksum, self._size = checksum, sum(map(len, lines))


def as_json(result: Any) -> Any:
    """Return a result as it is read back from the log, such as a tuple as a list."""
    return json.loads(json.dumps(result, allow_nan=False))


def _encode(record: TaskRecord) -> bytes:
    return json.dumps(asdict(record), allow_nan=False).encode()


def _decode(body: bytes) -> TaskRecord:
    content = json.loads(body)
    files = {name: FileRecord(**file) for name, file in content.pop("files").items()}
    return TaskRecord(files=files, **content)


_log = job_logger(__name__)


class DoneTasks:
    """The completed tasks. Callers must serialize access.

    Parameters
    ----------
    folder
        The work folder.
    purpose
        Key of the folder, as a string; None if no later process resumes and nothing is logged.

    Attributes
    ----------
    problems
        Damaged files, a line each.
    """

    def __init__(self, folder: Path, purpose: str | None) -> None:
        self.problems: list[str] = []
        self._folder = folder
        self._task_log = None if purpose is None else TaskLog(folder / LOG, purpose)
        self._records: dict[str, TaskRecord] = {}
        # Tasks of an earlier process in order, and their files that are not yet read.
        self._loaded: list[str] = []
        self._unread: dict[str, None] = {}
        self._dropped: set[str] = set()

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, task: str) -> bool:
        """Return whether a task is done with intact files."""
        record = self._records.get(task)
        if record is not None and record.is_discarded:
            self._read_all()
        while task in self._unread:
            self._read_next()
        return task in self._records

    def __getitem__(self, task: str) -> TaskRecord:
        if task not in self and task in self._dropped:
            message = f"task {task!r} of an unfinished run is damaged; run the command again"
            raise ReadError(message, path=str(self._folder))
        return self._records[task]

    @property
    def files(self) -> dict[str, FileRecord]:
        """Records of all files of the tasks, by name."""
        return {
            file_of(self._folder, task, name).name: file
            for task, record in self._records.items()
            if not record.is_discarded
            for name, file in record.files.items()
        }

    def load(self) -> None:
        """Load the tasks of an earlier process whose files have the expected sizes."""
        if self._task_log is None:
            return
        self._records, is_damaged = self._task_log.load()
        self._loaded, self._unread = list(self._records), dict.fromkeys(self._records)
        if is_damaged:
            self._report(self._task_log.path)
        if is_damaged or not self._task_log.path.exists():
            self._task_log.store(self._records.values())
        for name in self._loaded:
            if self._is_damaged(name, _size_of, lambda file: file.size):
                self._drop(name)
                break

    def add(self, record: TaskRecord) -> None:
        """Add or replace a task, whose files are on the disk."""
        if self._task_log is not None:
            mark = self._task_log.mark
            try:
                self._task_log.append(record)
                self._records[record.name] = record
            except BaseException:
                if self._records.get(record.name) is not record:
                    self._task_log.cut_back(mark)
                raise
        else:
            self._records[record.name] = record

    def has(self, task: str) -> bool:
        """Return whether a task is listed as done, without checking its files."""
        return task in self._records

    def path(self, task: str, file_name: str) -> Path:
        """Return the path of a task's file."""
        record = self[task]
        path = file_of(self._folder, task, file_name)
        if record.is_discarded or _size_of(path) != record.files[file_name].size:
            message = "this file of an unfinished run is damaged, or gone; run the command again"
            raise ReadError(message, path=str(path))
        return path

    def discard(self, task: str) -> None:
        """Remove the files of a task, which stays done."""
        self._read_all()
        record = self[task]
        self.add(dataclasses.replace(record, is_discarded=True))
        for name in record.files:
            file_of(self._folder, task, name).unlink(missing_ok=True)

    def _read_all(self) -> None:
        """Read all files: a task without its own files stays done only if all others are intact."""
        while self._unread:
            self._read_next()

    def _read_next(self) -> None:
        task = next(iter(self._unread))
        if self._is_damaged(task, _record_of, lambda file: file):
            self._drop(task)
        else:
            del self._unread[task]

    def _is_damaged(
        self, task: str, look: Callable[[Path], Any], expect: Callable[[FileRecord], Any]
    ) -> bool:
        record = self._records[task]
        if not record.is_discarded:
            for name, file in record.files.items():
                path = file_of(self._folder, task, name)
                if look(path) != expect(file):
                    self._report(path)
                    return True
        return False

    def _drop(self, task: str) -> None:
        """Mark a task of an earlier process, and all tasks after it, as not done.

        So are tasks whose files were removed because of later tasks, which may be dropped here.
        """
        first = next(
            place
            for place, name in enumerate(self._loaded)
            if name == task or self._records[name].is_discarded
        )
        self._dropped.update(self._loaded[first:])
        for name in self._loaded[first:]:
            self._unread.pop(name, None)
            del self._records[name]
        del self._loaded[first:]
        if self._task_log is not None:
            self._task_log.store(self._records.values())

    def _report(self, path: Path) -> None:
        problem = f"{path} is damaged, or gone; what an unfinished run has lost is done again"
        _log.warning("%s", problem)
        self.problems.append(problem)


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _record_of(path: Path) -> FileRecord | None:
    try:
        return record_of_file(path)
    except OSError:
        return None
