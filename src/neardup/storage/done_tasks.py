"""The tasks of a work folder that are done: what they made, and whether that is still there.

A process that goes on with the folder compares the sizes of all files at once, and reads the files
of a task when it is first asked for. What is damaged counts as not done, and so does all that came
after it.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neardup.errors import ReadError
from neardup.storage.checksums import FileRecord, record_of_file
from neardup.storage.task_files import file_of
from neardup.storage.task_log import TaskLog, TaskRecord
from neardup.storage.work_place import LOG

_log = logging.getLogger(__name__)


class DoneTasks:
    """The tasks that are done. Callers let one thread in at a time.

    Parameters
    ----------
    folder
        The work folder.
    purpose
        What it is for, as a string; None if no later process goes on with it, and nothing is
        logged.

    Attributes
    ----------
    problems
        What was found damaged: a line each.
    """

    def __init__(self, folder: Path, purpose: str | None) -> None:
        self.problems: list[str] = []
        self._folder = folder
        self._task_log = None if purpose is None else TaskLog(folder / LOG, purpose)
        self._records: dict[str, TaskRecord] = {}
        # Of an earlier process, in order; files of the latter are still to be read.
        self._loaded: list[str] = []
        self._unread: dict[str, None] = {}
        self._dropped: set[str] = set()

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, task: str) -> bool:
        """Return whether a task is done, and its files are what they were."""
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
        """Names of all files that belong to the tasks, with what they must be."""
        return {
            file_of(self._folder, task, name).name: file
            for task, record in self._records.items()
            if not record.is_discarded
            for name, file in record.files.items()
        }

    def load(self) -> None:
        """Take over the tasks of an earlier process whose files have their sizes.

        Raises
        ------
        OSError
            If the log cannot be read or written.
        """
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
        """Add a task, whose files are on the disk; or replace what is known of it.

        Raises
        ------
        OSError
            If the log cannot be written; then it is not added.
        """
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
        """Return whether a task is listed as done, without a look at its files."""
        return task in self._records

    def path(self, task: str, file_name: str) -> Path:
        """Return where a file of a task lies.

        Raises
        ------
        ReadError
            If it is not what the task has made.
        """
        record = self[task]
        path = file_of(self._folder, task, file_name)
        if record.is_discarded or _size_of(path) != record.files[file_name].size:
            message = "this file of an unfinished run is damaged, or gone; run the command again"
            raise ReadError(message, path=str(path))
        return path

    def discard(self, task: str) -> None:
        """Remove the files of a task, which stays done.

        Raises
        ------
        OSError
            If that cannot be logged, or they cannot be removed.
        """
        self._read_all()
        record = self[task]
        self.add(dataclasses.replace(record, is_discarded=True))
        for name in record.files:
            file_of(self._folder, task, name).unlink(missing_ok=True)

    def _read_all(self) -> None:
        """Read all files: a task stays done without its own only if all others are intact."""
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
        """Let a task of an earlier process count as not done, and all that came after it.

        So do those whose files were removed because others were done, which may be dropped here.
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
