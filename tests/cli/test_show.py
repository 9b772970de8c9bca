"""``neardup show``: examples of folders and tables, in colours, with marks and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from neardup.files.streams import LocalDestination
from neardup.outputs.table_files import write_parquet_parts

TEXTS = {
    "a": "the cat sat on the mat and looked at the moon",
    "b": "the cat sat on the mat and looked at the sun",
    "c": "the cat sat on a mat and looked at my star",
    "d": "the cat sat on the mat and looked at the moon",
    "e": "nothing of this is like the others here",
}


@pytest.fixture
def files(write_file):
    """Write two collections."""
    lines = [json.dumps({"id": key, "text": text}) + "\n" for key, text in TEXTS.items()]
    write_file("in.jsonl", "".join(lines))
    write_file("other.jsonl", json.dumps({"id": "x", "body": TEXTS["b"]}) + "\n")


@pytest.fixture
def clean(run, files):
    """Deduplicate one of them."""
    assert run("dedup", "in.jsonl", "--ngram", 1, "--threshold", "0.5", "-o", "clean").code == 0


def test_show__folder(run, clean):
    outcome = run("show", "clean")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "3 of 3 removed documents, the least similar first\n"
        "\n"
        "1. similarity 0.6667\n"
        "removed c (in.jsonl, row 3)\n"
        "  the cat sat on {-a-} mat and looked at {-my star-}\n"
        "kept a (in.jsonl, row 1)\n"
        "  the cat sat on {+the+} mat and looked at {+the moon+}\n"
        "\n"
        "2. similarity 0.8000\n"
        "removed b (in.jsonl, row 2)\n"
        "  the cat sat on the mat and looked at the {-sun-}\n"
        "kept a (in.jsonl, row 1)\n"
        "  the cat sat on the mat and looked at the {+moon+}\n"
        "\n"
        "3. the same tokens in the same order\n"
        "removed d (in.jsonl, row 4)\n"
        "  the cat sat on the mat and looked at the moon (no word differs)\n"
        "kept a (in.jsonl, row 1)\n"
        "  the cat sat on the mat and looked at the moon (no word differs)\n"
    )


def test_show__least_and_most(run, clean):
    least, most = (run("show", "clean", how, "-n", 1).out for how in ("--least", "--most"))
    assert least.startswith("1 of 3 removed documents, the least similar first")
    assert "removed c" in least
    assert most.startswith("1 of 3 removed documents, the most similar first")
    assert "removed b" in most
    refused = run("show", "clean", "--least", "--most")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "error: --least and --most ask for different examples; give one of them\n"
    )


@pytest.mark.parametrize("width", [60, 140])
def test_show__on_a_terminal(run, clean, monkeypatch, width):
    """In colours, side by side where there is room."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = run("show", "clean", "--least", "-n", 1).out.splitlines()
    assert any("\x1b[31ma \x1b[0m" in line for line in lines)
    assert any("\x1b[32mthe \x1b[0m" in line for line in lines)
    plain = [re.sub(r"\x1b\[\d+m", "", line).rstrip() for line in lines[3:]]
    both = [line for line in plain if "removed c" in line and "kept a" in line]
    assert len(both) == (width > 100)
    assert max(map(len, plain)) <= width


def test_show__without_colours_words_have_marks(run, clean, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "140")
    assert "{-sun-}" in run("show", "clean").out


def test_show__json(run, clean):
    found = json.loads(run("show", "clean", "--json", "-n", 2).out)
    assert found["rows"] == 3
    assert found["examples"][0] == {
        "similarity": pytest.approx(8 / 12),
        "exact_copy": False,
        "removed": {"id": "c", "file": "in.jsonl", "row": 3, "text": TEXTS["c"]},
        "kept": {"id": "a", "file": "in.jsonl", "row": 1, "text": TEXTS["a"]},
    }


def test_show__nothing_was_found(run, write_file):
    write_file("one.txt", "a text alone")
    run("dedup", "one.txt", "-o", "out")
    assert run("show", "out").out == "nothing was found, so there is nothing to show\n"


def test_show__against(run, files):
    """Texts of the other collection are read where it is named, in the columns of the run."""
    columns = ("--against", "other.jsonl", "--against-text-column", "body")
    how = ("--ngram", 1, "--threshold", "0.5")
    assert run("dedup", "in.jsonl", *columns, *how, "-o", "clean").code == 0
    without = json.loads(run("show", "clean", "--json").out)["examples"]
    assert {example["kept"]["text"] for example in without} == {None}
    assert (
        "kept x (other.jsonl, row 1)\n  (its text is in the other collection; name that with "
        in (run("show", "clean").out)
    )
    found = json.loads(run("show", "clean", "--against", "other.jsonl", "--json").out)["examples"]
    assert {example["kept"]["text"] for example in found} == {TEXTS["b"]}


@pytest.mark.slow
def test_advice__of_an_index_beside_files_and_of_what_it_denies(run, write_file):
    """What cannot be read is not asked for: by show, explain and the page alike."""
    texts = {"there": "a b c d", "denied": "e f g h", "listed": "i j k l"}
    rows = {name: json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()}
    write_file("old.jsonl", rows["there"] + rows["denied"])
    write_file("list.jsonl", rows["listed"])
    write_file("in.jsonl", "".join(rows.values()).replace('"id": "', '"id": "new-'))
    run("index", "build", "idx", "old.jsonl", "--kind", "documents", "--id-column", "id")
    run("index", "remove", "idx", "denied", "--deny")
    both = ("--against", "idx", "--against", "list.jsonl", "--id-column", "id")
    assert run("dedup", "in.jsonl", *both, "-o", "out").code == 0
    expected = {
        "there": "the text is in the index, which cannot be read where it was named beside files",
        "denied": "an index keeps no text of what was removed and denied",
        "listed": "its text is in the other collection; name that with --against",
    }
    for against in ((), ("--against", "list.jsonl")):
        shown = run("show", "out", *against).out
        for name, why in expected.items():
            is_said = name != "listed" or not against
            assert (f"kept {name}" in shown, f"({why})" in shown) == (True, is_said)
            told = run("explain", "out", f"new-{name}", *against).out
            assert (why in told) == (name != "listed")
            assert ("name its collection with --against" in told) == (name == "listed" and is_said)
            assert "name it with --against" not in told
            assert "compared with an index and files at once" in told
    # Of equal texts the page shows one.
    assert run("report", "out", "-o", "page.html").code == 0
    assert f"Only one text is shown: {expected['there']}." in Path("page.html").read_text()


@pytest.mark.parametrize("name", ["pairs.parquet", "pairs.csv", "pairs.jsonl"])
def test_show__pairs(run, files, name):
    assert run("pairs", "in.jsonl", "--ngram", 1, "--threshold", "0.5", "-o", name).code == 0
    lines = run("show", name, "in.jsonl", "-n", 1).out.splitlines()
    assert lines[0] == "1 of 6 pairs, the least similar first"
    assert lines[3:5] == [
        "a a (in.jsonl, row 1)",
        "  the cat sat on {-the-} mat and looked at {-the moon-}",
    ]
    lines = run("show", name, "-n", 1).out.splitlines()
    assert lines[3:5] == [
        "a a",
        "  (its text is in the documents of the table; name these as INPUT)",
    ]


def test_show__table_in_parts(run, files, monkeypatch):
    """A long table is a folder, which is no output of dedup."""
    monkeypatch.setitem(write_parquet_parts.__kwdefaults__, "part_rows", 4)
    run("pairs", "in.jsonl", "--ngram", 1, "--threshold", "0.5", "-o", "pairs.parquet")
    whole = pq.read_table("pairs.parquet")
    assert len(whole) == 6
    Path("parts").mkdir()
    write_parquet_parts(whole.to_batches(), whole.schema, LocalDestination(Path("parts/p")))
    assert Path("parts/p").is_dir()
    assert "1 of 6 pairs" in run("show", "parts/p", "in.jsonl", "-n", 1).out


def test_show__options_of_reading(run, write_file):
    write_file("a.txt", "käse one\nkäse two\n".encode("latin-1"))
    write_file("near.csv", "id_a,id_b\na.txt:1,a.txt:2\n")
    how = ("--lines", "--encoding", "latin-1", "--json")
    [found] = json.loads(run("show", "near.csv", "a.txt", *how).out)["examples"]
    assert [found[side]["text"] for side in "ab"] == ["käse one", "käse two"]
    assert found["similarity"] is None


def test_show__table_at_a_url(run, files, tmp_path):
    assert run("pairs", "in.jsonl", "--threshold", "0.1", "-o", "near.parquet").code == 0
    path = next(tmp_path.rglob("near.parquet")).absolute()
    here = run("show", "near.parquet", "in.jsonl")
    there = run("show", f"file://{path}", "in.jsonl")
    assert (there.code, there.out) == (0, here.out)


def test_show__pairs_of_two_collections(run, files):
    against = ("--against", "other.jsonl", "--against-text-column", "body")
    how = ("--max-distance", 8, "-o", "near.csv")
    assert run("pairs", "in.jsonl", *against, *how).code == 0
    found = json.loads(run("show", "near.csv", "in.jsonl", *against, "--most", "--json").out)
    shown = [(each["a"]["id"], each["b"]["text"]) for each in found["examples"]]
    assert shown[0] == ("b", TEXTS["b"])
    assert {text for _, text in shown} == {TEXTS["b"]}


def test_show__passages(run, files):
    """Of an alignment the passages are shown; with texts in the table nothing is read."""
    how = ("--against", "other.jsonl", "--against-text-column", "body", "--min-tokens", 4)
    for name, more in (("shared.parquet", ()), ("shared.jsonl", ("--with-text",))):
        assert run("align", "in.jsonl", *how, *more, "-o", name).code == 0
    read = json.loads(run("show", "shared.parquet", "in.jsonl", *how[:4], "--json").out)
    has = json.loads(run("show", "shared.jsonl", "--json").out)
    assert read["rows"] == has["rows"] > 0
    for found, expected in zip(read["examples"], has["examples"], strict=True):
        for side in ("query", "document"):
            start, end = expected[side]["span"]
            whole = TEXTS["b"] if side == "document" else TEXTS[expected[side]["id"]]
            assert found[side]["text"] == expected[side]["text"] == whole[start:end]
    assert "characters 0 to " in run("show", "shared.jsonl").out


def test_show__passages_as_they_are_cited(run, files):
    how = ("--against", "other.jsonl", "--against-text-column", "body", "--min-tokens", 4)
    assert run("align", "in.jsonl", *how, "--places", "-o", "cited.csv").code == 0
    examples = json.loads(run("show", "cited.csv", "--json").out)["examples"]
    assert {each["document"]["place"] for each in examples} == {"line 1, column 1"}
    assert ", line 1, column 1, characters 0 to " in run("show", "cited.csv").out


def test_show__hostile_texts_and_ids(run, write_file):
    texts = ["one two \x1b[31mthree\u202e four\n[bold]five[/]\tsix"] * 2
    rows = [{"id": f"id\x1b]0;{i}", "text": text} for i, text in enumerate(texts)]
    write_file("in.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    run("dedup", "in.jsonl", "-o", "out")
    out = run("show", "out").out
    assert "removed id\\x1b]0;1 (in.jsonl, row 2)" in out
    assert "  one two \\x1b[31mthree\\u202e four\n  [bold]five[/]    six" in out
    assert "\x1b" not in out


def test_show__refusals(run, clean, write_file):
    run("cut", "in.jsonl", "-o", "cut")
    for arguments, message in (
        (("none",), "none: no such file"),
        (("clean", "in.jsonl"), "INPUT has no effect on a folder, which has the texts"),
        (("clean", "--lines"), "--lines has no effect on a folder, which says how its texts"),
        (("in.jsonl",), "no job of neardup has written this table"),
        (("clean/removed.parquet",), "give the folder"),
        (("clean", "--against-id-column", "x"), "has no effect without --against"),
        ((".",), "no output of `neardup dedup`"),
        (("cut",), "that of `neardup cut`, of which `neardup report` makes a page"),
    ):
        outcome = run("show", *arguments)
        assert (outcome.code, outcome.out) == (1, "")
        assert message in outcome.err
