"""``neardup cut`` killed or interrupted at random moments, or out of disk: all or nothing."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time

import pytest

from tests.spilling import files_of, write_lines
from tests.started import end, interrupt, start

# 9 are 54 in all, and take six minutes of two cores.
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "1"))

pytestmark = [
    pytest.mark.kills,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals"),
]

KINDS = {
    "similar": ["--min-tokens", "12"],
    "lines": ["--unit", "lines", "--workers", "2"],
}
# What goes on where it was stopped.
LASTING = {
    "equal": ["--exact", "--min-tokens", "12"],
    "equal lines": ["--exact", "--unit", "lines", "--workers", "2"],
    "equal paragraphs": ["--exact", "--unit", "paragraphs", "--keep", "longest", "--work", "tmp"],
}


@pytest.fixture
def rows(tmp_path):
    """Write documents that share passages and lines, in three files."""
    rng = random.Random(3)
    shared = [" ".join(f"w{rng.randrange(900)}" for _ in range(25)) for _ in range(8)]
    for name in "abc":
        texts = [
            "\n".join(
                rng.choice(shared) if rng.random() < 0.5 else f"own line {rng.random()} of {name}"
                for _ in range(6)
            )
            for _ in range(10)
        ]
        write_lines(tmp_path / f"{name}.jsonl", [{"text": text} for text in texts])
    (tmp_path / "tmp").mkdir()


def start_cut(folder, settings, *arguments):
    # Enough for a few passes over what is equal, each of which reads all partitions.
    settings = {"memory": 20_000, **settings}
    names = [f"{name}.jsonl" for name in "abc"]
    return start(
        settings, "cut", *names, "-o", "out", *arguments, folder=folder, TMPDIR=str(folder / "tmp")
    )


def finish(folder, *arguments):
    """Run without a mishap: the output is there, and what killed runs left beside it is not."""
    code, _, err = end(start_cut(folder, {}, "--overwrite", *arguments))
    assert code == 0, err
    assert list(folder.glob("**/.*")) == []
    return files_of(folder / "out")


@pytest.mark.parametrize("kind", KINDS | LASTING)
@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.usefixtures("rows")
def test_killed__leaves_the_old_output_or_the_new(tmp_path, kind, is_there):
    rng = random.Random(f"{kind} {is_there}")
    options, out, before = (KINDS | LASTING)[kind], tmp_path / "out", tmp_path / "tmp/before"
    old = finish(tmp_path, "--exact", "--unit", "paragraphs")
    out.rename(before)
    begun = time.monotonic()
    expected = finish(tmp_path, *options)
    seconds = time.monotonic() - begun
    n_killed = 0
    while n_killed < N_KILLS:
        shutil.rmtree(out, ignore_errors=True)
        if is_there:
            shutil.copytree(before, out)
        settings = {}
        if rng.random() < 0.6:
            settings = {"kill_at": rng.randint(1, 40), "kill_in": ".out.neardup-"}
        process = start_cut(tmp_path, settings, "--overwrite", *options)
        if not settings:
            time.sleep(rng.random() * seconds)
            process.kill()
        code, _, err = end(process)
        assert code in (0, -signal.SIGKILL), err
        n_killed += code != 0
        if out.exists():
            found = files_of(out)
            assert found == expected or (code and is_there and found == old)
        else:
            assert code
            assert not is_there
    assert finish(tmp_path, *options) == expected


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("rows")
def test_interrupted__leaves_nothing(tmp_path, sent):
    word, code = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}[sent]

    def begin():
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return start_cut(tmp_path, {}, *KINDS["similar"])

    said = interrupt(begin, lambda: bool(list(tmp_path.glob(".out*/*.passing/*"))), sent)
    assert said == (code, "", f"{word}; no output was written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.jsonl", "b.jsonl", "c.jsonl", "tmp"
    ]  # fmt: skip
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("largest", [500, 5000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("rows")
def test_disk_full__one_line(tmp_path, kind, largest):
    """Files may not grow beyond a size."""
    code, out, err = end(start_cut(tmp_path, {"largest_file": largest}, *KINDS[kind]))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: cannot write ")
    assert "File too large" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.jsonl", "b.jsonl", "c.jsonl", "tmp"
    ]  # fmt: skip
    assert list((tmp_path / "tmp").iterdir()) == []
    finish(tmp_path, *KINDS[kind])


@pytest.mark.parametrize("largest", [500, 5000])
@pytest.mark.parametrize("kind", LASTING)
@pytest.mark.usefixtures("rows")
def test_disk_full__goes_on_when_there_is_room(tmp_path, kind, largest):
    expected = finish(tmp_path, *LASTING[kind])
    shutil.rmtree(tmp_path / "out")
    code, out, err = end(start_cut(tmp_path, {"largest_file": largest}, *LASTING[kind]))
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: cannot write ")
    assert "File too large" in line
    assert not (tmp_path / "out").exists()
    assert finish(tmp_path, *LASTING[kind]) == expected
