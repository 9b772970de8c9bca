"""``neardup dedup`` killed at random moments, or out of disk: it goes on to the same bytes."""

from __future__ import annotations

import json
import lzma
import os
import random
import shutil
import signal
import time

import pytest

from tests.spilling import files_of, make_rows, work_folders, write_lines
from tests.started import ROOT, end, start

SHARED = ROOT.parent / "shared/data"
# 25 take four minutes: a hundred kills in all.
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "3"))

pytestmark = [
    pytest.mark.kills,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals"),
]

KINDS = {
    "chain": (["--workers", "2"], lambda: make_rows(1, 60, chain=25)),
    "components": (["--clusters", "components", "--keep", "longest"], lambda: make_rows(2, 80)),
    "weighted": (["--measure", "weighted-jaccard"], lambda: make_rows(3, 50, chain=10)),
    "against": (["--against", "others.jsonl"], lambda: make_rows(4, 70)),
}


def start_dedup(settings, *arguments, folder):
    return start(settings, "dedup", "a.jsonl", "-o", "out", *arguments, folder=folder)


def finish(folder, *arguments, memory=30_000):
    code, _, err = end(start_dedup({"memory": memory}, *arguments, folder=folder))
    assert code == 0, err
    assert "damaged" not in err
    assert work_folders(folder) == []
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    return err


@pytest.fixture
def prepared(tmp_path):
    """Write the inputs of a kind, and return its options and what comes out without a limit."""

    def prepare(kind):
        options, make = KINDS[kind]
        write_lines(tmp_path / "a.jsonl", make())
        write_lines(tmp_path / "others.jsonl", make_rows(4, 40))
        return options, expected_of(tmp_path, options)

    return prepare


def expected_of(folder, options):
    finish(folder, *options, memory=10**9)
    expected = files_of(folder / "out")
    shutil.rmtree(folder / "out")
    return expected


def kill_and_finish(folder, options, expected, rng, n_kills):
    """Kill a run so many times, by its own steps or from outside; then let it finish."""
    begun = time.monotonic()
    finish(folder, *options)
    seconds = time.monotonic() - begun
    shutil.rmtree(folder / "out")
    n_killed = n_gone_on = 0
    while n_killed < n_kills:
        step = rng.randint(1, 500)
        settings = {"memory": rng.choice([20_000, 30_000, 60_000])}
        if rng.random() < 0.6:
            settings["kill_at"] = step
        process = start_dedup(settings, *options, folder=folder)
        if "kill_at" not in settings:
            time.sleep(rng.random() * seconds)
            process.kill()
        code, _, err = end(process)
        assert "damaged" not in err
        n_gone_on += "going on" in err
        if code == 0:
            assert files_of(folder / "out") == expected
            shutil.rmtree(folder / "out")
            continue
        assert code == -signal.SIGKILL, err
        n_killed += 1
        if (folder / "out").exists():
            # Killed after all was written.
            assert files_of(folder / "out") == expected
            shutil.rmtree(folder / "out")
    finish(folder, *options)
    assert files_of(folder / "out") == expected
    return n_gone_on


@pytest.mark.parametrize("kind", KINDS)
def test_killed__at_random_moments(tmp_path, prepared, kind):
    options, expected = prepared(kind)
    n_gone_on = kill_and_finish(tmp_path, options, expected, random.Random(kind), N_KILLS)
    # Of a few, all may have come before anything was done.
    assert n_gone_on > 5 or N_KILLS < 25


@pytest.mark.parametrize("name", ["debian-descriptions/descriptions", "rfc-revisions/docs"])
def test_killed__real_texts(tmp_path, name):
    path = SHARED / f"{name}.jsonl.xz"
    if not path.exists():
        pytest.skip("the shared collections are not there")
    with lzma.open(path) as file:
        lines = [line for _, line in zip(range(150), file, strict=False)]
    rows = [json.loads(line) for line in lines]
    texts = [max((v for v in row.values() if isinstance(v, str)), key=len) for row in rows]
    write_lines(tmp_path / "a.jsonl", [{"text": text[:3000]} for text in texts])
    expected = expected_of(tmp_path, [])
    kill_and_finish(tmp_path, [], expected, random.Random(name), 5)


def test_killed__and_goes_on(tmp_path, prepared):
    options, expected = prepared("chain")
    killed = start_dedup({"memory": 30_000, "kill_at": 60}, *options, folder=tmp_path)
    assert end(killed)[0] == -signal.SIGKILL
    assert len(work_folders(tmp_path)) == 1
    assert "going on with a run that was stopped" in finish(tmp_path, *options)
    assert files_of(tmp_path / "out") == expected


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted__says_how_it_goes_on(tmp_path, prepared, sent):
    options, expected = prepared("chain")
    word, code = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}[sent]
    found, err = 0, ""
    while not work_folders(tmp_path):
        # The signal may come when nothing is done yet, or when the run has ended.
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        process = start_dedup({"memory": 20_000}, *options, folder=tmp_path)
        while process.poll() is None and not list(tmp_path.glob(".out.neardup-work-*/*.rows")):
            time.sleep(0.001)
        process.send_signal(sent)
        found, _, err = end(process)
    (folder,) = work_folders(tmp_path)
    assert (found, err) == (
        code,
        f"{word}; no output was written; what was done is kept in {folder}: the same command goes "
        "on there, remove it to start over\n",
    )
    finish(tmp_path, *options)
    assert files_of(tmp_path / "out") == expected


@pytest.mark.parametrize(
    "largest", [1000, 3000, 5000,
                8000,
                20_000],
)  # fmt: skip
def test_disk_full__one_line_and_goes_on(tmp_path, prepared, largest):
    """Files may not grow beyond a size: what fits there is done, and then comes the error."""
    options, expected = prepared("components")
    settings = {"memory": 30_000, "largest_file": largest}
    code, out, err = end(start_dedup(settings, *options, folder=tmp_path))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith(f"error: cannot write {tmp_path}")
    assert "File too large" in line
    assert bool(work_folders(tmp_path)) == ("the same command goes on there" in line)
    assert not (tmp_path / "out").exists()
    for folder in work_folders(tmp_path):
        assert not list(folder.glob("*.part"))
        assert not list(folder.glob(".*.part"))
    finish(tmp_path, *options)
    assert files_of(tmp_path / "out") == expected
