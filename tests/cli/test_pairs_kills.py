"""``neardup pairs`` by the exact method, stopped, killed or out of disk: it goes on to the same."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from tests.spilling import make_rows, spilling, stopped_after, work_folders, write_lines
from tests.started import end, start

# 10 are 50 in all, and take five minutes of two cores.
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "1"))

needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")

KINDS = {
    "sets": ["--threshold", "0.5", "--ngram", "1", "--also", "score"],
    "two": ["--against", "b.jsonl", "--measure", "containment", "--ngram", "1"],
    "weights": [
        "--measure",
        "weighted-jaccard",
        "--threshold",
        "0.4",
        "--blocking",
        "block",
        "--also",
        "score",
    ],
    "edits": ["--measure", "edit", "--tokenizer", "words", "--threshold", "0.6"],
    "best": ["--top", "50", "--ngram", "1", "--one-to-one"],
}


@pytest.fixture
def folder(tmp_path):
    shared = make_rows(3, 10)
    for name, seed in (("a", 1), ("b", 2)):
        rows = [*make_rows(seed, 70, chain=15), *shared]
        for number, row in enumerate(rows):
            row |= {"id": str(number), "score": str(row["score"]), "block": str(number % 2)}
        write_lines(tmp_path / f"{name}.jsonl", rows)
    return tmp_path


def start_pairs(folder, settings, *arguments):
    command = ("pairs", "a.jsonl", "-o", "out.csv", "--id-column", "id")
    return start(settings, *command, *arguments, folder=folder)


def finish(folder, *arguments, memory=90_000):
    """Run without a mishap, and take the output away."""
    code, _, err = end(start_pairs(folder, {"memory": memory}, *arguments))
    assert code == 0, err
    assert "damaged" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl", "b.jsonl", "out.csv"]
    found = (folder / "out.csv").read_bytes()
    (folder / "out.csv").unlink()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "weights")) for kind in KINDS]
)
def test_stopped_after_any_task__goes_on(run, folder, monkeypatch, kind):
    monkeypatch.chdir(folder)
    job = ("pairs", "a.jsonl", "-o", "out.csv", "--id-column", "id", *KINDS[kind])
    assert run(*job).code == 0
    expected = (folder / "out.csv").read_bytes()
    assert expected.count(b"\n") > 9
    n_tasks = 1
    while True:
        (folder / "out.csv").unlink()
        with spilling(60_000), stopped_after(n_tasks):
            found = run(*job, "--workers", 1)
        if found.code == 0:
            break
        (kept,) = work_folders(folder)
        assert (found.code, found.out) == (130, "")
        assert f"what was done is kept in {kept}: the same command goes on there" in found.err
        with spilling(90_000):
            found = run(*job, "--workers", 2)
        are_done = "1 task is" if n_tasks == 1 else f"{n_tasks} tasks are"
        over = "remove its work folder to start over"
        first = f"going on with a run that was stopped: {are_done} done; {over}\n"
        assert (found.code, found.err[: len(first)]) == (0, first)
        assert work_folders(folder) == []
        assert (folder / "out.csv").read_bytes() == expected
        n_tasks = 2 * n_tasks + 1
    assert n_tasks > 9


@pytest.mark.kills
@needs_signals
@pytest.mark.parametrize("kind", KINDS)
def test_killed__at_random_moments(folder, kind):
    rng, options = random.Random(kind), KINDS[kind]
    expected = finish(folder, *options, memory=10**9)
    begun = time.monotonic()
    assert finish(folder, *options) == expected
    seconds = time.monotonic() - begun
    n_killed = 0
    while n_killed < N_KILLS:
        settings = {"memory": rng.choice([60_000, 90_000, 200_000])}
        if rng.random() < 0.6:
            settings["kill_at"] = rng.randint(1, 400)
        process = start_pairs(folder, settings, *options)
        if "kill_at" not in settings:
            time.sleep(rng.random() * seconds)
            process.kill()
        code, _, err = end(process)
        assert code in (0, -signal.SIGKILL), err
        assert "damaged" not in err
        n_killed += code != 0
        if (folder / "out.csv").exists():
            assert (folder / "out.csv").read_bytes() == expected
            (folder / "out.csv").unlink()
    assert finish(folder, *options) == expected


@pytest.mark.kills
@needs_signals
@pytest.mark.parametrize("largest", [500, 5000])
@pytest.mark.parametrize("kind", KINDS)
def test_disk_full__goes_on_when_there_is_room(folder, kind, largest):
    """Files may not grow beyond a size."""
    expected = finish(folder, *KINDS[kind])
    settings = {"memory": 60_000, "largest_file": largest}
    code, out, err = end(start_pairs(folder, settings, *KINDS[kind]))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: cannot write ")
    assert "File too large" in line
    assert not (folder / "out.csv").exists()
    assert finish(folder, *KINDS[kind]) == expected
