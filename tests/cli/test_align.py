"""``neardup align`` on the command line: tables, indexes, options that do not go together."""

from __future__ import annotations

import csv
import io
import json
import re

import openpyxl
import pyarrow.parquet as pq
import pytest

SHARED = (
    "a frog in the well knows nothing of the great sea but every morning it tells all others "
    "how far one can see from its own stone wall up to that small round piece of sky"
)
LEAST = ("--min-tokens", 12)


@pytest.fixture
def collections(write_file):
    """Two collections with a passage in common, upper and lower case apart, behind an emoji."""
    write_file("a.jsonl", json.dumps({"id": "x", "text": f"Ø 🙂 as he said: {SHARED}!"}) + "\n")
    rows = [
        {"id": "old", "text": f"Chapter the first. {SHARED.capitalize()}. So far."},
        {"id": "other", "text": "a rather different text with nothing of the kind in it at all"},
    ]
    write_file("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def rows_in(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.usefixtures("collections")
def test_align__places_are_those_of_the_texts(run, here):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--id-column", "id", *LEAST)
    outcome = run(*arguments, "-o", "s.jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0] == "1 document against 2 documents: 1 passage in 1 document"
    [row] = rows_in(here / "s.jsonl")
    text = rows_in(here / "a.jsonl")[0]["text"]
    other = rows_in(here / "b.jsonl")[0]["text"]
    assert (row["query_id"], row["doc_id"], row["similarity"]) == ("x", "old", 1.0)
    assert text[row["query_start"] : row["query_end"]] == row["query_text"] == SHARED
    assert other[row["doc_start"] : row["doc_end"]] == row["doc_text"] == SHARED.capitalize()
    for name in ("s.csv", "s.parquet"):
        assert run(*arguments, "-o", name).code == 0
    del row["query_text"], row["doc_text"]
    assert pq.read_table(here / "s.parquet").to_pylist() == [row]
    assert (here / "s.csv").read_text().splitlines()[1].startswith('"x",16,')
    assert run(*arguments, "--no-text", "-o", "bare.jsonl").code == 0
    assert rows_in(here / "bare.jsonl") == [row]
    texts = {"query_text": SHARED, "doc_text": SHARED.capitalize()}
    assert run(*arguments, "--with-text", "-o", "texts.csv").code == 0
    [found] = csv.DictReader(io.StringIO((here / "texts.csv").read_text(encoding="utf-8")))
    assert {name: found[name] for name in texts} == texts


@pytest.mark.usefixtures("collections")
def test_align__what_is_ignored(run, fails, here, write_file):
    """All of a template counts nowhere, also with other words between its parts."""
    words = SHARED.split()
    write_file("one.txt", " ".join(words[:20]).upper())
    write_file("two.txt", " ".join([*words[16:20], "and", *words[20:]]))
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", *LEAST)
    outcome = run(*arguments, "--ignore", "one.txt", "--ignore", "two.txt", "-o", "s.jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{len(words)} tokens of INPUT ignored" in outcome.out.splitlines()
    assert rows_in(here / "s.jsonl") == []
    assert "ignored" not in run(*arguments, "--ignore", "b.jsonl", "-o", "t.csv", "--quiet").out
    error = "one.txt is an input, and would be replaced; choose another name"
    write_file("one.csv", "text\n")
    error = error.replace("one.txt", "one.csv")
    fails(*arguments, "--ignore", "one.csv", "-o", "one.csv", "--overwrite", error=error)


@pytest.mark.usefixtures("collections")
def test_align__summary_of_documents(run, here):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--id-column", "id", *LEAST)
    outcome = run(*arguments, "--summary", "documents", "-o", "who.csv")
    assert outcome.out.splitlines()[2] == "1 pair of documents shares text"
    texts = (SHARED, f"Ø 🙂 as he said: {SHARED}", f"Chapter the first. {SHARED}. So far")
    n, query, doc = (len(re.findall(r"\w+", text)) for text in texts)
    assert (here / "who.csv").read_text().splitlines() == [
        '"query_id","doc_id","passages","longest","query_shared","doc_shared","query_share",'
        '"doc_share"',
        f'"x","old",1,{n},{n},{n},{n / query},{n / doc}',
    ]


@pytest.mark.usefixtures("collections")
def test_align__with_an_index(run, here):
    ids = ("--id-column", "id")
    run("index", "build", "idx", "b.jsonl", *ids, "--min-tokens", 8)
    outcome = run("align", "a.jsonl", *ids, "--against", "idx", "-o", "s.jsonl", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    summary = json.loads(outcome.out)
    assert summary["documents"] == [1, 2]
    assert (summary["passages"], summary["aligned_documents"]) == (1, 1)
    assert summary["certain_tokens"] == 11
    assert rows_in(here / "s.jsonl")[0]["doc_text"] == SHARED.capitalize()


@pytest.mark.parametrize(
    ("share", "most"), [("10%", 2), ("50%", 2), ("99.9%", 2), ("100%", 3), ("7", 7)]
)
@pytest.mark.usefixtures("collections")
def test_align__what_a_share_of_the_documents_has(run, here, write_file, share, most):
    """Of three documents less than all is two, which is the least."""
    write_file("c.jsonl", "".join(json.dumps({"text": f"{i} {SHARED}"}) + "\n" for i in range(3)))
    arguments = ("align", "a.jsonl", "--against", "c.jsonl", *LEAST, "--max-documents", share)
    outcome = run(*arguments, "-o", "s.jsonl", "--json")
    assert json.loads(outcome.out)["max_documents"] == most
    assert len(rows_in(here / "s.jsonl")) == (3 if most >= 3 else 0)


@pytest.mark.usefixtures("collections")
def test_align__one_collection(run, fails, here):
    arguments = ("a.jsonl", "b.jsonl", *LEAST)
    outcome = run("align", *arguments, "-o", "s.jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0] == "3 documents: 1 passage in 2 documents"
    [row] = rows_in(here / "s.jsonl")
    assert (row["query_id"], row["doc_id"], row["query_text"]) == ("x", "old", SHARED)
    error = "--against-text-column has no effect without --against; leave it out, or give --against"
    fails("align", "a.jsonl", "-o", "t.csv", "--against-text-column", "b", error=error)
    error = "--within has no effect with --against; leave it out, or align INPUT alone"
    fails("align", "a.jsonl", "--against", "b.jsonl", "--within", "-o", "t.csv", error=error)


@pytest.mark.usefixtures("collections")
def test_align__within_a_document(run, here, write_file):
    write_file("twice.txt", f"{SHARED}\n\nand once more\n\n{SHARED}\n")
    for options, n_passages in (((), 0), (("--within",), 1)):
        run("align", "twice.txt", *LEAST, *options, "-o", "s.jsonl", "--overwrite")
        assert len(rows_in(here / "s.jsonl")) == n_passages


@pytest.mark.usefixtures("collections")
def test_align__options_that_an_index_decides(fails, run):
    assert run("index", "build", "idx", "b.jsonl").code == 0
    arguments = ("align", "a.jsonl", "--against", "idx", "-o", "s.csv")
    error = "--strip-accents has no effect with an index, which has its own; leave it out"
    fails(*arguments, "--strip-accents", error=error)
    error = "--casefold has no effect with an index, which has its own; leave it out"
    fails(*arguments, "--no-casefold", error=error)


@pytest.mark.usefixtures("collections")
def test_align__folder_for_temporary_files(run, write_file):
    """What cannot be a folder is said before anything is read, also where none would be needed."""
    write_file("file", "")
    advice = "name another folder for temporary files with --work"
    folders = (("file/x", "Not a directory"), ("/proc/x", "No such file or directory"))
    for command in (("align", "-o", "out.csv"), ("cut", "--exact", "-o", "out")):
        for work, words in folders:
            outcome = run(command[0], "a.jsonl", *command[1:], "--work", work)
            assert outcome.err == f"error: cannot write {work}: {words}; {advice}\n"


def test_align__documents_without_tokens(run, here, write_file):
    write_file("a.jsonl", '{"text": "..."}\n{"text": ""}\n')
    write_file("b.jsonl", '{"text": ""}\n')
    for against in ("a.jsonl", "b.jsonl"):
        outcome = run("align", "a.jsonl", "--against", against, "-o", "s.csv", "--overwrite")
        assert (outcome.code, outcome.err) == (0, "")
        assert len((here / "s.csv").read_text().splitlines()) == 1


@pytest.mark.usefixtures("collections")
def test_align__output_in_the_index(run, fails, here):
    run("index", "build", "idx", "b.jsonl", "--id-column", "id", *LEAST)
    error = "idx/s.jsonl is in the index idx; write it somewhere else"
    output = ("-o", "idx/s.jsonl")
    fails("align", "a.jsonl", "--against", "idx", *output, error=error)
    assert run("index", "info", "idx").code == 0


@pytest.mark.usefixtures("collections")
def test_places__in_tables_and_on_the_page(run, here, write_file):
    write_file("c.txt", f"Gen 1:1 In the beginning\nGen 1:2 and: {SHARED}\n")
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--against", "c.txt", *LEAST)
    assert run(*arguments, "-o", "s.csv", "--places").code == 0
    rows = list(csv.DictReader(io.StringIO((here / "s.csv").read_text(encoding="utf-8"))))
    assert [(row["query_place"], row["doc_place"]) for row in rows] == [
        ("line 1, column 17", "line 1, column 20"),
        ("line 1, column 17", "line 2, column 14"),
    ]
    assert run("report", "s.csv", "-o", "p.html").code == 0
    assert "line 2, column 14, characters 38 to" in (here / "p.html").read_text(encoding="utf-8")
    verse = ("--place-marker", r"^(\w+ \d+:\d+)")
    assert run(*arguments, *verse, "-o", "v.xlsx").code == 0
    found = json.loads(run(*arguments, *verse, "-o", "v.csv", "--json").out)
    assert found["marked_places"] == [0, 1]
    head, *cells = openpyxl.load_workbook(here / "v.xlsx").active.values
    place = head.index("doc_place")
    assert [row[place] for row in cells] == ["line 1, column 20", "Gen 1:2"]
    assert run("report", "v.xlsx", "-o", "again.html").code == 0
    assert "Gen 1:2, characters 38 to" in (here / "again.html").read_text(encoding="utf-8")
    run("index", "build", "idx", "c.txt", "--min-tokens", 8)
    write_file("q.txt", SHARED)
    outcome = run("search", "idx", "q.txt", *verse, "-o", "found.jsonl")
    assert outcome.code == 0
    [row] = rows_in(here / "found.jsonl")
    assert (row["query_place"], row["doc_place"]) == ("line 1, column 1", "Gen 1:2")


@pytest.mark.usefixtures("collections")
def test_places__refused(fails, run):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", *LEAST, "-o", "s.csv")
    fails(
        *(*arguments, "--place-marker", "("),
        error="--place-marker must be a regular expression as RE2 knows them, got '(': missing ): "
        "(",
    )
    fails(
        *(*arguments, "--places", "--summary", "documents"),
        error="--places has no effect with --summary documents; leave it out, or write the "
        "passages",
    )
    run("index", "build", "--kind", "documents", "idx", "b.jsonl")
    fails(
        *("search", "idx", "a.jsonl", "-o", "t.csv", "--places"),
        error="--places has no effect on an index of documents; leave it out, or search an index "
        "of passages",
    )
