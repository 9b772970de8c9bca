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
from tests.commands import COMMANDS
from tests.docs.pages import ROOT, first_names, page, section, tables
from tests.each import each_of

IDS = ("--id-column", "id")
PAGES, QUESTIONS = ROOT / "examples/pages.jsonl", ROOT / "examples/questions.jsonl"
# Keys of results that the runs below do not have.
SOMETIMES = {"skipped", "against_skipped", "filtered_rows", "preset"}


def documented() -> dict[str, set[str]]:
    """Give the keys in the table of summaries, by job."""
    keys: dict[str, set[str]] = {}
    for names, jobs, _ in tables("docs/command-line.md", "Keys of summaries")[0]:
        for job in jobs.split(", "):
            keys.setdefault(job, set()).update(re.findall(r"`(\w+)`", names))
    return keys


KEYS = documented()


def options_of(command: str) -> set[str]:
    """Give the names of a command's options, as keys of a summary spell them."""
    spelled = {option.spelling[-1].lstrip("-").replace("-", "_") for option in COMMANDS[command]}
    # "Of one or more" where the option names one, and options of two words that are one idea.
    return spelled | {"against", "least_jaccard"} | {option.name for option in COMMANDS[command]}


def check(job: str, command: str, summaries: list[dict], *, without: set[str] = frozenset()):
    """Hold the keys of a job's summaries to the table: none is missing, and none is made up."""
    keys = set().union(*summaries)
    assert keys - KEYS[job] - options_of(command) == set()
    assert KEYS[job] - keys - SOMETIMES - without == set()


def json_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    capsys.readouterr()
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def nested(part: str) -> set[str]:
    """Give the names in code spans after the keys table, of the sentence that begins with one."""
    text = section("docs/command-line.md", "Keys of summaries")
    [found] = re.findall(rf"(?s)`{part}`(?: of `dedup`)? (?:has|counts|are)\b(.*?)\.(?:\s|$)", text)
    return set(re.findall(r"`([\w ]+)`", found))


def test_keys__of_dedup(readme_run, capsys):
    _, out = readme_run
    summary = json.loads((out / "summary.json").read_text())
    parts = [
        json_of(capsys, "dedup", PAGES, "--against", "idx", "--add", "-o", "a"),
        json_of(capsys, "dedup", PAGES, "--clusters", "components", "-o", "c"),
    ]
    texts = [f"{i} one two three four five six" for i in range(3)]
    options = {"ngram": 1, "threshold": "0.7", "bands": (64, 1)}
    audited = neardup.deduplicate(texts, **grouped(audit=9, **options)).summary
    check("dedup", "dedup", [summary, *parts, audited])
    scheme = next(row for row in tables("docs/command-line.md", "Keys of summaries")[0]
                  if "`scheme`" in row[0])[2]  # fmt: skip
    assert set(summary["scheme"]) <= set(re.findall(r"`(\w+)`", scheme))
    assert nested("audit") == set(audited["audit"])
    assert audited["audit"]["recall"] is not None
    seconds = {*summary["seconds"], *audited["seconds"], *parts[0]["seconds"]}
    assert seconds <= set(re.findall(r"`([a-z ]+)`", page("docs/command-line.md")))
    row = next(each for each in tables("docs/command-line.md", "Keys of summaries")[0]
               if "`by_file`" in each[0])[2]  # fmt: skip
    assert set(summary["by_file"]) == set(re.findall(r"`(\w+)`", row))


def test_keys__of_pairs():
    texts = ["one two three four five six", "one two three four five seven", "", None]
    ways = (
        {"ngram": 1, "threshold": "0.7", "on_error": "skip"},
        {"method": "minhash", "ngram": 1},
        {"max_distance": 5},
        {"top": 1},
        {"preset": "titles"},
        {"measure": "weighted-jaccard", "idf": "unary"},
        {"blocking": "kind", "one_to_one": True, "columns": "kind"},
    )
    rows = [{"text": text, "kind": "a"} for text in texts]
    summaries = [
        neardup.find_pairs(rows[: 4 if "on_error" in options else 3], **grouped(**options)).summary
        for options in ways
    ]
    check("pairs", "pairs", summaries)
    assert nested("filters") == set().union(*(summary["filters"] for summary in summaries))


def test_keys_and_columns__of_passages(capsys):
    preset = ("--preset", "quotations")
    build = json_of(capsys, "index", "build", "idx", PAGES, *IDS, "--min-tokens", 20, *preset)
    documents = json_of(capsys, "index", "build", "kept", PAGES, *IDS, "--kind", "documents")
    check("index", "index build", [build, documents], without={"denied"})
    infos = [json_of(capsys, "index", "info", name) for name in ("idx", "kept")]
    text = section("docs/command-line.md", "neardup index info")
    assert [key for info in infos for key in info if f"`{key}`" not in text] == []
    search = json_of(capsys, "search", "idx", QUESTIONS, *IDS, "-o", "hits.csv", *preset)
    nearest = json_of(capsys, "search", "kept", QUESTIONS, *IDS, "-o", "near.csv")
    check("search", "search", [search, nearest], without={"marked_places"})
    others = ("--against", "idx")
    align = json_of(capsys, "align", QUESTIONS, *IDS, *others, *preset, "-o", "shared.parquet")
    check("align", "align", [align], without={"marked_places", "matches"})
    drop = json_of(capsys, "drop", PAGES, *IDS, "--named-in", "hits.csv", "-o", "out")
    check("drop", "drop", [drop])
    cut = json_of(capsys, "cut", PAGES, *IDS, "-o", "shorter")
    check("cut", "cut", [cut], without={"documents_kept", "documents_removed"})
    columns = re.findall(
        r"`(\w+)`", " ".join(row[0] for row in tables("docs/command-line.md", "neardup search")[0])
    )
    assert pq.read_schema("shared.parquet").names == columns
    assert header_of("hits.csv") == columns
    removed = json_of(capsys, "index", "remove", "idx", "news")
    compacted = json_of(capsys, "index", "compact", "idx")
    for name, found in (("remove", removed), ("compact", compacted)):
        text = section("docs/command-line.md", f"neardup index {name}")
        assert [key for key in found if f"`{key}`" not in text] == []


def test_keys__of_explain_and_plan(capsys):
    json_of(capsys, "dedup", PAGES, *IDS, "-o", "clean")
    explained = json_of(capsys, "explain", "clean", "news")
    text = section("docs/command-line.md", "neardup explain")
    assert [key for key in explained if f"`{key}`" not in text] == []
    plan = json_of(capsys, "plan")
    text = section("docs/command-line.md", "neardup plan")
    assert [key for key in {*plan, *plan["curve"][0]} if f"`{key}`" not in text] == []


SKETCH_KINDS = ("minhash", "weighted", "smallest", "modulo", "edit")


@each_of("kind", SKETCH_KINDS)
def test_keys_and_columns__of_sketches(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = json_of(capsys, "sketch", PAGES, "--kind", kind, "-o", "a.parquet")
    check("sketch", "sketch", [made], without={"short_documents"})
    described = dict(tables("docs/command-line.md", "neardup sketch")[0])
    assert set(described) == set(SKETCH_KINDS)
    names = set(re.findall(r"`(\w+)`", described[kind])) | {"id", "digest"}
    assert set(pq.read_schema("a.parquet").names) == names
    pairs = json_of(capsys, "estimate", "a.parquet", "-o", "pairs.parquet")
    sketches = neardup.sketch(["a b c d e f"], kind="smallest")
    clusters = neardup.cluster_sketches(sketches, "0.8").summary
    check("estimate", "estimate", [pairs, clusters], without={"empty_documents"})
    rows = tables("docs/command-line.md", "neardup estimate")[0]
    [columns] = [row[1] for row in rows if kind in row[0].split(", ")]
    expected = ["id_a", "id_b", *re.findall(r"`(\w+)`", columns)]
    assert pq.read_schema("pairs.parquet").names == expected


def test_keys__of_compare(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name} one two three four five six")
    result = json_of(capsys, "compare", tmp_path / "a", tmp_path / "b")
    rows = dict(tables("docs/command-line.md", "neardup compare")[0])
    described = {name.strip("`"): set(re.findall(r"`(\w+)`", cell)) for name, cell in rows.items()}
    assert set(result) == set(described)
    [passage] = result["passages"]
    assert described["passages"] == set(passage)
    assert set(map(type, result["measures"].values())) <= {int, float}
    assert described["sizes"] == {"a", "b", *result["sizes"]["a"]}
    assert described["differences"] == set(result["differences"])


def header_of(name: str) -> list[str]:
    return shlex.split(Path(name).read_text().splitlines()[0].replace(",", " "))


def test_keys__of_review(tmp_path, capsys):
    rows = "id_a,id_b,similarity,label\na,b,0.5,yes\n"
    (tmp_path / "pairs.csv").write_text(rows)
    made = json_of(capsys, "review", "pairs.csv", "-o", "page.html")
    text = section("docs/command-line.md", "neardup review")
    assert [key for key in made if f"`{key}`" not in text] == []
    [of_file] = tables("docs/command-line.md", "neardup review")
    columns = {name for row in of_file for name in first_names(row)}
    assert {"id_a", "id_b", "label", "similarity", "note"} == columns
