"""Options from ``neardup.toml``: which of them holds, and the line that names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = b'{"text": "one two three"}\n{"text": "one two three four"}\n'


@pytest.fixture
def project(here, monkeypatch):
    """Make a repository with a file of documents in a folder, and work there."""
    (here / "repository/.git").mkdir(parents=True)
    inner = here / "repository/data/new"
    inner.mkdir(parents=True)
    (inner / "in.jsonl").write_bytes(ROWS)
    monkeypatch.chdir(inner)
    return here / "repository"


@pytest.fixture
def used(run, project):
    """Run a command on the documents; return one of its options, and what was printed of all."""

    def plan(key: str = "threshold", *options: str, before: tuple[str, ...] = ()) -> tuple:
        outcome = run(*before, "dedup", "in.jsonl", "-o", "out", "--overwrite", "--json", *options)
        assert outcome.code == 0, outcome.err
        summary = json.loads(outcome.out)
        assert summary == json.loads(Path("out/summary.json").read_text())
        return summary[key], outcome.err

    return plan


def write(path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_order(used, project):
    """The command line goes before the nearest neardup.toml, and that before defaults."""
    assert used() == (0.8, "")
    write(project / "neardup.toml", "threshold = 0.3\n")
    assert used() == (0.3, "threshold 0.3 from ../../neardup.toml\n")
    write(project / "neardup.toml", "threshold = 0.3\n[dedup]\nthreshold = 0.4\n")
    assert used() == (0.4, "threshold 0.4 from ../../neardup.toml\n")
    write(project / "data/neardup.toml", "threshold = 0.5\nstrip_accents = true\n")
    source = "../neardup.toml"
    assert used() == (0.5, f"threshold 0.5 from {source}, strip-accents true from {source}\n")
    assert used("threshold", "--threshold", "0.8")[0] == 0.8


def test_index__group_and_command(run, project):
    write(project / "neardup.toml", "seed = 1\nindex.seed = 2\nindex.build.min_tokens = 3\n")
    outcome = run("index", "build", "idx", "in.jsonl", "--json")
    assert outcome.err == "min-tokens 3 from ../../neardup.toml, seed 2 from ../../neardup.toml\n"
    scheme = json.loads(run("index", "info", "idx", "--json").out)["scheme"]
    assert (scheme["min_tokens"], scheme["seed"]) == (3, 2)


def test_folders__only_within_a_repository(used, project):
    (project / ".git").rmdir()
    write(project / "data/neardup.toml", "threshold = 0.5\n")
    assert used()[0] == 0.8
    write(project / "data/new/neardup.toml", "threshold = 0.6\n")
    assert used()[0] == 0.6


def test_folders__not_above_the_repository(used, project):
    write(project.parent / "neardup.toml", "threshold = 0.5\n")
    assert used()[0] == 0.8
    (project / ".git").rmdir()
    (project / ".git").write_text("gitdir: elsewhere")
    assert used()[0] == 0.8
    write(project / "neardup.toml", "threshold = 0.6\n")
    assert used()[0] == 0.6


def test_no_config(used, project):
    write(project / "neardup.toml", "[nothing]\n")
    assert used(before=("--no-config",)) == (0.8, "")


def test_tokenizer__beside_the_file(run, project):
    write(project / "neardup.toml", "tokenizer = 'no/such.json'\n")
    outcome = run("dedup", "in.jsonl", "-o", "out")
    assert "../../no/such.json" in outcome.err.splitlines()[1]
    write(project / "neardup.toml", "tokenizer = 'characters'\n")
    assert run("dedup", "in.jsonl", "-o", "out").code == 0
