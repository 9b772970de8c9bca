"""``neardup dedup``, stopped and started again: what it goes on with, and what it says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob
from neardup.runs.work import WorkFolder
from tests.spilling import files_of, make_rows, spilling, stopped_after, work_folders, write_lines
from tests.started import end, start

ROWS = make_rows(1, 60, chain=20)
KEPT = "repeat the command to continue, or remove the folder to start over"
JOB = ("dedup", "a.jsonl", "-o", "out", "--workers", 2)


def job_with(*arguments):
    """Return the job with arguments, of which another number of workers takes the place of its."""
    return (*(JOB[:-2] if "--workers" in arguments else JOB), *arguments)


@pytest.fixture(scope="module")
def known():
    """What is the same in each folder."""
    return {}


@pytest.fixture
def expected(run, here, known):
    """The output of a run without a limit."""
    write_lines(here / "a.jsonl", ROWS)
    if "files" not in known:
        assert run(*JOB).code == 0
        known["files"] = files_of(here / "out")
        shutil.rmtree(here / "out")
    return known["files"]


@pytest.fixture
def stop(run, here):
    """Run, stop after some tasks, and return the work folder."""

    def run_and_stop(n_tasks, *arguments, memory=30_000):
        with spilling(memory), stopped_after(n_tasks):
            found = run(*job_with(*arguments))
        assert found.code == 130
        (folder,) = work_folders(here)
        assert found.err.splitlines()[-1] == (f"interrupted; finished work is in {folder}: {KEPT}")
        assert not (here / "out").exists()
        return folder

    return run_and_stop


def list_tasks(run, here):
    """Return the names of all tasks of a run."""
    names = []
    finish = WorkFolder._finish
    with pytest.MonkeyPatch.context() as patch, spilling(30_000):
        patch.setattr(
            WorkFolder, "_finish", lambda *these: names.append(these[1]) or finish(*these)
        )
        assert run(*JOB).code == 0
    shutil.rmtree(here / "out")
    return names


def finish(run, here, *arguments, memory=30_000):
    with spilling(memory):
        found = run(*job_with(*arguments))
    assert found.code == 0, found.err
    assert work_folders(here) == []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("change", ["content", "time"])
def test_input_changed__starts_over(run, here, expected, stop, change):
    folder = stop(5)
    if change == "content":
        write_lines(here / "a.jsonl", [*ROWS, {"id": "one more", "text": "one more text"}])
    else:
        os.utime(here / "a.jsonl", ns=(0, 0))
    found = finish(run, here)
    assert found.err.splitlines() == [
        f"{folder} belongs to a stopped run with other options or inputs; this run starts over, "
        "and removes that folder at the end"
    ]
    assert (files_of(here / "out") == expected) == (change == "time")


@pytest.mark.slow
def test_other_options__leave_what_was_done_until_the_end(run, here, expected, stop):
    folder = stop(5)
    with spilling(30_000), stopped_after(3):
        found = run(*JOB, "--threshold", "0.7")
    assert found.code == 130
    assert found.err.splitlines()[0] == (
        f"{folder} belongs to a stopped run with other options or inputs; this run starts over, "
        "and removes that folder at the end"
    )
    assert len(work_folders(here)) == 2
    found = run(*JOB, "--memory", "1GB")
    assert "5 tasks are done" in found.err
    assert "belongs to a stopped run with other options or inputs; this run removes" in found.err
    assert files_of(here / "out") == expected
    assert work_folders(here) == []


@pytest.mark.slow
def test_two_at_once(run, here, expected, stop):
    folder = stop(5)
    names = set(folder.iterdir())
    script = "import sys, filelock as f; a = f.FileLock(sys.argv[1]); a.acquire(); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, folder / "write.lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        other.stdout.readline()
        found = run(*JOB)
        other.communicate(b"\n")
    assert found.code == 1
    assert found.err == (
        f"error: the same command is at work in {folder} already: another process; "
        "wait until that is done, or end it\n"
    )
    assert names <= set(folder.iterdir())
    finish(run, here)
    assert files_of(here / "out") == expected


def damage(path, how):
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "short":
        path.write_bytes(data[: len(data) // 2])
    else:
        place = len(data) // 2
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


@pytest.mark.damage
@pytest.mark.parametrize("how", ["flipped", "short", "gone"])
@pytest.mark.parametrize(
    "pattern", ["signed-1-00000.*", "components.bounds", "keys-*", "sieve-*", "texts-*", "choose-*",
                "done-000002.json", "key.json"],
)  # fmt: skip
def test_damaged__is_done_again(run, here, expected, known, stop, pattern, how):
    if "tasks" not in known:
        known["tasks"] = list_tasks(run, here)
    folder = stop(len(known["tasks"]) - 1)
    path = sorted(folder.glob(pattern))[0]
    damage(path, how)
    found = finish(run, here)
    assert files_of(here / "out") == expected
    if pattern != "key.json":
        line = f"{path} is damaged, or missing; neardup repeats the lost work"
        assert found.err.splitlines().count(line) == 1


def test_bad_row__keeps_nothing(run, here):
    write_lines(here / "a.jsonl", ROWS)
    with (here / "a.jsonl").open("a") as file:
        file.write("no JSON\n")
    with spilling(30_000):
        found = run(*JOB)
    assert found.code == 1
    assert "row 81: not a JSON object" in found.err
    assert KEPT not in found.err
    assert work_folders(here) == []


@pytest.mark.slow
def test_work_folder__elsewhere(run, here, expected):
    with spilling(30_000), stopped_after(4):
        found = run(*JOB, "--work", "some/where")
    assert found.code == 130
    assert work_folders(here) == []
    (folder,) = work_folders(here / "some/where")
    assert f"finished work is in {folder.relative_to(here)}: {KEPT}" in found.err
    finish(run, here, "--work", "some/where")
    assert files_of(here / "out") == expected
    assert list((here / "some/where").iterdir()) == []


@pytest.mark.parametrize("work", [[], ["--work", "work"]])
def test_stopped_in_memory__keeps_nothing(run, here, work):
    """The help says so."""
    write_lines(here / "a.jsonl", ROWS)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeduplicationResult, "write", stop)
        found = run(*JOB, *work)
    assert (found.code, found.err) == (130, "interrupted\n")
    assert {path.name for path in here.rglob("*")} <= {"a.jsonl", "work"}
    said = " ".join(run("dedup", "--help").out.split())
    assert "A run that fits into --memory writes none, and a rerun starts over" in said


def test_work_folder__of_another_run(run, here):
    """Two runs for outputs of one name come to the same folder, and the second says so at once."""
    write_lines(here / "a.jsonl", ROWS)
    errors = []

    def start_other(*_: object) -> None:
        # In the midst of the first run, before anything goes to its work folder.
        found = run("dedup", "a.jsonl", "-o", "other/out", "--workers", 2, "--work", "work")
        errors.append((found.code, found.err))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DedupJob, "run", start_other)
        with pytest.raises(AttributeError):
            run(*JOB, "--work", "work")
    [(code, error)] = errors
    assert code == 1
    assert re.fullmatch(
        r"error: the same command is at work in work/\.out\.neardup-work-\w+ already: this "
        r"process, since .*; wait until that is done, or end it\n",
        error,
    )
    assert sorted(path.name for path in here.rglob("*")) == ["a.jsonl", "work"]


@pytest.mark.kills
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize(
    ("sent", "word", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)],
)
def test_interrupted__says_how_it_goes_on(run, here, expected, sent, word, code):
    found, err = 0, ""
    while not work_folders(here):
        # The signal may come when nothing is done yet, or when the run has ended.
        shutil.rmtree(here / "out", ignore_errors=True)
        process = start({"memory": 20_000}, *map(str, JOB), folder=here)
        while process.poll() is None and not list(here.glob(".out.neardup-work-*/*.rows")):
            time.sleep(0.001)
        process.send_signal(sent)
        found, _, err = end(process)
    (folder,) = work_folders(here)
    said = f"{word}; finished work is in {folder}: {KEPT}\n"
    assert (found, err) == (code, said)
    finish(run, here)
    assert files_of(here / "out") == expected
