"""docs/command-line.md names the keys and columns of every output."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup
from neardup.cli import run
from tests.calls import grouped
from tests.docs.pages import ROOT, first_names, section, tables
from tests.each import each_of


def test_command_line__summary_keys(readme_run):
    _, out = readme_run
    summary = json.loads((out / "summary.json").read_text())
    of_run, of_scheme, of_counts, of_reading, of_seconds = (
        {name for row in table for name in first_names(row)}
        for table in tables("docs/command-line.md", "summary.json")
    )
    sometimes = {"skipped", "removed_beyond_survivors", "method_choice", "audit", "configuration"}
    sometimes |= {
        "notes",
        "where",
        "filtered_rows",
        "documents_added",
        "documents_known",
        "documents_denied",
        "removed_for_index",
        "against_skipped",
        "preset",
    }
    assert of_run - sometimes == set(summary) - sometimes
    assert of_scheme - {"tf", "idf", "frequencies"} == set(summary["scheme"])
    assert of_counts == set(summary["by_file"])
    assert of_reading == set(summary["reading"])
    assert of_seconds - {"choose method", "audit", "count", "add"} == set(summary["seconds"])


def test_command_line__audit_keys():
    texts = [f"{i} one two three four five six" for i in range(3)]
    options = {"ngram": 1, "threshold": "0.7", "method": "auto", "bands": (64, 1)}
    summary = neardup.deduplicate(texts, **grouped(audit=9, **options)).summary
    [table] = tables("docs/command-line.md", "How documents are found, and an audit")
    assert {name for row in table for name in first_names(row)} == set(summary["audit"])
    assert {"choose method", "audit"} <= set(summary["seconds"])
    assert summary["audit"]["recall"] is not None


def test_command_line__keys_of_dedup_by_pairs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = ROOT / "examples/pages.jsonl"
    json_of(capsys, "pairs", pages, "--threshold", "0.1", "-o", "pairs.parquet")
    by_pairs = ("--pairs", "pairs.parquet", "--clusters", "components")
    summary = json_of(capsys, "dedup", pages, *by_pairs, "-o", "out")
    assert set(summary) | {"skipped", "configuration", "notes"} == keys_of("Deciding again")
    assert set(summary["seconds"]) == {"read", "pairs", "choose", "write"}


def test_command_line__keys_of_pairs():
    texts = ["one two three four five six", "one two three four five seven", "", None]
    ways = (
        {"ngram": 1, "threshold": "0.7", "on_error": "skip"},
        {"method": "minhash", "ngram": 1},
        {"max_distance": 5},
        {"top": 1},
        {"preset": "titles"},
        {"measure": "weighted-jaccard", "idf": "unary"},
        {"blocking": "kind", "one_to_one": True, "columns": "kind", "also": "kind"},
    )
    rows = [{"text": text, "kind": "a"} for text in texts]
    summaries = [
        neardup.find_pairs(rows[: 4 if "on_error" in options else 3], **grouped(**options)).summary
        for options in ways
    ]
    of_run, of_filters = (
        {name for row in table for name in first_names(row)}
        for table in tables("docs/command-line.md", "JSON of pairs")
    )
    assert of_run == set().union(*summaries)
    assert of_filters == set().union(*(summary["filters"] for summary in summaries))
    for summary in summaries:
        assert set(summary["seconds"]) - {"also", "match", "columns"} == {"read", "join"}
    _, of_scheme, *_ = tables("docs/command-line.md", "summary.json")
    described = {name for row in of_scheme for name in first_names(row)}
    assert described - {"tf", "idf", "frequencies"} == set(summaries[1]["scheme"])


def json_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    capsys.readouterr()
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def keys_of(heading: str, *, table: int = 0) -> set[str]:
    return {
        name for row in tables("docs/command-line.md", heading)[table] for name in first_names(row)
    }


def test_command_line__keys_and_columns_of_passages(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages, questions = ROOT / "examples/pages.jsonl", ROOT / "examples/questions.jsonl"
    ids = ("--id-column", "id")
    preset = ("--preset", "quotations")
    build = json_of(capsys, "index", "build", "idx", pages, *ids, "--min-tokens", 20, *preset)
    assert set(build) | {"skipped", "denied"} == keys_of("neardup index build")
    assert set(json_of(capsys, "index", "info", "idx")) == keys_of("neardup index info")
    search = json_of(capsys, "search", "idx", questions, *ids, "-o", "hits.csv", *preset)
    assert set(search) | {"skipped", "marked_places"} == keys_of("JSON of search")
    others = ("--against", "idx")
    align = json_of(capsys, "align", questions, *ids, *others, *preset, "-o", "shared.parquet")
    assert set(align) | {"skipped", "marked_places"} == keys_of("JSON of align")
    drop = json_of(capsys, "drop", pages, *ids, "--named-in", "hits.csv", "-o", "out")
    assert set(drop) | {"skipped", "notes"} == keys_of("JSON of drop")
    columns = re.findall(r"`(\w+)`", " ".join(row[0] for row in passage_tables()[0]))
    assert pq.read_schema("shared.parquet").names == columns
    assert header_of("hits.csv") == columns
    removed = json_of(capsys, "index", "remove", "idx", "news")
    compacted = json_of(capsys, "index", "compact", "idx")
    for name, found in (("remove", removed), ("compact", compacted)):
        text = section("docs/command-line.md", f"neardup index {name}")
        assert [key for key in found if f"`{key}`" not in text] == []


def test_command_line__keys_of_explain(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages, ids = ROOT / "examples/pages.jsonl", ("--id-column", "id")
    json_of(capsys, "dedup", pages, *ids, "-o", "clean")
    found = json_of(capsys, "explain", "clean", "news")
    assert set(found) == keys_of("JSON of explain")


SKETCH_KINDS = {
    "minhash": (),
    "weighted": (),
    "smallest": (),
    "modulo": (),
    "edit": ("--letters", 2),
}


@each_of("kind", SKETCH_KINDS)
def test_command_line__keys_and_columns_of_sketches(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = ROOT / "examples/pages.jsonl"
    made = json_of(capsys, "sketch", pages, "--kind", kind, *SKETCH_KINDS[kind], "-o", "a.parquet")
    told = " ".join(row[0] for row in tables("docs/command-line.md", "JSON of sketch")[0])
    keys = set(re.findall(r"`(\w+)`", told))
    assert set(made) == keys - {"skipped"}
    described = dict(tables("docs/command-line.md", "neardup sketch")[0])
    assert set(described) == set(SKETCH_KINDS)
    names = set(re.findall(r"`(\w+)`", described[kind])) | {"id", "digest"}
    assert set(pq.read_schema("a.parquet").names) == names
    summary = json_of(capsys, "estimate", "a.parquet", "-o", "pairs.parquet")
    told = " ".join(row[0] for row in tables("docs/command-line.md", "JSON of estimate")[0])
    assert set(summary) == set(re.findall(r"`(\w+)`", told))
    rows = tables("docs/command-line.md", "neardup estimate")[0]
    [columns] = [row[1] for row in rows if kind in row[0].split(", ")]
    expected = ["id_a", "id_b", *re.findall(r"`(\w+)`", columns)]
    assert pq.read_schema("pairs.parquet").names == expected


def test_command_line__keys_of_compare(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name} one two three four five six")
    told = json_of(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert set(told) == keys_of("JSON of compare")
    [passage], measures = told["passages"], told["measures"]
    rows = dict(tables("docs/command-line.md", "JSON of compare")[0])
    described = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows.items()}
    assert described["`passages`"] == set(passage)
    assert described["`measures`"] == set(measures[0])
    assert described["`sizes`"] == {"a", "b", *told["sizes"]["a"]}
    assert set(measures[0]["estimates"][0]) == keys_of("JSON of compare", table=1)
    assert set(told["differences"]) == keys_of("JSON of compare", table=2)
    elements = {measure["elements"] for measure in measures}
    text = section("docs/command-line.md", "JSON of compare")
    assert all(f"`{name}`" in text for name in elements)


def passage_tables() -> list[list[list[str]]]:
    return tables("docs/command-line.md", "neardup search")


def header_of(name: str) -> list[str]:
    return shlex.split(Path(name).read_text().splitlines()[0].replace(",", " "))


def test_command_line__keys_of_plan(capsys):
    found = json_of(capsys, "plan")
    text = section("docs/command-line.md", "neardup plan")
    inner = {*found["num_perms"][0], *found["curve"][0]}
    assert [key for key in {*found, *inner} if f"`{key}`" not in text] == []


def test_command_line__keys_of_review(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "id_a,id_b,similarity,label\na,b,0.5,yes\n"
    (tmp_path / "pairs.csv").write_text(rows)
    page = json_of(capsys, "review", "pairs.csv", "-o", "page.html")
    [of_file, of_json] = tables("docs/command-line.md", "neardup review")
    assert {*page} == {name for row in of_json for name in first_names(row)}
    columns = {name for row in of_file for name in first_names(row)}
    assert {"id_a", "id_b", "label", "similarity", "note"} == columns
