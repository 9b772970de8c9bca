"""What may happen to a task: it dies, alone or with its executor, or its rows come in any order.

Stages are replaced by these, around the stage itself; executors find them by name.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

# Functions of the engine that tasks run, in the order of the stages.
STAGES = (
    "engine.spark.read._read",
    "engine.spark.engine._send_keys",
    "engine.spark.engine._group_by_keys",
    "engine.spark.engine._send_picked",
    "engine.spark.engine._send_texts",
    "engine.spark.engine._work_on_partition",
    "engine.spark.read._write",
)


def replace_stage(
    monkeypatch: Any, stage: str, wrapper: Callable[..., Any], *arguments: Any
) -> None:
    """Put a wrapper, with some arguments, around a stage."""
    monkeypatch.setattr(f"neardup.{stage}", partial(wrapper, stage, *arguments))


def _found(stage: str) -> Callable[..., Iterator[Any]]:
    """Return a stage as executors have it, where nothing is replaced."""
    module, _, name = stage.rpartition(".")
    function: Callable[..., Iterator[Any]] = getattr(import_module(f"neardup.{module}"), name)
    return function


def dies_once(stage: str, marks: str, victim: str, *arguments: Any) -> Iterator[Any]:
    """Kill the worker, or its executor, after the first rows of one task, and only then."""
    for number, row in enumerate(_found(stage)(*arguments)):
        yield row
        if number == 0 and _is_first(marks):
            _kill(victim)
    # Stages without rows die as well.
    if _is_first(marks):
        _kill(victim)


def shuffled(stage: str, seed: int, *arguments: Any) -> Iterator[Any]:
    """Hand the rows of a partition over in another order."""
    *others, rows = arguments
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return _found(stage)(*others, iter(rows))


def shuffled_behind_first(stage: str, seed: int, *arguments: Any) -> Iterator[Any]:
    """Hand the rows over in another order, but for what the driver has put in front."""
    *others, rows = arguments
    first, *behind = rows
    random.Random(seed).shuffle(behind)
    return _found(stage)(*others, iter([first, *behind]))


def not_again(stage: str, *_: Any) -> Iterator[Any]:
    """Do nothing of a stage: it has been done."""
    message = f"{stage} is done again"
    raise AssertionError(message)


def _is_first(marks: str) -> bool:
    try:
        Path(marks).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _kill(victim: str) -> None:
    if victim == "worker":
        os.kill(os.getpid(), signal.SIGKILL)
    # Workers are children of a process that is a child of the executor.
    executor = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(executor, signal.SIGKILL)
