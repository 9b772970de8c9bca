"""Damaged work folders, full disks: what is said to be done is what was made."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ReadError, WriteError
from neardup.runs.disk import FileRecord
from neardup.runs.tasks import TaskLog, TaskRecord
from tests.each import each_of
from tests.examples import examples
from tests.faults import at_calls
from tests.work_folders import KEY, TASKS, check, content_of, do, open_work, run

PURPOSE = "a digest"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Path:
    """Give a folder in which a run has done all its tasks, and was stopped."""
    parent = tmp_path_factory.mktemp("stopped")
    with at_calls(lambda _: None):
        run(parent, finishes=False)
    return parent


def damage(path: Path, kind: str, place: int) -> None:
    """Change a file in one of several ways."""
    if kind == "remove":
        path.unlink()
        return
    data = bytearray(path.read_bytes())
    place %= len(data) + (kind == "insert")
    if kind == "flip":
        data[place] ^= 1 << (place % 8)
    elif kind == "cut":
        del data[place:]
    elif kind == "delete":
        del data[place]
    else:
        data.insert(place, 10)
    path.write_bytes(data)


KINDS = st.sampled_from(["flip", "cut", "delete", "insert", "remove"])


@given(
    st.lists(st.tuples(st.integers(0, 100), KINDS, st.integers(0, 10**6)), min_size=1, max_size=3),
    st.permutations(TASKS),
)
@examples(150)
def test_damage__anywhere(stopped, tmp_path_factory, damages, order):
    """What is still done is as it was; the rest can be done again."""
    parent = tmp_path_factory.mktemp("damaged") / "work"
    shutil.copytree(stopped, parent)
    [folder] = parent.iterdir()
    damaged = set()
    for number, kind, place in damages:
        paths = sorted(p for p in folder.iterdir() if p.stat().st_size and "lock" not in p.name)
        damage(paths[number % len(paths)], kind, place)
        damaged.add(paths[number % len(paths)].name)
    with at_calls(lambda _: None), open_work(parent) as work:
        done = {task for task in order if work.is_done(task)}
        # A prefix, for all that comes after damage counts as lost.
        assert done == set(TASKS[: len(done)])
        # A log that was cut off is like one of a run that was killed.
        assert work.problems or len(done) == len(TASKS) or "tasks.log" in damaged
        for task in order:
            if task not in done:
                do(work, task)
            check(work, task)
        work.close()
        with open_work(parent) as again:
            assert again.problems == []
            assert all(again.is_done(task) for task in TASKS)
    assert list(parent.iterdir()) == []


@pytest.mark.parametrize("is_found_at_once", [True, False])
def test_damage__of_a_file(stopped, tmp_path, is_found_at_once, caplog):
    parent = tmp_path / "work"
    shutil.copytree(stopped, parent)
    [folder] = parent.iterdir()
    damage(folder / "task-3.keys", "cut" if is_found_at_once else "flip", 50)
    with open_work(parent) as work:
        assert bool(work.problems) == is_found_at_once
        assert work.is_done("task-2")
        assert not work.is_done("task-3")
        assert not work.is_done("task-5")
        assert work.n_done == 3
        [problem] = work.problems
        assert problem == (
            f"{folder / 'task-3.keys'} is damaged, or gone; what an unfinished run has lost is "
            "done again"
        )
        assert caplog.messages == [problem]
        check(work, "task-2")
        with pytest.raises(ReadError, match="task 'task-5' of an unfinished run is damaged; run"):
            work.path("task-5", "keys")
        with pytest.raises(KeyError):
            work.path("task-9", "keys")
        do(work, "task-3")
        check(work, "task-3")


def test_damage__found_late_spares_what_this_process_has_done(stopped, tmp_path):
    parent = tmp_path / "work"
    shutil.copytree(stopped, parent)
    [folder] = parent.iterdir()
    damage(folder / "task-6.rows.bin", "flip", 0)
    with open_work(parent) as work:
        assert work.is_done("task-1")
        with work.task("new") as files:
            files.new("a").write_bytes(b"1")
        assert not work.is_done("task-7")
        assert work.is_done("new")
        work.close()
    with open_work(parent) as work:
        assert work.is_done("new")
        assert (work.n_done, work.problems) == (7, [])


def test_damage__where_files_were_discarded(tmp_path):
    """What was made from them may be lost, so they are made again."""
    with open_work(tmp_path) as work:
        for task in TASKS[:4]:
            do(work, task)
        work.discard("task-1")
        work.close()
    damage(work.folder / "task-2.rows.bin", "flip", 0)
    with open_work(tmp_path) as work:
        assert [task for task in TASKS if work.is_done(task)] == ["task-0"]


def records(n: int) -> list[TaskRecord]:
    files = {"a": FileRecord(5, "0a0b0c0d"), "b.bin": FileRecord(0, "00000000")}
    return [TaskRecord(f"task-{number}", files, {"n": [number]}) for number in range(n)]


def write_log(path: Path, n: int) -> TaskLog:
    log = TaskLog(path, PURPOSE)
    log.store([])
    for record in records(n):
        log.append(record)
    return log


@given(st.integers(0, 10**6), KINDS.filter(lambda kind: kind != "remove"))
@examples(300)
def test_log__damaged(tmp_path_factory, place, kind):
    path = tmp_path_factory.mktemp("log") / "tasks.log"
    with at_calls(lambda _: None):
        write_log(path, 4)
        lines = path.read_bytes().splitlines(keepends=True)
        damage(path, kind, place)
        log = TaskLog(path, PURPOSE)
        found, is_damaged = log.load()
        assert list(found.values()) == records(len(found))
        # All lines before the damage are read, but one from which something was cut off its end.
        now = path.read_bytes()
        intact = sum(now.startswith(b"".join(lines[: n + 1])) for n in range(len(lines)))
        assert len(found) == intact
        if kind != "cut":
            assert is_damaged or len(found) >= 3
        log.append(TaskRecord("next"))
        assert list(TaskLog(path, PURPOSE).load()[0]) == [*found, "next"]


@each_of("change", ["swap", "lose", "repeat", "purpose"])
def test_log__whole_lines_that_are_not_at_their_places(tmp_path, change):
    path = tmp_path / "tasks.log"
    write_log(path, 4)
    a, b, c, d = path.read_bytes().splitlines(keepends=True)
    lines = {"swap": [a, c, b, d], "lose": [a, c, d], "repeat": [a, a, b, c, d]}
    path.write_bytes(b"".join(lines.get(change, [a, b, c, d])))
    found, is_damaged = TaskLog(path, "another" if change == "purpose" else PURPOSE).load()
    assert is_damaged
    assert list(found) == ([] if change == "purpose" else ["task-0"])


@pytest.mark.slow
@each_of("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@each_of("is_once", [True, False])
def test_full_disk__at_any_call(tmp_path, code, is_once):
    """An error names the folder and what to do; what is done by then stays, and the rest can be."""
    position, n_errors, messages = 0, 0, set()
    while True:
        parent = tmp_path / str(position)
        parent.mkdir()

        def act(number: int) -> None:
            if number == position or (number > position and not is_once):  # noqa: B023
                raise OSError(code, os.strerror(code))

        done: list[str] = []
        with at_calls(act) as calls, suppress(WriteError), open_work(parent) as work:
            try:
                for task in TASKS[:2]:
                    do(work, task)
                    done.append(task)
                    check(work, task)
            except WriteError as error:
                messages.add(str(error).replace(str(work.folder), "FOLDER"))
                n_errors += 1
                raise
            work.close()
        if len(calls) <= position:
            break
        with at_calls(lambda _: None), open_work(parent) as work:
            assert work.problems == []
            assert [task for task in TASKS if work.is_done(task)] == done
            for task in TASKS[:2]:
                if task not in done:
                    do(work, task)
                check(work, task)
        assert list(parent.iterdir()) == []
        position += 1
    advice = "free some disk, then run the same command again: it goes on where it stopped"
    if code == errno.EIO:
        advice = "name another folder for temporary files with work"
    assert messages == {f"cannot write FOLDER: {os.strerror(code)}; {advice}"}
    assert n_errors > 20


def test_key__with_the_log_gone(tmp_path):
    run(tmp_path, finishes=False)
    [folder] = tmp_path.iterdir()
    (folder / "key.json").write_bytes(b"\xff")
    with open_work(tmp_path, KEY) as work:
        # The log says by itself what it is for.
        assert work.is_done("task-1")
        assert work.path("task-1", "keys").read_bytes() == content_of("task-1", "keys")
        work.close()
    (folder / "tasks.log").unlink()
    with open_work(tmp_path, KEY) as work:
        assert work.n_done == 0
