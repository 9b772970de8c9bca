"""``neardup align`` on the command line: tables, indexes, options that do not go together."""

from __future__ import annotations

import csv
import io
import json

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
@pytest.mark.parametrize("command", ["align a.jsonl --against idx", "search idx a.jsonl"])
def test_texts__to_be_there_and_to_be_left_out(run, command):
    run("index", "build", "idx", "b.jsonl", "--min-tokens", 8)
    outcome = run(*command.split(), "--with-text", "--no-text", "-o", "s.csv")
    assert outcome.code == 2
    assert outcome.err.endswith("Error: choose either --with-text or --no-text\n")


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
def test_align__as_a_spreadsheet(run, here, write_file):
    rows = [{"id": "=1+1", "text": f"=2 {SHARED}"}, {"id": "b", "text": f"=2 {SHARED}"}]
    write_file("c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert run("align", "c.jsonl", *LEAST, "-o", "s.xlsx").code == 0
    sheet = openpyxl.load_workbook(here / "s.xlsx").active
    header, row = sheet.iter_rows()
    assert [cell.value for cell in header][-2:] == ["text of query", "text of document"]
    n = len(SHARED) + 3
    assert [cell.value for cell in row] == ["=1+1", 1, n, "b", 1, n, 1, *[f"2 {SHARED}"] * 2]
    assert {cell.data_type for cell in row} == {"s", "n"}


@pytest.mark.usefixtures("collections")
def test_align__summary_of_documents(run, here):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--id-column", "id", *LEAST)
    outcome = run(*arguments, "--summary", "documents", "-o", "who.csv")
    assert outcome.out.splitlines()[0] == "1 pair of documents shares text"
    n, query, doc = (len(text) for text in (SHARED, f"Ø 🙂 as he said: {SHARED}", "Chapter the "))
    doc += len(f"first. {SHARED}. So far")
    assert (here / "who.csv").read_text().splitlines() == [
        '"query_id","doc_id","passages","longest","query_shared","doc_shared","query_share",'
        '"doc_share"',
        f'"x","old",1,{n},{n},{n},{n / query},{n / doc}',
    ]


@pytest.mark.usefixtures("collections")
def test_align__ngram(run, fails, here, write_file):
    """Words in another order share no shingle of three."""
    write_file("reversed.txt", " ".join(reversed(SHARED.split())))
    for ngram, n_passages in ((1, 1), (3, 0)):
        arguments = ("align", "a.jsonl", "--against", "reversed.txt", *LEAST, "--ngram", ngram)
        assert run(*arguments, "-o", f"{ngram}.jsonl").code == 0
        assert len(rows_in(here / f"{ngram}.jsonl")) == n_passages
    options = ("--id-column", "id", *LEAST, "--ngram", 3)
    assert run("align", "a.jsonl", "--against", "b.jsonl", *options, "-o", "s.jsonl").code == 0
    [row] = rows_in(here / "s.jsonl")
    assert (row["query_text"], row["similarity"]) == (SHARED, 1.0)
    error = "--min-tokens must be at least --ngram, got 12 and 13: a passage of fewer tokens has no"
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", *LEAST, "--ngram", 13)
    fails(*arguments, "-o", "none.csv", error=f"{error} shingle")


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


@pytest.mark.usefixtures("collections")
def test_align__what_many_documents_have(run, here, write_file):
    write_file("c.jsonl", "".join(json.dumps({"text": f"{i} {SHARED}"}) + "\n" for i in range(3)))
    arguments = ("align", "a.jsonl", "--against", "c.jsonl", *LEAST, "--max-documents")
    outcome = run(*arguments, 2, "-o", "s.jsonl")
    assert "left out, found in more than 2 documents" in outcome.out
    assert rows_in(here / "s.jsonl") == []
    assert run(*arguments, 3, "-o", "s.csv").code == 0
    assert len((here / "s.csv").read_text().splitlines()) == 4


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


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.usefixtures("collections")
def test_align__same_for_any_number_of_workers(run, here, workers):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", *LEAST)
    assert run(*arguments, "-o", "one.csv", "--workers", 2).code == 0
    assert run(*arguments, "-o", "two.csv", "--workers", workers).code == 0
    assert (here / "one.csv").read_bytes() == (here / "two.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--threshold", "80"], "--threshold must lie in (0, 1], got 80; write 0.8 for 80 %"),
        (["--min-tokens", "0"], "--min-tokens must be at least 1, got 0"),
        (["--max-documents", "0"], "--max-documents must be at least 1, got 0"),
        (
            ["--max-documents", "120%"],
            "--max-documents must be between 0% and 100%, such as 10%, got '120%'",
        ),
        (["--num-perm", "4"], "--num-perm must lie between 8 and 1,024, got 4"),
        (["--on-error", "skip", "--text-column", "t"], None),
    ],
)
@pytest.mark.usefixtures("collections")
def test_align__bad_option(fails, run, here, options, error):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "-o", "s.csv", *options)
    if error is None:
        # Every row is bad; none is left to be aligned.
        assert run(*arguments).code == 0
        assert len((here / "s.csv").read_text().splitlines()) == 1
        return
    fails(*arguments, error=error)


@pytest.mark.slow
@pytest.mark.usefixtures("collections")
def test_align__how_surely(run, fails):
    arguments = ("align", "a.jsonl", "b.jsonl", *LEAST, "-o", "s.csv", "--overwrite")
    plain, lower, by_hashes = (
        json.loads(run(*arguments, "--json", *options).out)
        for options in ((), ("--recall", "0.95"), ("--hits", "60", "--num-perm", "128"))
    )
    assert plain["window_threshold"] == plain["threshold"] > lower["window_threshold"]
    assert lower["predicted_recall"] >= 0.95 > plain["predicted_recall"]
    assert by_hashes["predicted_recall"] <= plain["predicted_recall"]
    moved = f", or {lower['predicted_recall_moved']:.4f} if its words were moved"
    assert moved in run(*arguments, "--recall", "0.95").out
    assert "moved" not in run(*arguments).out
    hint = "; --recall 0.9 finds more"
    assert hint in run(*arguments).out
    assert hint not in run(*arguments, "--hits", "60").out
    error = "--seed has no effect without --hits; leave it out, or give --hits"
    fails(*arguments, "--seed", "3", error=error)


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
def test_align__bad_rows_come_once(run, write_file):
    write_file("bad.jsonl", '{"text": 3}\n{"text": "some words that are here"}\n')
    outcome = run("align", "bad.jsonl", "-o", "s.csv", "--on-error", "skip", "--json")
    assert json.loads(outcome.out)["skipped_rows"] == 1


@pytest.mark.usefixtures("collections")
def test_align__options_that_an_index_decides(fails, run):
    assert run("index", "build", "idx", "b.jsonl").code == 0
    error = "--seed has no effect with an index, which has its own; leave it out"
    arguments = ("align", "a.jsonl", "--against", "idx", "-o", "s.csv")
    for seed in (3, 0):
        fails(*arguments, "--seed", seed, error=error)
    error = "--strip-accents has no effect with an index, which has its own; leave it out"
    fails(*arguments, "--strip-accents", error=error)
    error = "--casefold has no effect with an index, which has its own; leave it out"
    fails(*arguments, "--no-casefold", error=error)


@pytest.mark.usefixtures("collections")
def test_align__no_casefold(run, here, write_file):
    """Upper and lower case differ if that is asked for."""
    write_file("loud.txt", SHARED.upper())
    for option, n_passages in (("--casefold", 1), ("--no-casefold", 0)):
        arguments = ("align", "loud.txt", "--against", "b.jsonl", *LEAST, option)
        assert run(*arguments, "-o", f"{option}.csv").code == 0
        assert len((here / f"{option}.csv").read_text().splitlines()) == 1 + n_passages


@pytest.mark.usefixtures("collections")
def test_align__output(fails, write_file):
    write_file("s.csv", "mine")
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "-o")
    error = "s.csv exists; choose another name, or replace it with --overwrite"
    fails(*arguments, "s.csv", error=error)
    write_file("c.jsonl", '{"text": "a"}\n')
    error = "c.jsonl is an input, and would be replaced; choose another name"
    fails("align", "a.jsonl", "--against", "c.jsonl", "-o", "c.jsonl", "--overwrite", error=error)


@pytest.mark.usefixtures("collections")
def test_align__folder_for_temporary_files(run, write_file):
    """What cannot be a folder is said before anything is read, also where none would be needed."""
    write_file("file", "")
    advice = "name another folder for temporary files with work (--work)"
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
    error = "idx/segments/s.jsonl is in the index idx; write it somewhere else"
    output = ("-o", "idx/segments/s.jsonl")
    fails("align", "a.jsonl", "--against", "idx", *output, error=error)
    assert run("index", "info", "idx").code == 0


@pytest.mark.usefixtures("collections")
def test_align__for(run, here):
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--for", "quotations")
    outcome = run(*arguments, "-o", "s.csv")
    first = "for quotations: threshold 0.6, passages of 15 tokens, 15 tokens between parts"
    assert outcome.out.splitlines()[0] == first
    assert len((here / "s.csv").read_text().splitlines()) == 2
    outcome = run(*arguments, "--threshold", "0.9", "--min-tokens", 12, "-o", "t.csv")
    first = "for quotations: threshold 0.9, passages of 12 tokens, 15 tokens between parts"
    assert outcome.out.splitlines()[0] == first


@pytest.mark.usefixtures("collections")
def test_align__for_with_an_index(run, here):
    run("index", "build", "idx", "b.jsonl", "--min-tokens", 8)
    outcome = run("align", "a.jsonl", "--against", "idx", "--for", "rewording", "-o", "s.csv")
    assert (
        outcome.out.splitlines()[0] == "for rewording: threshold 0.4, passages of 8 tokens; "
        "--min-tokens and --idf are those of the index"
    )


@pytest.mark.usefixtures("collections")
def test_places__in_tables_and_on_the_page(run, here, write_file):
    write_file("c.txt", f"Gen 1:1 In the beginning\nGen 1:2 and: {SHARED}\n")
    arguments = ("align", "a.jsonl", "--against", "b.jsonl", "--against", "c.txt", *LEAST)
    assert run(*arguments, "-o", "s.csv", "--places", "--report", "p.html").code == 0
    rows = list(csv.DictReader(io.StringIO((here / "s.csv").read_text(encoding="utf-8"))))
    assert [(row["query_place"], row["doc_place"]) for row in rows] == [
        ("line 1, column 17", "line 1, column 20"),
        ("line 1, column 17", "line 2, column 14"),
    ]
    assert "line 2, column 14, characters 38 to" in (here / "p.html").read_text(encoding="utf-8")
    verse = ("--place-marker", r"^(\w+ \d+:\d+)")
    said = run(*arguments, *verse, "-o", "v.xlsx").out
    assert "--place-marker matched for 0 of 2 places on the first side, 1 of 2 places on" in said
    found = json.loads(run(*arguments, *verse, "-o", "v.csv", "--json").out)
    assert found["marked_places"] == [0, 1]
    assert "place-marker" not in run(*arguments, "--place-marker", ".", "-o", "all.csv").out
    head, *cells = openpyxl.load_workbook(here / "v.xlsx").active.values
    place = head.index("place in document")
    assert [row[place] for row in cells] == ["line 1, column 20", "Gen 1:2"]
    # A table that was read back has them on its page, too.
    assert run("report", "v.xlsx", "-o", "again.html").code == 0
    assert "Gen 1:2, characters 38 to" in (here / "again.html").read_text(encoding="utf-8")
    run("index", "build", "idx", "c.txt", "--min-tokens", 8)
    write_file("q.txt", SHARED)
    searched = ("search", "idx", "q.txt", *verse, "-o", "found.jsonl", "--report", "found.html")
    outcome = run(*searched)
    assert (outcome.code, "for 0 of 1 place on the first side, 1 of" in outcome.out) == (0, True)
    assert "Gen 1:2, characters 38 to" in (here / "found.html").read_text(encoding="utf-8")
    [row] = rows_in(here / "found.jsonl")
    assert (row["query_place"], row["doc_place"]) == ("line 1, column 1", "Gen 1:2")


@pytest.mark.usefixtures("collections")
def test_places__refused(fails, run, here):
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
    summed = (*arguments, "--place-marker", "said", "--summary", "documents")
    assert run(*summed, "--report", "p.html").code == 0
    assert "said, characters 16 to" in (here / "p.html").read_text(encoding="utf-8")
    run("index", "build", "--kind", "documents", "idx", "b.jsonl")
    fails(
        *("search", "idx", "a.jsonl", "-o", "t.csv", "--places"),
        error="--places has no effect on an index of documents; leave it out, or search an index "
        "of passages",
    )
