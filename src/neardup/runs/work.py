"""The work folder of a run: results of its tasks, so that a stopped run can resume.

    .NAME.neardup-work-DIGEST/
      key.json              inputs of the folder: options, versions, files
      tasks.log             a line for each task that is done (storage.task_log)
      TASK.FILE             file of a task; a temporary name until the task is done
      write.lock            one process at a time

A task writes its files under temporary names, syncs them to the disk, renames them and adds a line
to the log. A task without a line is not done, and its files are removed when the folder is opened
again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO, Self

from neardup.errors import InvalidInputError, InvalidParameterError, NeardupError, WriteError
from neardup.runs.disk import (
    FULL,
    GOES_ON,
    HOLDER,
    LOCK,
    note_unfinished,
    passing,
    sync_folder,
)
from neardup.runs.progress import size
from neardup.runs.tasks import (
    KEY,
    LOG,
    DoneTasks,
    Place,
    TaskFiles,
    TaskRecord,
    WorkPlace,
    as_json,
)

# Errors of a work folder, each with a remedy; a run that can resume says so.

# Errors of writes that may come without a file name.
_UNNAMED = FULL | {errno.EFBIG, errno.EIO, errno.EROFS}


# Remedies for a full disk: for jobs with the option, for jobs with temporary files next to their
# output, and for jobs that use the system's temporary folder.
BY_WORK = "name a folder on a larger one with work (--work)"
BY_OUTPUT = "write the output to a larger one"
BY_SYSTEM = "name a folder on a larger one in TMPDIR"


@contextmanager
def work_errors(
    folder: Path, *, is_lasting: bool, is_foreign: bool = False, elsewhere: str = BY_WORK
) -> Iterator[None]:
    """Turn the operating system's errors into one with a remedy.

    Parameters
    ----------
    folder
        The work folder.
    is_lasting
        A later run can resume from it.
    is_foreign
        The block also does other work, whose errors are left unchanged.
    elsewhere
        Remedy for a full disk.
    """
    try:
        yield
    except OSError as error:
        cause = error.__cause__ if isinstance(error, WriteError) else error
        if not isinstance(cause, OSError) or isinstance(cause, NeardupError):
            raise
        if is_foreign and (cause is not error or not _is_of(folder, cause)):
            raise
        words = os.strerror(cause.errno) if cause.errno else str(cause)
        message = f"cannot write {folder}: {words}; {_advice(folder, cause, is_lasting, elsewhere)}"
        raise WriteError(message) from cause


def no_disk(folder: Path, missing: int, free: int, elsewhere: str) -> str:
    """Describe a disk with too little space for a run."""
    return (
        f"{folder} has {size(free)} free, and temporary files need {size(missing)}; free some "
        f"disk, or {elsewhere}"
    )


def _is_of(folder: Path, error: OSError) -> bool:
    if isinstance(error.filename, str | bytes | os.PathLike):
        return folder in Path(os.fsdecode(error.filename)).parents
    return error.errno in _UNNAMED


def _advice(folder: Path, error: OSError, is_lasting: bool, elsewhere: str) -> str:
    # The folder itself or one of its parents was missing.
    if error.errno == errno.ENOENT and _is_of(folder, error):
        return "something has removed files there; run the same command again"
    if error.errno not in FULL:
        return "name another folder for temporary files with work (--work)"
    if is_lasting:
        return f"free some disk, then run the same command again: {GOES_ON}"
    return f"free some disk, or {elsewhere}"


# The key of a work folder: options, versions and inputs of a run, and differences of two keys. A
# key is JSON: an object whose entries are objects (such as options), plain values (such as a
# version), or lists of files, each an object with a ``path`` and values that change with the file.

_MOST_LISTED = 3


def spell_key(key: Mapping[str, Any]) -> str:
    """Serialize a key, always in the same way."""
    return json.dumps(key, sort_keys=True, allow_nan=False)


def digest_of(key: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a key, in hex."""
    return hashlib.sha256(spell_key(key).encode()).hexdigest()


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Describe the differing entries of two keys, such as ``inputs changed since: a.jsonl``.

    Empty if they are the same.
    """
    # Normalize both to their stored form: a tuple becomes a list.
    old, new = json.loads(spell_key(old)), json.loads(spell_key(new))
    parts = []
    # Options of two commands are not comparable.
    if "command" in old and old["command"] != new.get("command"):
        return f"it is of `neardup {old['command']}`"
    for name in dict.fromkeys((*new, *old)):
        before: Any = old.get(name)
        now: Any = new.get(name)
        if before == now:
            continue
        if _are_files(before or []) and _are_files(now or []):
            parts += _differing_files(name, before or [], now or [])
        elif isinstance(before, dict) and isinstance(now, dict):
            changed = [
                f"{each} was {_spelled(before.get(each))}, is {_spelled(now.get(each))}"
                for each in dict.fromkeys((*now, *before))
                if before.get(each) != now.get(each) or (each in before) != (each in now)
            ]
            parts.append(f"{name} changed since: {_listed(changed)}")
        else:
            parts.append(f"{name} was {_spelled(before)}, is {_spelled(now)}")
    return "; ".join(parts)


def only_options_differ(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two keys agree in all files and versions."""
    old, new = json.loads(spell_key(old)), json.loads(spell_key(new))
    return all(
        old.get(name) == new.get(name)
        for name in (*old, *new)
        if name == "versions" or _are_files(old.get(name)) or _are_files(new.get(name))
    )


def _are_files(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(file, dict) and isinstance(file.get("path"), str) for file in value
    )


def _differing_files(name: str, old: list[Any], new: list[Any]) -> list[str]:
    before = {file["path"]: file for file in old}
    now = {file["path"]: file for file in new}
    found = {
        "changed since": [path for path in now if path in before and now[path] != before[path]],
        "added since": [path for path in now if path not in before],
        "no longer there": [path for path in before if path not in now],
    }
    listed = [f"{name} {what}: {_listed(paths)}" for what, paths in found.items() if paths]
    return listed or [f"{name} are in another order, or given another number of times"]


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _MOST_LISTED
    return ", ".join(words[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _spelled(value: Any) -> str:
    return "not given" if value is None else str(value)


class LastingWork(ABC):
    """Results of a run's tasks, stored where the same command can resume.

    As a context manager, it removes the results at the end. After an error it keeps them if tasks
    are done, except for errors in options or inputs: a corrected command has another key.

    Parameters
    ----------
    place
        Location of the results.
    key
        Key of the work; None if no later run resumes.

    Attributes
    ----------
    stale
        Locations of earlier runs of the same name with other options or inputs.
    """

    def __init__(self, place: Place, key: Mapping[str, Any] | None) -> None:
        self.stale = list(place.others())
        self._place, self._key = place, key

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, InvalidParameterError | InvalidInputError):
            self.remove()
        else:
            self.close()

    @property
    @abstractmethod
    def n_done(self) -> int:
        """Number of completed tasks."""

    @property
    def said_done(self) -> str:
        """Number of completed tasks, as shown to users."""
        return "1 task is done" if self.n_done == 1 else f"{self.n_done:,} tasks are done"

    @property
    @abstractmethod
    def problems(self) -> list[str]:
        """Damaged tasks that are repeated, a line each."""

    @abstractmethod
    def close(self) -> None:
        """Close the work, and keep it if a later run can resume."""

    @abstractmethod
    def remove(self) -> None:
        """Remove all results after a finished run."""

    def what_changed(self, stale: Path | str) -> str:
        """Describe the changes since a stale location was made; empty if unknown."""
        old = self._place.key_of(stale)
        return difference(old, self._key or {}) if old else ""

    def is_of_use(self, stale: Path | str) -> bool:
        """Return whether a command with other options could resume from a stale location."""
        return only_options_differ(self._place.key_of(stale) or {}, self._key or {})

    def remove_stale(self, paths: Collection[Path | str] | None = None) -> list[Path | str]:
        """Remove stale locations (default: all), and return the removed ones.

        A location in use by a process stays.
        """
        removed = list(self._place.remove_others(paths))
        self.stale = [path for path in self.stale if path not in removed]
        return removed


class WorkFolder(LastingWork):
    """Completed tasks and their files, in a folder created with the first task.

    Open it with ``open`` or ``temporary``. It is thread-safe.
    """

    def __init__(self, place: WorkPlace, key: Mapping[str, Any] | None) -> None:
        super().__init__(place, key)
        self._place: WorkPlace = place
        self._done = DoneTasks(place.path, None if key is None else digest_of(key))
        self._under_way: set[str] = set()
        self._token = secrets.token_hex(4)
        self._mutex = RLock()
        self._passing: list[BinaryIO] = []
        self._is_entered = self._is_closed = False
        self._elsewhere = BY_WORK
        self._finalizer: weakref.finalize[..., Any] | None = None

    @classmethod
    def open(
        cls,
        parent: Path,
        name: str,
        key: Mapping[str, Any],
        *,
        fresh: bool = False,
        at_once: bool = False,
    ) -> WorkFolder:
        """Open the work folder for a key, with the results of earlier runs.

        Parameters
        ----------
        parent
            Parent folder.
        name
            Name of the run, such as the name of its output.
        key
            All inputs of the work, from ``workspaces.key_of``.
        fresh
            Discard earlier results.
        at_once
            Create the folder now, because runs for other outputs may use the same one.
        """
        folder = cls(WorkPlace(parent, name, digest_of(key)), key)
        if at_once or folder._place.exists():
            folder._enter(is_fresh=fresh)
        return folder

    @classmethod
    def temporary(
        cls, parent: Path | None = None, name: str = "run", *, elsewhere: str = BY_WORK
    ) -> WorkFolder:
        """Return a work folder that is removed at the end in any case.

        Leftovers of killed processes are removed first. Without ``parent``, it is in the system's
        temporary folder. ``elsewhere`` is the remedy for a full disk in errors.
        """
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        folder = cls(WorkPlace(parent, name, secrets.token_hex(6)), None)
        folder._elsewhere = elsewhere
        folder.remove_stale()
        folder._finalizer = weakref.finalize(folder, folder._place.remove)
        return folder

    @property
    def folder(self) -> Path:
        """Path of the folder, which may not exist yet."""
        return self._place.path

    @property
    def n_done(self) -> int:
        """Number of completed tasks."""
        return len(self._done)

    @property
    def size_bytes(self) -> int:
        """Size of the files of all completed tasks."""
        with self._mutex:
            return sum(file.size for file in self._done.files.values())

    @property
    def problems(self) -> list[str]:
        """Damaged tasks that are repeated, a line each."""
        return self._done.problems

    def is_done(self, task: str) -> bool:
        """Return whether a task is done with intact files.

        Files of an earlier process are read once. If one is damaged, its task and all later ones
        count as not done.
        """
        with self._mutex, self._errors():
            return task in self._done

    def result(self, task: str) -> Any:
        """Return the result of a completed task, as read back from JSON."""
        with self._mutex, self._errors():
            return self._done[task].result

    def path(self, task: str, file_name: str) -> Path:
        """Return the path of a completed task's file."""
        with self._mutex, self._errors():
            return self._done.path(task, file_name)

    @contextmanager
    def task(self, name: str) -> Iterator[TaskFiles]:
        """Run a task in the block; it is done if the block ends without an error."""
        self._begin(name)
        files = TaskFiles(self.folder, name, self._token, is_lasting=self._key is not None)
        try:
            with self._errors(is_foreign=True):
                yield files
            with self._errors():
                self._finish(name, files)
        except BaseException:
            files.remove_parts()
            raise
        finally:
            with self._mutex:
                self._under_way.discard(name)

    def passing_file(self, name: str) -> BinaryIO:
        """Open a temporary file for this process, removed on close."""
        with self._mutex, self._errors():
            if not self._is_entered and not self._is_closed:
                self._enter(is_fresh=True)
            if self._is_closed:
                message = f"file {name!r} cannot be made: the folder is closed"
                raise ValueError(message)
            path = self.folder / f".{name}.{self._token}.part"
            file = path.open("w+b", buffering=0)
            self._passing.append(file)
            weakref.finalize(self, file.close)
            return file

    @contextmanager
    def passing_folder(self) -> Iterator[Path]:
        """Yield a temporary empty folder for this process.

        Its files are not synced. A killed process leaves it to the cleanup of the work folder.
        """
        path = self.folder / f"{secrets.token_hex(4)}.passing"
        with self._mutex, self._errors():
            if not self._is_entered and not self._is_closed:
                self._enter(is_fresh=True)
            path.mkdir()
        try:
            with passing(path), self._errors(is_foreign=True):
                yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def discard(self, task: str) -> None:
        """Remove the files of a completed task; it stays done, with its result."""
        with self._mutex, self._errors():
            self._done.discard(task)

    def free_disk_bytes(self) -> int:
        """Return the free space on the folder's disk."""
        with self._errors():
            above = (self.folder, *self.folder.parents)
            return shutil.disk_usage(next(path for path in above if path.exists())).free

    def require_disk(self, bytes_needed: int) -> None:
        """Check that the disk has space for the total of a run's files, completed ones included."""
        missing, free = bytes_needed - self.size_bytes, self.free_disk_bytes()
        if missing > free:
            raise WriteError(no_disk(self._place.parent, missing, free, self._elsewhere))

    def close(self) -> None:
        """Close the work, and keep the folder if a later run can resume."""
        with self._mutex:
            if self._key is None or not self._done:
                self.remove()
            elif not self._is_closed:
                self._is_closed = True
                self._remove_passing()
                if self._is_entered:
                    self._place.leave()
                    note_unfinished(self.folder)

    def remove(self) -> None:
        """Remove the folder after a finished run."""
        with self._mutex:
            if not self._is_closed:
                self._is_closed = True
                self._remove_passing()
                if self._finalizer is not None:
                    self._finalizer()
                elif self._is_entered:
                    self._place.remove()

    def _remove_passing(self) -> None:
        """Remove temporary files first, because some systems keep open ones."""
        for file in self._passing:
            with contextlib.suppress(OSError):
                file.close()
                Path(file.name).unlink()

    def _errors(self, *, is_foreign: bool = False) -> AbstractContextManager[None]:
        is_lasting = self._key is not None
        return work_errors(
            self.folder,
            is_lasting=is_lasting,
            is_foreign=is_foreign,
            elsewhere=self._elsewhere,
        )

    def _begin(self, name: str) -> None:
        with self._mutex:
            if not self._is_entered and not self._is_closed:
                # Present content is unknown and unused, because the folder was missing at the
                # start.
                self._enter(is_fresh=True)
            if self._is_closed or name in self._under_way or self.is_done(name):
                state = "the folder is closed" if self._is_closed else "it is done or under way"
                message = f"task {name!r} cannot begin: {state}"
                raise ValueError(message)
            self._under_way.add(name)

    def _finish(self, name: str, files: TaskFiles) -> None:
        self._check_open(name)
        result = as_json(files.result)
        record = TaskRecord(name, files.finish(), result)
        with self._mutex:
            # Repeated, because only here no other thread can close it any more.
            self._check_open(name)
            try:
                files.take_names()
                if self._key is not None:
                    sync_folder(self.folder)
                self._done.add(record)
            except BaseException:
                # An interrupt may come after completion.
                if not self._done.has(name):
                    files.give_up_names()
                raise

    def _check_open(self, task: str) -> None:
        if self._is_closed:
            message = f"task {task!r} comes too late: the folder is closed"
            raise ValueError(message)

    def _enter(self, *, is_fresh: bool) -> None:
        """Create or reopen the folder, and load the completed tasks."""
        with self._errors():
            is_new = not self._place.exists()
            self._place.enter()
            try:
                if is_fresh:
                    self._place.clear()
                self._done.load()
                if self._key is not None:
                    self._place.note(self._key)
                    self._remove_leftovers()
            except BaseException:
                # A folder without a key cannot be resumed.
                (self._place.remove if is_new else self._place.leave)()
                raise
        self._is_entered = True

    def _remove_leftovers(self) -> None:
        known = {KEY, LOG, LOCK, HOLDER, *self._done.files}
        for path in self.folder.iterdir():
            if path.name not in known and not path.is_dir():
                path.unlink(missing_ok=True)


# The resources of a job: a memory budget, and a folder for larger data.


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
        """Return a share of the memory, in bytes, at least one."""
        return max(1, int(self.memory * share))

    def fits(self, n_bytes: int, share: float) -> bool:
        """Return whether data of this size fit into a share of the memory."""
        return self.work is None or n_bytes <= self.share(share)

    def passes(self, n_bytes: int, share: float) -> int:
        """Return the number of passes over data of this size."""
        return 1 if self.work is None else -(-n_bytes // self.share(share)) or 1

    @contextmanager
    def passing_folder(self) -> Iterator[Path]:
        """Yield an empty folder as ``WorkFolder`` does; without one, a temporary folder."""
        with contextlib.ExitStack() as stack:
            work = self.work or stack.enter_context(WorkFolder.temporary())
            yield stack.enter_context(work.passing_folder())

    def require_disk(self, n_bytes: int) -> None:
        """Check that the work folder's disk has space for more bytes."""
        if self.work is not None:
            self.work.require_disk(self.work.size_bytes + n_bytes)


IN_MEMORY = Workspace(0)
"""Workspace of jobs that keep all data in memory, whatever their size."""
