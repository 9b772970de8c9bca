"""``neardup cut`` with next to no memory: all files are what they are without."""

from __future__ import annotations

import json
import random
import shutil
from contextlib import nullcontext

import numpy as np
import pytest

from neardup.jobs.cut import equal_units
from neardup.passages import additions, cutting
from neardup.runs.exchange import GrowingArray, Shuffle
from neardup.runs.work import WorkFolder
from tests.spilling import files_of, spilling, work_folders, write_lines

OPTIONS = [
    "--unit lines",
    "--unit paragraphs --keep longest",
    "--unit lines --keep max:score --min-documents 3",
    "--unit lines --against others.jsonl",
    "--unit lines --against others.jsonl --min-documents 2 --replacement …",
]
OF_PASSAGES = [
    "--min-tokens 6",
    "--min-tokens 6 --keep longest",
    "--min-tokens 5 --keep max:score --min-documents 3",
    "--min-tokens 6 --against others.jsonl",
    "--min-tokens 5 --against others.jsonl --min-documents 3 --replacement …",
    "--tokenizer bytes --min-tokens 21",
]
OF_SIMILAR = [
    "--threshold 0.7 --min-tokens 8",
    "--threshold 0.7 --min-tokens 8 --keep longest --min-documents 3",
    "--threshold 0.9 --min-tokens 6 --against others.jsonl",
]
# The quick tests look at one of them.
SOME = [OPTIONS[1], *(pytest.param(each, marks=pytest.mark.slow) for each in OPTIONS[2:])]


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
        exact = () if "--threshold" in arguments else ("--exact",)
        with spilling(memory) if memory else nullcontext():
            found = run("cut", "a.jsonl", *exact, *arguments, "--overwrite", "--quiet", "-o", "out")
        assert (found.code, found.out, found.err) == (0, "", "")
        assert work_folders(here) == []
        return files_of(here / "out")

    return cut_within


@pytest.mark.parametrize("options", [*SOME, pytest.param(OPTIONS[0], marks=pytest.mark.slow)])
def test_same_bytes__whatever_the_memory_and_the_workers(cut, options, monkeypatch):
    written, passes = [], set()
    write, settle = Shuffle._write_waiting, equal_units.UnitRules._settle
    monkeypatch.setattr(
        Shuffle, "_write_waiting", lambda *each: written.append(each[0]._name) or write(*each)
    )
    monkeypatch.setattr(
        equal_units.UnitRules, "_settle", lambda *each: passes.add(each[-1]) or settle(*each)
    )
    expected = cut(None, *options.split(), "--workers", 1)
    assert json.loads(expected["summary.json"])["spans"] > 5
    assert (written, passes) == ([], {1})
    for memory, workers in ((9_000, 1), (30_000, 2), (1_500, 2)):
        assert cut(memory, *options.split(), "--workers", workers) == expected
    assert {"units", "gone"} == set(written)
    assert max(passes) > 1


@pytest.mark.parametrize(
    "options",
    [OF_PASSAGES[0], *(pytest.param(each, marks=pytest.mark.slow) for each in OF_PASSAGES[1:])],
)
def test_passages__same_bytes(cut, options, monkeypatch):
    written, mapped, passes = [], [], set()
    write, read = Shuffle._write_waiting, equal_units.samples_in
    again = equal_units._TokensAgain.__call__

    def read_tokens(*each):
        tokens = again(*each)
        mapped.append(isinstance(tokens.values, np.memmap))
        return tokens

    monkeypatch.setattr(
        Shuffle, "_write_waiting", lambda *each: written.append(each[0]._name) or write(*each)
    )
    monkeypatch.setattr(
        equal_units, "samples_in", lambda *each: passes.add(each[-1]) or read(*each)
    )
    monkeypatch.setattr(equal_units._TokensAgain, "__call__", read_tokens)
    expected = cut(None, *options.split(), "--workers", 1)
    assert json.loads(expected["summary.json"])["spans"] > 5
    assert (written, set(mapped), passes) == ([], {False}, {1})
    # Few texts at a time, so that a block has several parts.
    monkeypatch.setattr("neardup.reading.sign.SLICE_BYTES", 300)
    for memory, workers in ((25_000, 1), (50_000, 2), (18_000, 2)):
        assert cut(memory, *options.split(), "--workers", workers) == expected
    assert set(written) == {"samples"}
    assert mapped[-1]
    assert max(passes) > 1


@pytest.mark.slow
@pytest.mark.parametrize("options", OF_SIMILAR)
def test_similar_passages__same_bytes(cut, options, monkeypatch):
    n_written, waiting, write = [0], set(), Shuffle._write_waiting
    index = additions.index_tokens

    def counted(*each):
        n_written[0] += 1
        return index(*each)

    monkeypatch.setattr(additions, "index_tokens", counted)
    monkeypatch.setattr(
        Shuffle,
        "_write_waiting",
        lambda *each: waiting.add(each[0]._name.partition("-")[0]) or write(*each),
    )
    expected = cut(None, *options.split(), "--workers", 1)
    assert json.loads(expected["summary.json"])["spans"] > 5
    assert (n_written, waiting) == ([0], set())
    # In blocks of few texts, with segments in files.
    monkeypatch.setattr(cutting, "_LEAST_BLOCK", 100)
    for memory, workers in ((4_000, 1), (40_000, 2)):
        assert cut(memory, *options.split(), "--workers", workers) == expected
    assert n_written[0] > 1
    assert "passages" in waiting


@pytest.mark.parametrize("unit", ["lines", pytest.param("paragraphs", marks=pytest.mark.slow)])
def test_similar_units__same_bytes(cut, unit, monkeypatch):
    mapped, spill = set(), GrowingArray._spill
    monkeypatch.setattr(GrowingArray, "_spill", lambda each: mapped.add(each._name) or spill(each))
    options = ("--unit", unit, "--threshold", "0.7", "--keep", "max:score")
    expected = cut(None, *options, "--workers", 1)
    assert json.loads(expected["summary.json"])["spans"] > 5
    assert not mapped
    assert cut(9_000, *options, "--workers", 2) == expected
    assert {name.partition("-")[0] for name in mapped} == {"units"}


@pytest.mark.slow
def test_killed_when_the_output_was_there__is_said(cut, run, here, monkeypatch):
    """A run may end between its output's appearing and its work folder's going."""
    job = ("cut", "a.jsonl", "--exact", "--unit", "lines", "-o", "out")
    expected = cut(None, *job[3:5])
    shutil.rmtree(here / "out")
    with spilling(9_000), monkeypatch.context() as patch:
        patch.setattr(WorkFolder, "remove", WorkFolder.close)
        assert run(*job).code == 0
    (left,) = work_folders(here)
    found = run(*job)
    assert found.code == 1
    assert found.err == (
        "error: out exists; choose another name, or replace it with --overwrite; "
        f"{left.name} is left of a run that was stopped, and goes with that\n"
    )
    with spilling(9_000):
        assert run(*job, "--overwrite").code == 0
    assert files_of(here / "out") == expected
    assert work_folders(here) == []
