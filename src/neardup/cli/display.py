"""What the user sees while a job runs: progress on standard error, on a terminal only."""

from __future__ import annotations

import json
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import configuration
from neardup.errors import WriteError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_LABELS = {
    "read": "reading",
    "compare": "reading candidates",
    "choose": "comparing",
    "join": "joining",
    "count": "counting tokens",
    "windows": "hash functions",
    "search": "searching",
    "align": "aligning",
    "write": "writing",
}


class Display:
    """Shows a bar for each stage; silent with ``quiet`` or where standard error is no terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}
        if quiet or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self._bars = Progress(
            TextColumn("{task.description:<18}"),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Display:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def report(self, stage: str, done: int, total: int | None) -> None:
        """Take the progress of a pipeline."""
        if self._bars is None:
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(_LABELS.get(stage, stage), total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)


def say(text: str) -> None:
    """Print a result on standard output.

    Raises
    ------
    WriteError
        If it cannot take it; a reader that has gone is no error.
    """
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}; all else is done"
        raise WriteError(message) from None


def say_json(values: dict[str, Any]) -> None:
    """Print a result as JSON, with the options that were not on the command line."""
    say(json.dumps({**values, **configuration()}, ensure_ascii=False))


def announce_compilation(*, quiet: bool) -> None:
    """Tell the user before the first run of a version compiles its kernels."""
    from neardup.kernels._cache import cache_folder, kept_kernels

    if quiet or kept_kernels():
        return
    folder = cache_folder()
    later = (
        "later runs start at once"
        if folder is not None
        else "the cache folder is not writable, so every run will (set NEARDUP_CACHE_DIR)"
    )
    click.echo(f"compiling neardup's kernels, 15 to 40 seconds; {later}", err=True)
