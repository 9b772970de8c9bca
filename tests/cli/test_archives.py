"""Archives where files are named, in commands."""

from __future__ import annotations

import os
import tempfile

import pytest

from neardup.engine.opening import key_of
from neardup.files.inputs import resolve_paths
from neardup.options.document_options import DedupOptions
from tests.archives import ENDINGS, archive_of

FIRST = b'{"id": "1", "text": "one two three four five six"}\n'
OTHER = b'{"id": "2", "text": "seven eight nine ten eleven"}\n'
ITEMS = [("x/a.jsonl", FIRST + OTHER), ("b.jsonl", FIRST.replace(b'"1"', b'"3"'))]


@pytest.fixture(autouse=True)
def temporary(here, monkeypatch):
    (here / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here / "temporary"))
    return here / "temporary"


@pytest.mark.parametrize("ending", ENDINGS)
def test_dedup__of_an_archive_and_a_file(run, here, write_file, ending, temporary):
    (here / f"A{ending}").write_bytes(archive_of(ending, [*ITEMS, ("read.me", b"")]))
    write_file("c.jsonl", OTHER.replace(b'"2"', b'"4"'))
    outcome = run("dedup", f"A{ending}", "c.jsonl", "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("4 documents: 2 kept, 2 removed (2 exact copies, 0 near-dup")
    assert "1 file passed over: .me 1" in outcome.out
    kept = {
        str(path.relative_to(here / "out/kept")): path.read_bytes()
        for path in (here / "out/kept").rglob("*.jsonl")
    }
    assert kept == {
        f"A{ending}/b.jsonl": ITEMS[1][1],
        f"A{ending}/x/a.jsonl": OTHER,
        "c.jsonl": b"",
    }
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("output", ["a.zip", "."])
def test_output__is_never_the_archive(run, here, output):
    (here / "a.zip").write_bytes(archive_of(".zip", ITEMS))
    outcome = run("dedup", "a.zip", "-o", output, "--overwrite")
    assert outcome.code == 1
    assert (here / "a.zip").exists()


def test_work__is_that_of_the_archive(here):
    """A run that was stopped goes on, until the archive changes."""

    def key():
        return key_of("dedup", DedupOptions(), {}, inputs=resolve_paths(["a.zip"]))

    (here / "a.zip").write_bytes(archive_of(".zip", ITEMS))
    first = key()
    assert first is not None
    paths = [file["path"] for file in first["inputs"]]
    assert paths == [os.path.realpath(f"a.zip/{name}") for name in ("b.jsonl", "x/a.jsonl")]
    assert key() == first
    os.utime("a.zip", (1, 1))
    assert key() != first
