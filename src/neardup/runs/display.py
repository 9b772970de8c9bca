"""Progress for users: bars on a terminal and in a notebook, else occasional lines."""

from __future__ import annotations

import contextlib
import sys
import time
from _thread import start_new_thread
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Protocol

from neardup.runs.progress import StageProgress

# Seconds between two lines: logs should stay short, a notebook has a waiting reader.
_BETWEEN_LINES, _IN_A_NOTEBOOK = 60.0, 10.0


class View(Protocol):
    """Interface of progress views."""

    def start(self) -> None:
        """Start the view."""

    def update(self, stage: StageProgress) -> None:
        """Show the progress of a stage."""

    def stop(self) -> None:
        """Stop, and leave the last state visible."""


class Display:
    """Shows the progress of a job on standard error while its ``with`` block runs.

    Parameters
    ----------
    quiet
        Show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._view: View | None = None
        self._stages: dict[str, StageProgress] = {}

    def __enter__(self) -> Display:
        self._view = None if self._quiet else _choose_view()
        if self._view is not None:
            self._view.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._view is not None:
            self._view.stop()
            self._view = None

    def begin(self, stage: str) -> None:
        """Show that a stage has started."""
        if self._view is not None:
            self._view.update(self._stage(stage))

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show the progress of a stage."""
        if self._view is not None:
            shown = self._stage(stage)
            shown.update(done, total, time.monotonic())
            self._view.update(shown)

    def end(self, stage: str) -> None:
        """Show that a stage has ended."""
        if self._view is not None:
            shown = self._stage(stage)
            shown.end(time.monotonic())
            self._view.update(shown)

    def _stage(self, name: str) -> StageProgress:
        if name not in self._stages:
            self._stages[name] = StageProgress(name, time.monotonic())
        return self._stages[name]


class Lines:
    """Write a line about the current stage at fixed intervals."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._latest: StageProgress | None = None
        # A queue in C survives interrupts, as for worker threads.
        self._end: SimpleQueue[None] = SimpleQueue()
        self._writing = Lock()

    def start(self) -> None:
        """Start the interval."""
        self._writing.acquire()
        start_new_thread(self._write, ())

    def update(self, stage: StageProgress) -> None:
        """Set the stage of the next line."""
        self._latest = stage

    def stop(self) -> None:
        """Write no more lines."""
        self._end.put(None)
        with self._writing:
            pass

    def _write(self) -> None:
        try:
            while not self._is_over():
                latest = self._latest
                if latest is not None and latest.ended is None:
                    # An unwritable log must not end the job.
                    with contextlib.suppress(OSError, ValueError):
                        sys.stderr.write(latest.line(time.monotonic()) + "\n")
                        sys.stderr.flush()
        finally:
            self._writing.release()

    def _is_over(self) -> bool:
        """Wait until the next line is due, or until the end."""
        try:
            self._end.get(timeout=self._seconds)
        except Empty:
            return False
        return True


def _choose_view() -> View | None:
    """Choose what standard error can show; nothing where there is none."""
    if _is_notebook():
        # Without widgets the output of a cell cannot be changed.
        return _bars(in_notebook=True) if find_spec("ipywidgets") else Lines(_IN_A_NOTEBOOK)
    if sys.stderr is None:
        return None
    return _bars(in_notebook=False) if sys.stderr.isatty() else Lines(_BETWEEN_LINES)


def _bars(*, in_notebook: bool) -> View:
    # Rich takes 50 ms to load.
    from neardup.runs.bars import Bars

    return Bars(in_notebook=in_notebook)


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
