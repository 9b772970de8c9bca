"""A run of some tasks in a work folder, which may be stopped and go on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.runs.work import WorkFolder

KEY: dict[str, Any] = {
    "options": {"threshold": "0.8", "ngram": 5},
    "version": "1",
    "inputs": [{"path": "a.jsonl", "size": 10}, {"path": "b.jsonl", "size": 20}],
}
TASKS = tuple(f"task-{number}" for number in range(8))
MANY = tuple(f"task-{number}" for number in range(60))


def open_work(parent: Path, key: dict[str, Any] = KEY, **options: bool) -> WorkFolder:
    return WorkFolder.open(parent, "out", key, **options)


def content_of(task: str, file_name: str) -> bytes:
    """Return what a task writes: nothing, a little, or more than a head of an array."""
    return f"{task} {file_name}\n".encode() * ((len(file_name) + int(task[-1])) % 3 * 40)


def do(work: WorkFolder, task: str, result: object = None) -> None:
    with work.task(task) as files:
        files.new("rows.bin").write_bytes(content_of(task, "rows.bin"))
        files.new("keys").write_bytes(content_of(task, "keys"))
        files.result = result or {"task": task, "counts": [1, 2.5, None]}


def check(work: WorkFolder, task: str) -> None:
    """Hold a task that is said to be done to what it had made."""
    assert work.result(task) == {"task": task, "counts": [1, 2.5, None]}
    for name in ("rows.bin", "keys"):
        assert work.path(task, name).read_bytes() == content_of(task, name)


def run(parent: Path, tasks: Sequence[str] = TASKS, *, finishes: bool = True) -> int:
    """Do what is left of a run, and return how many tasks that were."""
    n_left = 0
    with open_work(parent) as work:
        for task in tasks:
            if not work.is_done(task):
                do(work, task)
                n_left += 1
                print(task, flush=True)  # noqa: T201
            check(work, task)
        if not finishes:
            work.close()
    return n_left


if __name__ == "__main__":
    run(Path(sys.argv[1]), MANY, finishes=False)
