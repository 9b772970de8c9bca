"""Runs with ``--work`` that were stopped: the same bytes afterwards, and nothing done twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import neardup
import neardup.cli
from neardup.engine.spark.shared_work import LAST, KeptStage, SharedWork, _LostRowsError
from neardup.errors import WriteError
from tests.runtimes import JOBS, Job, answer_in, write_collections
from tests.spark.conftest import cut_small
from tests.spark.in_process import InProcess
from tests.spark.mishaps import dies_once, not_again, replace_stage
from tests.spark.runs import assert_same, run_threads
from tests.spilling import StopError, work_folders

ON_SPARK = [name for name, job in JOBS.items() if job.on_spark]
DEDUP = JOBS["dedup"]


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


@pytest.fixture
def run(in_process, collections, monkeypatch, capsys):
    """Run a job on a Spark of this process, and give its code and what it said of errors."""
    from neardup.engine.spark import cluster

    current = {"slots": 4}
    monkeypatch.chdir(collections)
    cut_small(monkeypatch, 1000, 500)
    monkeypatch.setattr(
        cluster,
        "current_cluster",
        lambda work=None: cluster.cluster_of(InProcess(**current)).keeping(work),
    )

    def run_job(job: Job, output: Path, *more: str, slots: int = 4) -> tuple[int, str]:
        current["slots"] = slots
        output.mkdir(exist_ok=True)
        capsys.readouterr()
        code = neardup.cli.run([*job.arguments(output), "--engine", "spark", *more])
        return code, capsys.readouterr().err

    return run_job


@contextmanager
def watched(stop_after: int | None = None) -> Iterator[list[str]]:
    """Give the names of all tasks that are done in the block; interrupt the run after so many."""
    keep, done = KeptStage._keep, list[str]()

    def kept(self: KeptStage, name: str, *arguments: Any) -> Iterator[Any]:
        yield from keep(self, name, *arguments)
        done.append(name)
        if len(done) == stop_after:
            raise StopError

    with patch.object(KeptStage, "_keep", kept):
        yield done


def kept_in(work: Path) -> Path:
    """Return the one work folder that is there."""
    (folder,) = work_folders(work)
    return folder


@pytest.mark.parametrize("name", ON_SPARK)
def test_stopped_and_run_again(run, tmp_path, name):
    job, work = JOBS[name], ("--work", str(tmp_path / "work"))
    assert run(job, tmp_path / "whole")[0] == 0
    expected = answer_in(tmp_path / "whole")
    with watched() as tasks:
        assert run(job, tmp_path / "kept", *work) == (0, "")
    assert answer_in(tmp_path / "kept") == expected
    assert len(tasks) > 2
    stages = {each.partition(".")[0] for each in tasks}
    # Where nothing is exchanged there is one.
    alone = ({"align"}, {"search"}, {"join"})
    assert stages > {"read"} or stages in alone or name.startswith("cut")
    for number, n_done in enumerate({1, len(tasks) // 2, len(tasks) - 1}):
        output = tmp_path / f"stopped-{number}"
        with watched(n_done) as before:
            code, said = run(job, output, *work)
        assert code == 130
        assert str(tmp_path / "work") in said
        assert list(output.iterdir()) == []
        with watched() as after:
            code, said = run(job, output, *work)
        assert code == 0
        assert "continuing" in said
        assert sorted(before + after) == sorted(tasks)
        assert answer_in(output) == expected
    assert list((tmp_path / "work").iterdir()) == []


def stop(run, tmp_path: Path, n_done: int, job: Job = DEDUP, **how: Any) -> Path:
    """Stop a run after so many tasks, and return its work folder."""
    with watched(n_done):
        assert run(job, tmp_path / "out", "--work", str(tmp_path / "work"), **how)[0] == 130
    return kept_in(tmp_path / "work")


def go_on(run, tmp_path: Path, *more: str, job: Job = DEDUP, **how: Any) -> tuple[list[str], str]:
    """Go on with it; return what was done and said."""
    with watched() as done:
        code, said = run(job, tmp_path / "out", "--work", str(tmp_path / "work"), *more, **how)
    assert code == 0, said
    return done, said


@pytest.fixture
def expected(run, tmp_path):
    assert run(DEDUP, tmp_path / "whole")[0] == 0
    return answer_in(tmp_path / "whole")


def flipped(data: bytes) -> bytes:
    place = random.Random(3).randrange(len(data))
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


DAMAGE = {
    "a bit": flipped,
    "half": lambda data: data[: len(data) // 2],
    "nothing": lambda _: b"",
    "fewer rows": lambda data: data[:-12] + (0).to_bytes(8, "big") + data[-4:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_task_is_done_again(run, tmp_path, expected, damage):
    folder = stop(run, tmp_path, 3)
    path = sorted(folder.glob("tasks/read.*"))[1]
    path.write_bytes(damage(path.read_bytes()))
    done, _ = go_on(run, tmp_path)
    assert path.name in done
    assert len([each for each in done if each.startswith("read")]) < len(done)
    assert answer_in(tmp_path / "out") == expected


def test_half_written_task(run, tmp_path, expected):
    """One that died while it wrote has a name that is nobody's."""
    folder = stop(run, tmp_path, 2)
    path = max(folder.glob("tasks/read.*"))
    left = path.with_name(f".{path.name}.12345678")
    path.rename(left)
    done, said = go_on(run, tmp_path)
    assert path.name in done
    assert "stopped run: 1 task" in said
    assert answer_in(tmp_path / "out") == expected


def numbers(rows: Iterator[int]) -> Iterator[int]:
    yield from rows


def never(rows: Iterator[int]) -> Iterator[int]:
    raise AssertionError(next(rows))
    yield


def whole(rows: Iterable[Any]) -> Iterator[Any]:
    return iter([*rows, LAST])


def tasks_in(stage: KeptStage) -> list[str]:
    return [path.name for path in stage.folder.iterdir() if ".1." in path.name]


def nothing_failed(_: object) -> bool:
    return False


@pytest.fixture
def stage(tmp_path):
    with SharedWork.open(tmp_path, "out", {"inputs": []}, at_once=True) as work:
        work.lay_out(2)
        yield work.stage("read", 2, [])


def test_attempts_that_overlap(stage):
    """Two at the same task, of which the earlier ends later, and one that is killed."""
    first, second, third = (
        stage.rows(numbers, nothing_failed, 0, whole(range(5))) for _ in range(3)
    )
    found = [next(first), next(third)]
    assert list(second) == list(range(5))
    third.close()
    assert found + list(first) == [0, 0, 1, 2, 3, 4]
    assert list(stage.rows(never, nothing_failed, 0, whole([]))) == list(range(5))


def test_rows_that_end_early(stage):
    """Spark lets them, where executors are lost, and gives up what a task made of them."""
    with pytest.raises(_LostRowsError):
        list(stage.rows(numbers, nothing_failed, 0, iter(range(5))))
    assert tasks_in(stage) == []


def test_failed_task_is_not_kept(stage):
    rows = stage.rows(numbers, lambda row: row == 3, 1, whole(range(5)))
    assert list(rows) == list(range(5))
    assert tasks_in(stage) == []


def test_what_rows_follow_from(tmp_path):
    """What was made by tasks of another memory, or laid out otherwise, is none of these."""
    with SharedWork.open(tmp_path, "out", {"inputs": []}, at_once=True) as work:
        work.lay_out(2)
        for n, follows in enumerate([[], [1], [2]]):
            stage = replace(work.stage("join", 2, follows), name="join.1")
            assert list(stage.rows(numbers, nothing_failed, 0, whole([n]))) == [n]
            assert list(stage.rows(never, nothing_failed, 0, whole([]))) == [n]
        work._slots = 3
        stage = replace(work.stage("join", 2, [2]), name="join.1")
        assert list(stage.rows(numbers, nothing_failed, 0, whole([9]))) == [9]


def test_folder_that_executors_do_not_see(stage):
    stage.folder.rmdir()
    with pytest.raises(WriteError, match=r"executors.* not see"):
        list(stage.rows(numbers, nothing_failed, 0, whole(range(5))))


def test_other_executors_take_the_same_tasks(run, tmp_path):
    with watched() as tasks:
        assert run(DEDUP, tmp_path / "whole", "--work", str(tmp_path / "work"))[0] == 0
    with watched() as other:
        assert run(DEDUP, tmp_path / "x", "--work", str(tmp_path / "work"), slots=9)[0] == 0
    assert sorted(other) != sorted(tasks)
    before = [path.name for path in stop(run, tmp_path, 3).glob("tasks/*-of-*")]
    done, said = go_on(run, tmp_path, slots=9)
    assert "stopped run: 3 tasks" in said
    assert sorted(before + done) == sorted(tasks)
    assert answer_in(tmp_path / "out") == answer_in(tmp_path / "whole") == answer_in(tmp_path / "x")


def test_two_at_once(run, tmp_path, collections):
    folder = stop(run, tmp_path, 1)
    key = json.loads((folder / "key.json").read_text())
    other = SharedWork.open(tmp_path / "work", "out", key, at_once=True)
    code, said = run(DEDUP, tmp_path / "out", "--work", str(tmp_path / "work"))
    assert code == 1
    assert f"at work in {folder}" in said
    assert "this process" in said
    other.close()
    done, _ = go_on(run, tmp_path)
    assert len(done) > 1


def test_executors(session, collections, tmp_path, monkeypatch, capsys, expected):
    """Real ones, which do not read again what was read before the driver was stopped."""
    monkeypatch.undo()
    monkeypatch.chdir(collections)
    words = [*DEDUP.arguments(tmp_path), "--engine", "spark", "--work", str(tmp_path / "work")]
    with patch("neardup.stages.decide.find_components", side_effect=KeyboardInterrupt):
        assert neardup.cli.run(words) == 130
    n_read = len(list(kept_in(tmp_path / "work").glob("tasks/read.*")))
    replace_stage(monkeypatch, "engine.spark.read._read", not_again)
    capsys.readouterr()
    assert neardup.cli.run(words) == 0
    said = capsys.readouterr().err
    assert f"stopped run: {n_read} task" in said
    assert list((tmp_path / "out").iterdir())
    (tmp_path / "spark").mkdir()
    (tmp_path / "out").rename(tmp_path / "spark/out")
    assert answer_in(tmp_path / "spark") == expected
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.kills
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_driver_killed(session, collection, tmp_path, capsys):
    """The command goes on in another process, with other executors."""
    data, work, out = str(collection / "own"), tmp_path / "work", tmp_path / "out"
    words = ["dedup", data, "-o", str(out), "--engine", "spark", "--work", str(work)]
    run_threads(data, tmp_path / "threads")
    driver = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "neardup", *words])
    while driver.poll() is None and not list(work.glob(".*/tasks/read.*")):
        time.sleep(0.01)
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    assert not out.exists()
    assert neardup.cli.run(words) == 0
    assert "continuing" in capsys.readouterr().err
    assert_same(out, tmp_path / "threads")
    assert list(work.iterdir()) == []


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_executor_killed(session, collection, tmp_path, monkeypatch, small_tasks, victim):
    data, out = str(collection / "own"), tmp_path / "out"
    run_threads(data, tmp_path / "threads")
    mark = tmp_path / "was-killed"
    replace_stage(monkeypatch, "engine.spark.read._read", dies_once, str(mark), victim)
    words = ["dedup", data, "-o", str(out), "--engine", "spark", "--work", str(tmp_path / "work")]
    assert neardup.cli.run(words) == 0
    assert mark.exists()
    assert_same(out, tmp_path / "threads")
    assert list((tmp_path / "work").iterdir()) == []
