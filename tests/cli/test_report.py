"""``neardup report``: pages of what commands wrote, and what cannot be one."""

from __future__ import annotations

import json
import shlex

import pytest

import neardup
from neardup.cli import run

TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog and runs far away from here today",
    "b": "the quick brown fox jumps over the lazy dog and runs far away from here tonight",
    "c": "nothing that anybody has written before, as far as anybody has ever known of it",
    "d": "nothing that anybody has written before, as far as anybody has ever known of it",
}


@pytest.fixture(autouse=True)
def inputs(tmp_path, monkeypatch):
    """Work beside two files of documents."""
    monkeypatch.chdir(tmp_path)
    for name, ids in {"one": "abc", "two": "cd"}.items():
        rows = [{"id": f"{name}-{i}", "text": TEXTS[i], "source": i in "cd"} for i in ids]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "ids.csv").write_text("id_a,id_b\none-a,one-b\n")


def go(command: str) -> int:
    return run(shlex.split(command))


# A command, and one that makes a page of what was written.
SAME = {
    "dedup": (
        "dedup one.jsonl -o out --threshold 0.5",
        "report out",
    ),
    "dedup --against": (
        "dedup one.jsonl --against two.jsonl -o out --threshold 0.5",
        "report out --against two.jsonl",
    ),
    "pairs": (
        "pairs one.jsonl -o out.parquet --threshold 0.5",
        "report out.parquet one.jsonl",
    ),
    "pairs --against": (
        "pairs one.jsonl --against two.jsonl -o out.parquet --threshold 0.5",
        "report out.parquet one.jsonl --against two.jsonl",
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_report__of_each_kind(tmp_path, kind, capsys):
    command, later = SAME[kind]
    assert go(command) == 0
    capsys.readouterr()
    assert go(f"{later} -o page.html") == 0
    [headline, where] = capsys.readouterr().out.splitlines()
    assert headline
    assert where == "written to page.html, 0.0 MB"
    page = (tmp_path / "page.html").read_text()
    assert "brown fox" in page or "anybody has written" in page


def test_report__same_on_any_number_of_workers(tmp_path):
    assert go("dedup one.jsonl two.jsonl -o out --threshold 0.5") == 0
    for workers in (1, 2):
        assert go(f"report out -o {workers}.html --workers {workers}") == 0
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_report__on_the_terminal(tmp_path, capsys):
    assert go("dedup one.jsonl two.jsonl -o out") == 0
    assert go("pairs one.jsonl two.jsonl -o out.csv --threshold 0.5") == 0
    for result, inputs in (("out", []), ("out.csv", ["one.jsonl", "two.jsonl"])):
        page = neardup.report(result, [tmp_path / name for name in inputs] or None)
        result = " ".join([result, *inputs])
        capsys.readouterr()
        assert go(f"report {result} -o -") == 0
        assert capsys.readouterr().out == page.to_text() + "\n"
        assert page.to_text().startswith(page.headline)
        assert "similarity" in page.to_text()
        assert go(f"report {result} -o - --json") == 0
        assert json.loads(capsys.readouterr().out)["text"] == page.to_text()
        assert go(f"report {result} -o - --quiet") == 0
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("report nothing -o page.html", "error: nothing: no such file"),
        ("report out/removed.parquet -o page.html", "give the output folder of dedup"),
        ("report one.jsonl -o page.html", "neardup did not write this table"),
        ("report out/kept -o page.html", "out/kept: the folder is not an output of dedup or cut"),
        (
            "report out one.jsonl -o page.html",
            "INPUT has no effect on a report of a folder",
        ),
        ("report ids.csv -o page.html", "ids.csv: the pairs of this table have no column"),
        ("report out -o out/kept/p.html --overwrite", "p.html is in the result out; write it"),
        ("report file://{here}/out -o out/p.html", "p.html is in the result file://"),
        ("report out -o file://{here}/out/p.html", "p.html is in the result out; write it"),
        ("report out -o page.txt", "must end in .html, .htm"),
        ("report out.csv -o out.csv", "must end in .html, .htm"),
        ("report out -o there.html", "there.html exists"),
    ],
)
def test_report__what_cannot_be(tmp_path, command, message, capsys):
    assert go("dedup one.jsonl -o out") == 0
    assert go("pairs one.jsonl -o out.csv --threshold 0.5") == 0
    (tmp_path / "there.html").write_text("mine")
    capsys.readouterr()
    assert go(command.replace("{here}", str(tmp_path))) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()
