"""Processes of their own for work that has to end in time, whatever it is doing.

A kernel that compares repetitive texts looks at nothing else for minutes, and a thread cannot be
ended. A process can, and takes its memory and its files with it. Where the system allows it,
processes are forked off a server that has loaded all kernels (``loaded``), so that another one
costs hundredths of a second and little memory.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar, cast

from neardup.errors import NeardupError, NeardupHint
from neardup.service.lanes import Deadline
from neardup.service.problems import Problem, out_of_time

T = TypeVar("T")

_MAY_FORK = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT: Any = multiprocessing.get_context("forkserver" if _MAY_FORK else "spawn")


class WorkError(Exception):
    """What went wrong elsewhere and should not have: the class of the error, and its places."""

    def __init__(self, kind: str, places: list[str]) -> None:
        super().__init__(kind, places)
        self.kind, self.places = kind, places


class Processes:
    """Processes that work for threads, one for each thread that asks for one at a time."""

    def __init__(self) -> None:
        self._idle: deque[_Process] = deque()
        self._all: set[_Process] = set()
        self._is_closed = False
        atexit.register(self.close)

    def run(self, work: Callable[[], T], deadline: Deadline, *, most_bytes: int | None = None) -> T:
        """Have a process do some work, and return what it returns; both are pickled.

        At the deadline the process is ended, and so it is if it asks for more memory than
        ``most_bytes`` on top of what it has at the beginning (where the system can tell).
        """
        process = self._take()
        try:
            outcome = process.ask((work, most_bytes), deadline)
        except BaseException:
            # Interrupted, it may still be at work.
            self._end(process)
            raise
        if isinstance(outcome[1], MemoryError):
            # What it did may be half done.
            self._end(process)
            message = "the work needs more memory than it may have; ask for less at a time"
            raise Problem(413, message, "InvalidInputError")
        self._idle.append(process)
        value, error = outcome
        if error is not None:
            raise error
        return cast("T", value)

    def start(self) -> None:
        """Have a process ready, and with it what the others are forked off."""
        self._idle.append(self._take())

    def close(self) -> None:
        """End all processes, whatever they do."""
        self._is_closed = True
        atexit.unregister(self.close)
        for process in self._all.copy():
            self._end(process)

    def _take(self) -> _Process:
        """Return the process that was used last of the idle ones, or a new one."""
        while self._idle:
            try:
                process = self._idle.pop()
            except IndexError:
                break
            if process.is_alive:
                return process
            self._end(process)
        process = _Process()
        self._all.add(process)
        if self._is_closed:
            self._end(process)
            raise WorkError("closed", [])
        return process

    def _end(self, process: _Process) -> None:
        self._all.discard(process)
        with contextlib.suppress(ValueError):
            self._idle.remove(process)
        process.end()


class _Process:
    """A process, and the end of a pipe to it."""

    def __init__(self) -> None:
        # All that it writes goes with it.
        self._folder = tempfile.mkdtemp(prefix="neardup-")
        if _MAY_FORK:
            _CONTEXT.set_forkserver_preload(["neardup.service.loaded"])
        self._connection, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(other, self._folder), daemon=True)
        self._process.start()
        other.close()

    @property
    def is_alive(self) -> bool:
        """Whether it waits for work; one that somebody has ended does not."""
        # There is nothing to read but the end.
        return not self._connection.poll(0)

    def ask(self, request: Any, deadline: Deadline) -> Any:
        """Send some work, and return what becomes of it."""
        try:
            self._connection.send(request)
            if not self._connection.poll(deadline.left):
                raise out_of_time(deadline.seconds)
            return self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join(1)
            code = self._process.exitcode
            raise WorkError(f"a process that ended with {code}", []) from None

    def end(self) -> None:
        """End it at once; what it has written is deleted."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _work(connection: Connection, folder: str) -> None:
    """Do what comes over a pipe until it is closed, and end with the process that began this."""
    # These are sent to all processes of a terminal or of a service; the parent decides.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    silence_hints()
    tempfile.tempdir = folder
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel, folder), daemon=True).start()
    while True:
        try:
            request = connection.recv_bytes()
        except EOFError:
            return
        try:
            work, most_bytes = pickle.loads(request)
            _limit_memory(most_bytes)
            answer = pickle.dumps((work(), None))
        except NeardupError as error:
            answer = pickle.dumps((None, error))
        except MemoryError:
            answer = pickle.dumps((None, MemoryError()))
        except Exception as error:
            answer = pickle.dumps((None, WorkError(type(error).__name__, places_of(error))))
        connection.send_bytes(answer)


def silence_hints() -> None:
    """Keep hints off standard error, which is for lines of JSON; summaries of answers have them."""
    warnings.simplefilter("ignore", NeardupHint)


def places_of(error: BaseException) -> list[str]:
    """Return where an error arose, from the outermost call on."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno}" for frame in frames]


def _end_with(sentinel: Any, folder: str) -> None:
    """End this process when another one has ended, though a kernel may be at work."""
    wait([sentinel])
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit_memory(most_bytes: int | None) -> None:
    """Allow so much memory on top of what there is; files that are mapped do not count."""
    if sys.platform != "linux":
        return
    import resource

    soft = hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if most_bytes is not None:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        (line,) = [line for line in lines if line.startswith("VmData:")]
        soft = int(line.split()[1]) * 1024 + most_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
