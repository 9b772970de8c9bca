"""``neardup align`` killed, interrupted or out of disk while its temporary index is there.

It has next to no memory, so that the index has many segments and what is found goes to files.
"""

from __future__ import annotations

import os
import random
import signal

import pytest

from tests.spilling import write_lines
from tests.started import end, interrupt, start

N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "1"))

pytestmark = [
    pytest.mark.kills,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals"),
]

NAMES = ["a.jsonl", "b.jsonl", "tmp"]


@pytest.fixture
def rows(tmp_path):
    rng = random.Random(5)
    shared = [" ".join(f"w{rng.randrange(900)}" for _ in range(60)) for _ in range(5)]
    for name in "ab":
        texts = [f"{rng.random()} {rng.choice(shared)} {rng.random()}" for _ in range(12)]
        write_lines(tmp_path / f"{name}.jsonl", [{"text": text} for text in texts])
    (tmp_path / "tmp").mkdir()


def start_align(folder, settings, *arguments):
    command = ("align", "a.jsonl", "--against", "b.jsonl", "-o", "shared.csv", "--overwrite")
    return start(settings, *command, *arguments, folder=folder, TMPDIR=str(folder / "tmp"))


def finish(folder, *arguments, **settings):
    """Run without a mishap: what killed runs left is gone, wherever it was."""
    code, _, err = end(start_align(folder, settings, *arguments))
    assert code == 0, err
    assert sorted(path.name for path in folder.iterdir()) == [*NAMES[:2], "shared.csv", "tmp"]
    assert list((folder / "tmp").iterdir()) == []
    found = (folder / "shared.csv").read_bytes()
    (folder / "shared.csv").unlink()
    return found


@pytest.mark.parametrize("work", [[], ["--work", "tmp"]])
@pytest.mark.usefixtures("rows")
def test_killed__the_next_run_clears(tmp_path, work):
    rng, n_left = random.Random(str(work)), 0
    expected = finish(tmp_path, *work, memory=1 << 40)
    while n_left < N_KILLS:
        settings = {"kill_at": rng.randint(8, 360), "kill_in": ".shared.csv.neardup-"}
        code, _, err = end(start_align(tmp_path, settings, *work))
        assert code in (0, -signal.SIGKILL), err
        assert not code or not (tmp_path / "shared.csv").exists()
        n_left += bool(list(tmp_path.rglob("*.passing/index/*")))
        assert finish(tmp_path, *work) == expected


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("rows")
def test_interrupted__leaves_nothing(tmp_path, sent):
    word, code = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}[sent]

    def begin():
        (tmp_path / "shared.csv").unlink(missing_ok=True)
        return start_align(tmp_path, {})

    said = interrupt(begin, lambda: bool(list(tmp_path.glob(".shared*/*.passing/*"))), sent)
    assert said == (code, "", f"{word}; no output was written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


@pytest.mark.usefixtures("rows")
def test_disk_full__one_line(tmp_path):
    """Files may not grow beyond a size."""
    code, out, err = end(start_align(tmp_path, {"largest_file": 500}))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: cannot write ")
    assert "File too large" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES
    finish(tmp_path)
