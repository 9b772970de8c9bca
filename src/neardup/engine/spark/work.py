"""What executors have worked out, kept at a folder or URL by which the same command goes on.

    .NAME.neardup-work-DIGEST/
      key.json                  what it is for, as of the work folders of threads
      layout.json               how many tasks ran at the same time when it was begun
      STAGE.CALL.TASK-of-N      what a task of a stage gives, once that is complete
      write.lock, or holder     one driver at a time

Drivers hear of the tasks of a stage when all of them are done, so there is no log of them. Each is
a file by itself, with a temporary name until it is complete; it ends with the checksum of all of
it, of what the folder is for and of which task it is. What another attempt has begun, what belongs
to another run and what is damaged counts as not there, and is done again.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import secrets
import struct
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from neardup.engine.workspaces import open_workspace
from neardup.errors import WriteError
from neardup.files.locations import read_marker
from neardup.files.remote import has_folders, open_system, to_its_end, writing_to
from neardup.outputs.remote import new_remote_file
from neardup.outputs.targets import Target, Url
from neardup.runs.disk import note_unfinished, say_holder, this_holder
from neardup.runs.progress import job_logger
from neardup.runs.tasks import KEY, WorkPlace, folder_name, is_of_name
from neardup.runs.work import LastingWork, Workspace, digest_of, work_errors
from neardup.version import __version__

_log = job_logger(__name__)

# What a task gives, as it is kept: its rows, pickled one after the other, how many they are, and
# the checksum of all.
_END = struct.Struct(">QI")
_BLOCK = 4 << 20
# As much of it is read into memory, and more into a file of the executor.
_IN_MEMORY = 64 << 20
_TASK = re.compile(r"([a-z-]+)\.(\d+)\.\d+-of-(\d+)")


@dataclass(frozen=True)
class KeptStage:
    """A stage of which each task is kept; made by ``SharedWork.stage``, and sent to executors.

    Parameters
    ----------
    location
        Folder or URL.
    name
        Of the stage, for no two of a run the same.
    n_tasks
        Of the stage.
    purpose
        What all that is kept follows from, as a string.
    """

    location: str
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
        """Yield what the function makes of the rows of a task, or what has been kept of that.

        The last row is ``LAST``. A task that tells of a failure is not kept.
        """
        name = f"{self.name}.{task}-of-{self.n_tasks}"
        with tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=local_folder()) as kept:
            n_rows = self._copy(name, kept)
            if n_rows is not None:
                kept.seek(0)
                for _ in range(n_rows):
                    yield pickle.load(kept)
                # Spark ends a worker that leaves rows, and begins another.
                for _ in rows:
                    pass
                return
        given = WholeRows(rows)
        made = function(given)
        try:
            yield from self._keep(name, made, is_failure, given)
        except _FailedError as failed:
            yield failed.args[0]
            yield from made

    def _keep(
        self, name: str, made: Iterator[Any], is_failure: Callable[[Any], bool], given: WholeRows
    ) -> Iterator[Any]:
        """Yield rows, which are there under the name when all have been taken."""
        self._check_seen()
        n_rows = 0
        with new_remote_file(Url(f"{self.location}/{name}")) as place, place.create() as file:
            checked = _Checked(file, self._start(name))
            for row in made:
                if is_failure(row):
                    raise _FailedError(row)
                pickle.dump(row, cast("BinaryIO", checked), pickle.HIGHEST_PROTOCOL)
                n_rows += 1
                yield row
            given.take_rest()
            file.write(_END.pack(n_rows, zlib.crc32(b"%d" % n_rows, checked.checksum)))

    def _copy(self, name: str, copy: IO[bytes]) -> int | None:
        """Copy what is kept of a task, and return how many rows it has; None if it is not there.

        No row is taken before all has been read, for it may be damaged anywhere.
        """
        url = f"{self.location}/{name}"
        system, path = open_system(url)
        checksum, end = self._start(name), b""
        try:
            with system.open(path, "rb") as file:
                while block := file.read(_BLOCK):
                    data = end + block
                    data, end = data[: -_END.size], data[-_END.size :]
                    checksum = zlib.crc32(data, checksum)
                    copy.write(data)
            n_rows, expected = _END.unpack(end)
            if zlib.crc32(b"%d" % n_rows, checksum) != expected:
                message = "its checksum is another"
                raise ValueError(message)
        except FileNotFoundError:
            return None
        except Exception as error:
            # Of whatever kind it is.
            _log.warning("%s is damaged, and done again: %r", url, error)
            with contextlib.suppress(Exception):
                # Not all systems replace a file by a new one of its name.
                system.rm_file(path)
            return None
        return int(n_rows)

    def _start(self, name: str) -> int:
        return zlib.crc32(f"{self.purpose} {name}".encode())

    def _check_seen(self) -> None:
        """Raise if this is not where the driver has begun."""
        system, path = open_system(self.location)
        with writing_to(self.location):
            is_seen = system.exists(f"{path}/{KEY}")
        if not is_seen:
            message = (
                f"the executors do not see {self.location}, where the driver has begun the work, "
                "or it was removed; choose a folder that all of them share, or a URL"
            )
            raise WriteError(message)


class _FailedError(Exception):
    """A task has told of a failure."""


class _Checked:
    """Writes to a file, and takes the checksum of what it has written."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file, self.checksum = file, start

    def write(self, data: bytes | memoryview) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


# What a task is given, to its end.

LAST = "the last row of a task"
"""What stands behind the rows of a task whose work lasts."""


class WholeRows(Iterator[Any]):
    """The rows that a task is given, up to the last; an error where they end before.

    Where executors are lost, or what they had, Spark lets rows end early, and gives up what the
    task has made of them. What lasts must not be made of them.
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
            # Spark ends a worker that does not see that nothing follows, and begins another.
            row = next(self._rows)
        return row

    def take_rest(self) -> None:
        """Take the rows that nobody has wanted."""
        for _ in self:
            pass


class _LostRowsError(Exception):
    """Rows have ended early. No error of neardup, of which tasks tell the driver."""


def local_folder() -> str | None:
    """Return where Spark has a task put files of its own; None where the system has them."""
    given = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return given if given and Path(given).is_dir() else None


# The driver's side.


class SharedWork(LastingWork):
    """What the tasks of executors have made; made by ``open``, and there from then on.

    Used by one thread, that of the driver.
    """

    _place: WorkPlace | _UrlPlace

    @classmethod
    def open(
        cls, parent: Target, name: str, key: Mapping[str, Any], *, fresh: bool = False
    ) -> SharedWork:
        """Return the work for a key, with what an earlier run has done.

        Parameters
        ----------
        parent
            Folder in which it lies, or its URL; the executors reach it under that name.
        name
            Name of the run, such as that of its output.
        key
            All that the work depends on, as ``workspaces.key_of`` says.
        fresh
            Do everything again.
        """
        if isinstance(parent, Path):
            with work_errors(parent, is_lasting=False):
                return cls(WorkPlace(parent.absolute(), name, digest_of(key)), key, fresh=fresh)
        return cls(_UrlPlace(parent, name, digest_of(key)), key, fresh=fresh)

    def __init__(
        self, place: WorkPlace | _UrlPlace, key: Mapping[str, Any], *, fresh: bool
    ) -> None:
        super().__init__(place, key)
        self.location = str(place.path)
        self._purpose = digest_of(key)
        self._calls: Counter[str] = Counter()
        self._slots = 0
        self._system, self._path = open_system(self.location)
        is_new = not place.exists()
        place.enter()
        try:
            if fresh:
                place.clear()
            place.note(key)
            self._remove_leftovers()
            self._done = self._find_tasks()
        except BaseException:
            (place.remove if is_new else place.leave)()
            raise
        self._is_closed = False

    def workspace_of_driver(self, memory: int | str | None, output: Target) -> Workspace:
        """Return what the driver may use, for what goes with it: here, or beside the output."""
        if isinstance(self._place, WorkPlace):
            return open_workspace(memory, self._place.path)
        return open_workspace(memory, None, output=output)

    @property
    def n_done(self) -> int:
        """How many tasks an earlier run has done."""
        return len(self._done)

    @property
    def said_done(self) -> str:
        """How many tasks are done of how many, stage by stage, as users are told."""
        done, of = Counter(stage for stage, *_ in self._done), Counter[str]()
        for stage, _, n_tasks in set(self._done):
            of[stage] += n_tasks
        # By their names, for reading comes first then.
        stages = sorted(done, reverse=True)
        parts = [f"{done[stage]:,} of {of[stage]:,} tasks of {stage}" for stage in stages]
        return f"{' and '.join(parts)} are done"

    @property
    def problems(self) -> list[str]:
        """Nothing: executors log what they do again."""
        return []

    def lay_out(self, slots: int) -> int:
        """Lay the work out for so many tasks at the same time, or as it has been; return that.

        Whoever goes on has the same tasks then, on however many executors.
        """
        layout = f"{self._path}/layout.json"
        if self._done:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                self._slots = int(json.loads(self._system.cat_file(layout))["slots"])
                return self._slots
        with writing_to(self.location):
            self._system.pipe_file(layout, json.dumps({"slots": slots}).encode())
        self._slots = slots
        return slots

    def stage(self, name: str, n_tasks: int, follows: Sequence[object]) -> KeptStage:
        """Return a stage of what was laid out, whose tasks are kept.

        Parameters
        ----------
        name
            What users call it; several of a run may have the same one.
        n_tasks
            How many they are.
        follows
            What their rows follow from, beside the key, the slots, and what came before; as JSON.
        """
        if isinstance(self._place, _UrlPlace):
            self._place.check_holder()
        self._calls[name] += 1
        purpose = f"{self._purpose} {self._slots} {json.dumps(follows)}"
        return KeptStage(self.location, f"{name}.{self._calls[name]}", n_tasks, purpose)

    def close(self) -> None:
        """End the work here, and keep what is done."""
        if self._is_closed:
            return
        with contextlib.suppress(Exception):
            self._done = self._find_tasks()
        if not self._done:
            self.remove()
            return
        self._is_closed = True
        self._place.leave()
        note_unfinished(self._place.path)

    def remove(self) -> None:
        """Remove all of it: the run is finished."""
        if not self._is_closed:
            self._is_closed = True
            self._place.remove()

    def _find_tasks(self) -> list[tuple[str, str, int]]:
        """Return of each task that is done its stage, the call of that, and how many it has."""
        found = map(_TASK.fullmatch, self._names())
        return [(each[1], each[2], int(each[3])) for each in found if each]

    def _remove_leftovers(self) -> None:
        """Remove what attempts have begun that died on the way."""
        for name in self._names():
            if name.startswith(".") and _TASK.match(name[1:]):
                with contextlib.suppress(Exception):
                    self._system.rm_file(f"{self._path}/{name}")

    def _names(self) -> list[str]:
        with writing_to(self.location):
            self._system.invalidate_cache(self._path)
            return sorted(
                path.rpartition("/")[2] for path in self._system.ls(self._path, detail=False)
            )


# Who is at work at a URL.
_HOLDER = "holder"


class _UrlPlace:
    """A folder at a URL that one run at a time takes, as ``WorkPlace`` is one of this machine.

    Nothing there is locked: whoever comes later takes it over, for a killed run cannot be told from
    one on another machine, and the earlier one ends at its next stage.
    """

    def __init__(self, parent: Url, name: str, digest: str) -> None:
        self._parent, self._name = parent, name
        self.path = Url(f"{parent}/{folder_name(name, digest)}")
        self._system, self._path = open_system(self.path)
        self._token = secrets.token_hex(8)

    def exists(self) -> bool:
        """Return whether a run has been here."""
        return read_marker(self._system, self._path, KEY) is not None

    def enter(self) -> None:
        """Take it, from whoever has it."""
        with writing_to(self.path):
            if has_folders(self._path):
                self._system.makedirs(self._path, exist_ok=True)
            self._put(_HOLDER, this_holder() | {"run": self._token})

    def check_holder(self) -> None:
        """Raise if another run has taken it."""
        with writing_to(self.path):
            is_ours = self._is_ours()
        if not is_ours:
            message = (
                f"{self.path} has been taken over by another run of the same command, which goes on"
            )
            raise WriteError(message)

    def note(self, key: Mapping[str, Any]) -> None:
        """Store what the folder is for."""
        with writing_to(self.path):
            self._put(KEY, {"key": key})

    def clear(self) -> None:
        """Remove all but who is at work."""
        with writing_to(self.path):
            for path in self._system.find(self._path):
                if path.rpartition("/")[2] != _HOLDER:
                    self._system.rm_file(path)

    def leave(self) -> None:
        """Let others take it."""
        with contextlib.suppress(Exception):
            if self._is_ours():
                self._system.rm_file(f"{self._path}/{_HOLDER}")

    def remove(self) -> None:
        """Remove the folder, as far as that is possible."""
        with contextlib.suppress(Exception):
            if self._is_ours():
                self._system.rm(self._path, recursive=True)

    def others(self) -> list[str]:
        """Return the work folders of the same name that are for something else."""
        with contextlib.suppress(Exception):
            parent = self._path.rpartition("/")[0]
            self._system.invalidate_cache(parent)
            names = (
                path.rstrip("/").rpartition("/")[2]
                for path in self._system.ls(parent, detail=False)
            )
            return sorted(
                f"{self._parent}/{name}"
                for name in names
                if is_of_name(name, self._name) and name != self.path.name
            )
        return []

    def remove_others(self, paths: Collection[Path | str] | None = None) -> list[str]:
        """Remove those at which nobody is known to be at work, or some of them; return them."""
        removed = []
        for url in self.others():
            if paths is not None and url not in paths:
                continue
            with contextlib.suppress(Exception):
                path = open_system(url)[1]
                if say_holder(read_marker(self._system, path, _HOLDER)) is None:
                    self._system.rm(path, recursive=True)
                    removed.append(url)
        return removed

    def key_of(self, other: Path | str) -> dict[str, Any] | None:
        """Return what a folder is for; None if that cannot be found out."""
        with contextlib.suppress(Exception):
            content = read_marker(self._system, open_system(str(other))[1], KEY)
            return None if content is None else content["key"]
        return None

    def _is_ours(self) -> bool:
        self._system.invalidate_cache(self._path)
        return (read_marker(self._system, self._path, _HOLDER) or {}).get("run") == self._token

    def _put(self, name: str, content: dict[str, Any]) -> None:
        data = json.dumps({"neardup": __version__, **content}, indent=1).encode()
        to_its_end(lambda: self._system.pipe_file(f"{self._path}/{name}", data))
