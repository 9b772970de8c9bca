"""Damaged work folders, full disks: what is said to be done is what was made."""

from __future__ import annotations

import errno
import os
import shutil
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import WriteError
from neardup.runs.disk import record_of_file
from tests.each import each_of
from tests.examples import examples
from tests.faults import at_calls
from tests.work_folders import KEY, TASKS, check, content_of, do, open_work, run


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
        # A run whose last record is lost is like one that was killed.
        assert work.problems or len(done) == len(TASKS) or "done-000007.json" in damaged
        for task in order:
            if task not in done:
                do(work, task)
            check(work, task)
        work.close()
        with open_work(parent) as again:
            assert again.problems == []
            assert all(again.is_done(task) for task in TASKS)
    assert list(parent.iterdir()) == []


@each_of("change", ["swap", "lose", "another key"])
def test_records__whole_ones_that_are_not_at_their_places(stopped, tmp_path, change):
    parent = tmp_path / "work"
    shutil.copytree(stopped, parent)
    [folder] = parent.iterdir()
    paths = sorted(folder.glob("done-*"))
    contents = [path.read_bytes() for path in paths]
    if change == "swap":
        paths[1].write_bytes(contents[2])
        paths[2].write_bytes(contents[1])
    elif change == "lose":
        paths[1].unlink()
    else:
        with open_work(tmp_path / "other", KEY | {"version": "2"}) as other:
            do(other, "task-0")
            do(other, "task-1")
            paths[1].write_bytes((other.folder / paths[1].name).read_bytes())
    with open_work(parent) as work:
        assert [task for task in TASKS if work.is_done(task)] == ["task-0"]
        assert len(work.problems) == 1
        assert len(list(folder.glob("done-*"))) == 1
        do(work, "task-1")
        check(work, "task-1")


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
    [message] = messages
    assert f" FOLDER: {os.strerror(code)}; " in message
    assert ("another folder" if code == errno.EIO else "free some disk") in message
    assert n_errors > 20


def test_key__that_cannot_be_read(tmp_path):
    run(tmp_path, finishes=False)
    [folder] = tmp_path.iterdir()
    (folder / "key.json").write_bytes(b"\xff")
    with open_work(tmp_path, KEY) as work:
        # Records say by themselves what they are for.
        assert work.is_done("task-1")
        assert work.path("task-1", "keys").read_bytes() == content_of("task-1", "keys")


@each_of("size", [0, 1, 5000, (1 << 20) + 1])
def test_record_of_file(size, tmp_path):
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "a").write_bytes(data)
    found = record_of_file(tmp_path / "a")
    assert (found.size, found.checksum) == (size, f"{zlib.crc32(data):08x}")
