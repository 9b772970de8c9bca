"""``neardup cut`` of equal units with next to no memory: all files are what they are without it."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext

import pytest

from neardup.jobs.cut import equal_units
from neardup.runs.exchange import Shuffle
from tests.spilling import files_of, spilling, work_folders, write_lines

OPTIONS = [
    "--unit lines",
    "--unit paragraphs --keep longest",
    "--unit lines --keep max:score --min-documents 3",
    "--unit lines --against others.jsonl",
    "--unit lines --against others.jsonl --min-documents 2 --replacement …",
]


def make_rows(seed, n):
    rng = random.Random(seed)
    shared = [" ".join(f"wörd{rng.randrange(900)}" for _ in range(7)) for _ in range(25)]
    return [
        {
            "id": f"{seed}-{k}",
            "score": rng.randrange(9),
            "text": "".join(
                (rng.choice(shared) if rng.random() < 0.5 else f"own line {rng.random()} of {k} é")
                + rng.choice(["\n", "\r\n", "\n\n"])
                for _ in range(rng.randrange(9))
            ),
        }
        for k in range(n)
    ]


@pytest.fixture
def cut(run, here, monkeypatch):
    # Documents of many partitions, though there are few units.
    monkeypatch.setattr(equal_units, "_UNITS_OF_PART", 20)
    write_lines(here / "a.jsonl", make_rows(1, 60))
    write_lines(here / "others.jsonl", [*make_rows(2, 10), *make_rows(1, 8)])

    def cut_within(memory, *arguments):
        with spilling(memory) if memory else nullcontext():
            found = run(
                "cut", "a.jsonl", "--exact", *arguments, "--overwrite", "--quiet", "-o", "out"
            )
        assert (found.code, found.out, found.err) == (0, "", "")
        assert work_folders(here) == []
        return files_of(here / "out")

    return cut_within


@pytest.mark.parametrize("options", OPTIONS)
def test_same_bytes__whatever_the_memory_and_the_workers(cut, options, monkeypatch):
    written, passes = [], set()
    write, read = Shuffle._write_waiting, equal_units._Settling._read
    monkeypatch.setattr(
        Shuffle, "_write_waiting", lambda *each: written.append(each[0]._name) or write(*each)
    )
    monkeypatch.setattr(
        equal_units._Settling, "_read", lambda *each: passes.add(each[-1]) or read(*each)
    )
    expected = cut(None, *options.split(), "--workers", 1)
    assert json.loads(expected["summary.json"])["spans"] > 5
    assert (written, passes) == ([], {1})
    for memory, workers in ((9_000, 1), (30_000, 2), (600, 2)):
        assert cut(memory, *options.split(), "--workers", workers) == expected
    assert {"units", "gone"} == set(written)
    assert max(passes) > 1
