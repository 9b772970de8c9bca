"""Results of executors in a shared folder, for resuming.

A work folder of the driver records how many tasks run at the same time, and has a folder of files:

    tasks/STAGE.CALL.TASK-of-N      complete result of a task of a stage

The driver learns of the tasks of a stage only when all are done, so there is no log. Each task is a
separate file with a temporary name until it is complete. It ends with a checksum over its content,
the folder's key and the task. Partial files, files of another run and damaged files count as
missing, and the task is repeated.
"""

from __future__ import annotations

import json
import os
import pickle
import secrets
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from typing import Any

from neardup.errors import WriteError
from neardup.runs.disk import work_errors
from neardup.runs.work import WorkFolder, WorkPlace, digest_of

_log = getLogger(__name__)

# Trailer of a stored task result: number of pickled rows before it, and the checksum of all.
_END = struct.Struct(">QI")
_BLOCK = 4 << 20
_TASKS = "tasks"


@dataclass(frozen=True)
class KeptStage:
    """A stage of unique name; ``purpose`` spells all inputs of stored results."""

    folder: Path
    name: str
    n_tasks: int
    purpose: str

    def rows(
        self,
        function: Callable[[Iterator[Any]], Iterator[Any]],
        is_failure: Callable[[Any], bool],
        task: int,
        rows: Iterator[Any],
    ) -> Iterator[Any]:
        """Yield a task's stored rows, or else the function's.

        The last row is ``LAST``. A task with a failure is not stored.
        """
        name = f"{self.name}.{task}-of-{self.n_tasks}"
        n_rows = self._count_stored(name)
        if n_rows is not None:
            with (self.folder / name).open("rb") as file:
                for _ in range(n_rows):
                    yield pickle.load(file)
            # Spark ends a worker that leaves rows, and starts another.
            for _ in rows:
                pass
            return
        if not self.folder.is_dir():
            message = (
                f"the executors do not see {self.folder}, where the driver has begun the work, or "
                "it was removed; choose a folder that all of them share"
            )
            raise WriteError(message)
        yield from self._keep(name, function, is_failure, WholeRows(rows))

    def _keep(
        self,
        name: str,
        function: Callable[[Iterator[Any]], Iterator[Any]],
        is_failure: Callable[[Any], bool],
        rows: WholeRows,
    ) -> Iterator[Any]:
        # Another attempt at the same task may be running.
        part = self.folder / f".{name}.{secrets.token_hex(4)}"
        n_rows, checksum, is_whole = 0, self._start(name), True
        try:
            with work_errors(self.folder, is_lasting=True, is_foreign=True):
                with part.open("xb") as file:
                    for row in function(rows):
                        is_whole = is_whole and not is_failure(row)
                        if is_whole:
                            data = pickle.dumps(row, pickle.HIGHEST_PROTOCOL)
                            checksum = zlib.crc32(data, checksum)
                            file.write(data)
                            n_rows += 1
                        yield row
                    if not is_whole:
                        return
                    rows.take_rest()
                    file.write(_END.pack(n_rows, zlib.crc32(b"%d" % n_rows, checksum)))
                part.replace(self.folder / name)
        finally:
            part.unlink(missing_ok=True)

    def _count_stored(self, name: str) -> int | None:
        """Check a task's stored rows, and return their number or None."""
        path = self.folder / name
        checksum, end = self._start(name), b""
        try:
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    data = end + block
                    data, end = data[: -_END.size], data[-_END.size :]
                    checksum = zlib.crc32(data, checksum)
            n_rows, expected = _END.unpack(end)
            if zlib.crc32(b"%d" % n_rows, checksum) != expected:
                message = "its checksum is another"
                raise ValueError(message)
        except FileNotFoundError:
            return None
        except Exception as error:
            # Any error means damage.
            _log.warning("%s is damaged, and done again: %r", path, error)
            return None
        return int(n_rows)

    def _start(self, name: str) -> int:
        return zlib.crc32(f"{self.purpose} {name}".encode())


LAST = "the last row of a task"
"""Row after the rows of a task with lasting effects."""


class WholeRows(Iterator[Any]):
    """A task's rows, with an error if they end early.

    When Spark loses executors or their data, it ends the rows early and discards the task's result.
    Lasting effects must not come from truncated rows.
    """

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows, self._is_at_end = rows, False

    def __next__(self) -> Any:
        if self._is_at_end:
            raise StopIteration
        row = next(self._rows, None)
        if row is None:
            message = "executors were lost that had rows of this task"
            raise _LostRowsError(message)
        if isinstance(row, str) and row == LAST:
            self._is_at_end = True
            # Spark ends a worker that does not read to the end, and starts another.
            row = next(self._rows)
        return row

    def take_rest(self) -> None:
        """Read the remaining rows up to the end."""
        for _ in self:
            pass


class _LostRowsError(Exception):
    """An early end of rows, not a ``NeardupError``, which tasks return."""


def local_folder() -> str | None:
    """Return Spark's folder for a task, None for the default."""
    given = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return given if given and Path(given).is_dir() else None


class SharedWork(WorkFolder):
    """A work folder of all executors, with their results."""

    def __init__(self, place: WorkPlace, key: Mapping[str, Any] | None) -> None:
        super().__init__(place, key)
        self._calls: Counter[str] = Counter()
        self._slots = 0

    @property
    def n_done(self) -> int:
        """Number of completed tasks of executors."""
        return sum(1 for path in (self.folder / _TASKS).glob("[!.]*"))

    def lay_out(self, slots: int) -> int:
        """Return the number of parallel tasks, or a resumed run's."""
        if not self.is_done("slots"):
            with self.task("slots") as files:
                files.result = slots
        with work_errors(self.folder, is_lasting=True):
            (self.folder / _TASKS).mkdir(exist_ok=True)
        self._slots = int(self.result("slots"))
        return self._slots

    def stage(self, name: str, n_tasks: int, follows: Sequence[object]) -> KeptStage:
        """Return a stage whose task results are stored.

        Several stages may share a ``name`` for users. ``follows`` are inputs of its rows besides
        the key, the slots and earlier stages; as JSON.
        """
        assert self.key is not None
        self._calls[name] += 1
        purpose = f"{digest_of(self.key)} {self._slots} {json.dumps(follows)}"
        return KeptStage(self.folder / _TASKS, f"{name}.{self._calls[name]}", n_tasks, purpose)

    def close(self) -> None:
        """Close the work, and keep it if tasks are done."""
        super().close() if self.n_done else self.remove()
