"""The files of one task of a work folder, under temporary names until the task is done."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

from neardup.storage.checksums import FileRecord, record_of_file
from neardup.storage.files import NewFile

# Without a dot, so that the first one in the name of a file ends that of its task.
_TASK = re.compile(r"[A-Za-z0-9_-]{1,80}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")


def file_of(folder: Path, task: str, file_name: str) -> Path:
    """Return where a file of a task that is done lies."""
    return folder / f"{task}.{file_name}"


class TaskFiles:
    """What a task that is under way makes: files, and a result.

    Parameters
    ----------
    folder
        Where its files go.
    task
        Its name.
    token
        Part of the temporary names, for no two processes the same.
    is_lasting
        The files are to survive a crash of the machine, and have their checksums taken.

    Attributes
    ----------
    result
        What is stored with the task: JSON, and small.
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
        """Return a temporary path, where the caller writes a file of that name."""
        path = self._part_of(file_name)
        self._files[file_name] = path
        return path

    def new_file(self, file_name: str) -> NewFile:
        """Make a file of that name, to which the caller appends.

        It is read no second time for its checksum, and is open only while it is written to.
        """
        file = NewFile(self._part_of(file_name))
        self._files[file_name] = file
        return file

    def finish(self) -> dict[str, FileRecord]:
        """See that all bytes are on the disk; return what each file must be from now on."""
        return {name: self._finish(file) for name, file in self._files.items()}

    def take_names(self) -> None:
        """Give all files the names that they keep."""
        for name in self._files:
            self._part_of(name).replace(file_of(self._folder, self._task, name))

    def give_up_names(self) -> None:
        """Remove the files that have the names that they were to keep; no other task has them."""
        for name in self._files:
            with contextlib.suppress(OSError):
                file_of(self._folder, self._task, name).unlink()

    def remove_parts(self) -> None:
        """Remove the files that have temporary names."""
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
