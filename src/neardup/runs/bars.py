"""Progress bars by rich, one per stage."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID
from rich.text import Text

from neardup.runs.progress import StageProgress

_STEPS = 1000


class Bars:
    """Show a bar per stage, with its amount and remaining time.

    Parameters
    ----------
    in_notebook
        Whether the bars are in a notebook's cell instead of a terminal.
    """

    def __init__(self, *, in_notebook: bool) -> None:
        console = Console(force_jupyter=True) if in_notebook else Console(stderr=True)
        self._progress = Progress(
            _Words(lambda stage: f"{stage.label:<18}"),
            BarColumn(),
            _Words(lambda stage: f"{stage.amount():>14}"),
            _Words(lambda stage: stage.time(time.monotonic())),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    def start(self) -> None:
        """Start drawing."""
        self._progress.start()

    def update(self, stage: StageProgress) -> None:
        """Draw the progress of a stage."""
        share = stage.share
        total = None if share is None else _STEPS
        completed = int((share or 0) * _STEPS)
        if stage.name in self._tasks:
            self._progress.update(self._tasks[stage.name], completed=completed, total=total)
            return
        self._tasks[stage.name] = self._progress.add_task(
            stage.label, total=total, completed=completed, stage=stage
        )

    def stop(self) -> None:
        """Stop drawing, and leave the bars on the screen."""
        self._progress.stop()


class _Words(ProgressColumn):
    """Words about a stage, formatted when they are drawn."""

    def __init__(self, say: Callable[[StageProgress], str]) -> None:
        super().__init__()
        self._say = say

    def render(self, task: Task) -> Text:
        return Text(self._say(task.fields["stage"]))
