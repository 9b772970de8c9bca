"""Runs that are killed, or interrupted, at any step and at any moment: the next one goes on."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.steps import at_lines, killed_at
from tests.work_folders import MANY, TASKS, check, do, open_work, run

ROOT = Path(__file__).parents[3]
KILLS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")


def go_on(parent: Path) -> int:
    """Finish a run of two tasks, and return how many were done before."""
    with open_work(parent) as work:
        assert work.problems == []
        n_before = work.n_done
        for task in TASKS[:2]:
            if not work.is_done(task):
                do(work, task)
            check(work, task)
    return n_before


def work_and_leave(parent: Path) -> None:
    with open_work(parent) as work:
        do(work, "task-0")
        do(work, "task-1")
        work.close()
    # Without a folder above that has to be made again.
    open_work(parent).remove()


@KILLS
@pytest.mark.kills
def test_killed__at_any_step(tmp_path):
    parent = tmp_path / "work"
    found = []
    was_killed = True
    while was_killed:
        was_killed = killed_at(len(found), lambda: work_and_leave(parent))
        with open_work(parent) as work:
            assert work.problems == []
            found.append(work.n_done)
            done = {task for task in TASKS if work.is_done(task)}
            assert done == set(TASKS[: work.n_done])
            for task in TASKS[:2]:
                if task not in done:
                    do(work, task)
                if work.result(task) and task == "task-1":
                    check(work, task)
        shutil.rmtree(parent, ignore_errors=True)
    assert len(found) > 60
    # None, one, both; and when the folder goes, one and none again.
    numbers = [n for n, last in zip(found, [None, *found], strict=False) if n != last]
    assert numbers == [0, 1, 2, 1, 0]


@pytest.mark.kills
# An interrupt may come before a file that was opened is given to anybody who closes it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupted__at_any_line(tmp_path):
    """Also between a line of the log and the next step: what is not done leaves nothing."""
    position, n_interrupted = 0, 0
    while True:
        parent = tmp_path / "work"
        parent.mkdir()

        def act(number: int) -> None:
            if number == position:  # noqa: B023
                raise KeyboardInterrupt

        try:
            with at_lines(act) as count, open_work(parent) as work:
                do(work, "task-0")
                do(work, "task-1")
                work.close()
        except KeyboardInterrupt:
            n_interrupted += 1
        if count[0] <= position:
            break
        # The lock of what an interrupt has left without an owner goes with it.
        work = None
        go_on(parent)
        assert list(parent.iterdir()) == []
        parent.rmdir()
        position += 7
    assert n_interrupted > 20


@KILLS
@pytest.mark.kills
def test_killed__at_any_moment(tmp_path):
    """Each run does what is left; after many kills all is as if there had been none."""
    moments = random.Random(7)
    told: set[str] = set()
    n_kills = 0
    while True:
        command = [sys.executable, "-m", "tests.work_folders", str(tmp_path)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            first = process.stdout.readline()
            time.sleep(moments.uniform(0, 0.01))
            process.kill()
            lines = [first, *process.stdout.read().splitlines(keepends=True)]
        now = {line.strip() for line in lines if line.endswith("\n")}
        # Nothing is done twice, but the very last thing may not have been told.
        assert not now & told
        told |= now
        if not first:
            break
        n_kills += 1
        work = open_work(tmp_path)
        assert work.problems == []
        done = {task for task in MANY if work.is_done(task)}
        assert told <= done
        assert len(done) <= len(told) + 1
        for task in done:
            check(work, task)
        told = done
        work.close()
    assert told == set(MANY)
    assert n_kills >= 5
    assert run(tmp_path, MANY) == 0
    assert list(tmp_path.iterdir()) == []
