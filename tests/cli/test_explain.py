"""``neardup explain``: a document of an output folder, as the texts there say."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import neardup
from tests.unit.jobs.explain.texts import make_texts

ROWS = [
    {"id": "a", "text": "one two three four five six seven eight", "score": 1},
    {"id": "b", "text": "One two three, four five six seven eight!", "score": 3},
    {"id": "c", "text": "one two three four five six seven nine", "score": 2},
    {"id": "d", "text": "nothing of that kind at all", "score": 0},
    {"id": "e", "text": "", "score": 0},
]
OPTIONS = ("--ngram", 2, "--threshold", 0.7)


def explain(run, *arguments):
    outcome = run("explain", *arguments, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


@pytest.fixture
def folder(run, write_file):
    write_file("in.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in ROWS))
    assert run("dedup", "in.jsonl", "-o", "out", *OPTIONS).code == 0
    return "out"


def test_went__for_whom_and_what_differs(run, here, folder):
    outcome = run("explain", folder, "c")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == (
        "c went for a, which comes before it and stays: jaccard similarity 0.7500, threshold 0.7"
    )
    assert "  it is in in.jsonl, row 3; 8 tokens, 7 shingles" in lines
    assert "  jaccard 0.7500: 6 shingles in common, of 7 and 7" in lines
    assert "  c: one two three four five six seven {-nine-}" in lines
    assert "  a: one two three four five six seven {+eight+}" in lines
    assert "       1  b: both went for a, which stands for either of them" not in lines
    assert "  0.7500  b: both went for a, which stands for either of them" in lines


def test_went__copy_of_other_characters(run, here, write_file):
    texts = ["left + amount is kept", "left - amount is kept", "left + amount is kept"]
    write_file("sums.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    run("dedup", "sums.jsonl", "-o", "sums")
    swapped, equal = (
        run("explain", "sums", f"sums.jsonl:{row}").out.splitlines() for row in (2, 3)
    )
    assert "it has the same tokens as sums.jsonl:1," in swapped[0]
    assert "no word differs, other characters do" in swapped
    assert "no word differs" in equal
    assert "(no word differs, other characters do)" in run("show", "sums").out


def test_terminal__texts_beside_each_other(run, here, folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = run("explain", folder, "c").out
    line = next(line for line in text.splitlines() if "seven" in line)
    assert "\x1b[31mnine\x1b[0m" in line
    assert line.index("nine") < line.index("eight")
    assert text.index("6 shingles in common") < text.index("nine") < text.index("most similar")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "{-nine-}" in run("explain", folder, "c").out


def test_stayed__what_went_for_it(run, here, folder):
    outcome = run("explain", folder, "a", "--closest", 0)
    assert outcome.out.splitlines() == [
        "a stayed: no document that it was compared with and that stays before it reaches the "
        "threshold of 0.7",
        "  it is in in.jsonl, row 1; 8 tokens, 7 shingles",
        "  cluster 0, of 3 documents",
        "",
        "2 documents went for it",
        "       1  b, the same tokens",
        "  0.7500  c",
    ]
    assert run("explain", folder, "e").out.startswith("e stayed: it has no tokens (words), and")


def test_with__rule_and_probability(run, here, folder):
    outcome = run("explain", folder, "d", "--with", "c", "--closest", 0)
    assert "  similarity 0, below the threshold of 0.7" in outcome.out.splitlines()
    assert "share one with a probability of 0 %" in outcome.out
    found = explain(run, folder, "b", "--with", "c")["with"]
    assert (found["rule"], found["comes_first"]) == ("same-keeper", False)
    assert found["evidence"]["probability"] == pytest.approx(0.97, abs=0.03)


def test_unknown_id__similar_ones_named(run, here, folder):
    outcome = run("explain", folder, "aa")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "error: no document has the id 'aa'; there is 'a'\n"
    outcome = run("explain", folder, "a", "--with", "zz")
    assert outcome.err == "error: no document has the id 'zz'; clusters.parquet has all ids\n"
    outcome = run("explain", folder, "a", "--with", "a")
    assert outcome.err == "error: 'a' is the document itself; name another one beside it\n"


def test_html__page_with_the_same(run, here, folder):
    assert run("explain", folder, "c", "--html", "c.html").out.endswith("written to c.html\n")
    page = (here / "c.html").read_text()
    assert "<h1>c was removed</h1>" in page
    assert "<del>nine</del>" in page
    assert "<ins>eight</ins>" in page
    outcome = run("explain", folder, "c", "--html", "c.html")
    assert outcome.code == 1
    assert "--overwrite" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output_format", "keep"), [("same", "first"), ("jsonl", "longest"), ("parquet", "max:score")]
)
def test_folder__same_as_in_memory(run, here, write_file, output_format, keep):
    """Every document, with the most similar ones; whatever the rows were written as."""
    rows = [
        {"id": number, "text": text, "score": len(text) % 7}
        for number, text in enumerate(make_texts(4, 24))
    ]
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    write_file("in/a.jsonl", b"".join(lines[:10]) + b'{"id": 999}\n' + b"".join(lines[10:15]))
    write_file("in/b/c.jsonl", b"".join(lines[15:]))
    options = ("--bands", 3, "--rows", 3, "--keep", keep, "--format", output_format)
    outcome = run("dedup", "in", "-o", "out", *OPTIONS, *options, "--on-error", "skip")
    assert outcome.code == 0, outcome.err
    result = neardup.deduplicate(
        here / "in", ngram=2, threshold="0.7", bands=3, rows=3, keep=keep, on_error="skip"
    )
    assert len(result.removed) > 5
    for row in rows:
        expected = json.loads(json.dumps(result.explain(row["id"]).to_dict()))
        assert explain(run, "out", row["id"]) == expected


@pytest.mark.slow
def test_against__files_or_index(run, here, write_file):
    texts = make_texts(6, 36)
    for name, part in (("old", texts[:18]), ("new", texts[18:])):
        rows = [{"id": number, "text": text} for number, text in enumerate(part)]
        write_file(f"{name}.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    run("index", "build", "idx", "old.jsonl", "--kind", "documents", *OPTIONS)
    for other, folder in (("old.jsonl", "by-file"), ("idx", "by-index")):
        options = OPTIONS if other != "idx" else ()
        assert run("dedup", "new.jsonl", "--against", other, "-o", folder, *options).code == 0
        gone = [
            row
            for row in pq.read_table(here / folder / "removed.parquet").to_pylist()
            if row["kept_in"] == "against"
        ]
        assert gone
        row = gone[0]
        alone = run("explain", folder, row["id"])
        assert "stays in any case" in alone.out
        assert "name its collection with --against" in alone.out
        assert "is not among those that this one was compared with here" in alone.out
        found = explain(run, folder, row["id"], "--against", other)
        assert found["notes"] == []
        assert found["keeper"]["evidence"]["similarity"] == pytest.approx(row["similarity"])
        assert found["keeper"]["document"]["is_in"] == "against"
        assert found["closest"]["compared_documents"] == 35


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run_options", "options"),
    [
        (("--against", "old.jsonl"), ("--against", "old.jsonl")),
        (("--against", "idx"), ("--against", "idx")),
        (("--idf", "unary", "--tf", "log"), ()),
    ],
    ids=["against", "index", "unary"],
)
def test_weighted__by_the_counts_of_the_run(run, here, write_file, run_options, options):
    """Without them no similarity is worked out, rather than a wrong one."""
    for name, part in (("old", make_texts(11, 18)), ("new", make_texts(5, 24))):
        rows = [{"id": f"{name}{number}", "text": text} for number, text in enumerate(part)]
        write_file(f"{name}.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    measure = ("--measure", "weighted-jaccard", "--threshold", 0.4)
    run("index", "build", "idx", "old.jsonl", "--kind", "documents", *measure)
    own = () if "idx" in run_options else measure
    assert run("dedup", "new.jsonl", "-o", "out", *own, *run_options).code == 0
    gone = [
        row
        for row in pq.read_table(here / "out/removed.parquet").to_pylist()
        if not row["exact_copy"] and row["kept_in"] == "input"
    ]
    assert gone
    for row in gone:
        found = explain(run, "out", row["id"], *options)
        assert found["notes"] == []
        assert found["keeper"]["evidence"]["similarity"] == row["similarity"]
        if options:
            lacking = explain(run, "out", row["id"])
            assert (lacking["notes"], lacking["keeper"]["evidence"]) == (["weights"], None)


def test_against__not_without_need(run, here, folder):
    outcome = run("explain", folder, "a", "--against", "in.jsonl")
    assert outcome.err == (
        "error: the documents were compared with no others; leave --against out\n"
    )
    outcome = run("explain", folder, "a", "--against-id-column", "id")
    assert outcome.err == (
        "error: --against-id-column has no effect without --against; leave it out, or give "
        "--against\n"
    )


def test_changed_folder__refused(run, here, folder):
    path = here / "out/kept/in.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    outcome = run("explain", folder, "d")
    assert (outcome.code, outcome.out) == (1, "")
    assert "it has been changed since: run `neardup dedup` again" in outcome.err


def test_other_order__refused(run, here, folder):
    path = here / "out/removed/in.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))
    outcome = run("explain", folder, "c")
    assert "it has been changed since: run `neardup dedup` again" in outcome.err


def test_changed_text__said(run, here, write_file):
    """Nothing fits any more; what does not is named as such, whatever copies there are."""
    texts = ["a b c d e f", "a b c d e q", "d e f x y z", "a b c d e f x", "A b c d e f x!"]
    rows = [{"id": number, "text": text} for number, text in enumerate(texts)]
    write_file("in.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    run("dedup", "in.jsonl", "-o", "out", "--ngram", 1, "--threshold", 0.4, "--method", "exact")
    path = here / "out/kept/in.jsonl"
    path.write_bytes(path.read_bytes().replace(b"a b c d e f", b"a b c"))
    outcome = run("explain", "out", 3, "--with", 2)
    assert "note: the similarity that was noted is another one: texts have changed" in outcome.out
    assert "buckets 3 should have gone for 2: the texts or tables have changed" in outcome.out
    assert explain(run, "out", 3, "--with", 2)["with"]["rule"] == "unexplained"


def test_hostile_ids_and_texts__shown_inert(run, here, write_file):
    name = "\x1b[31mred</script><b>"
    rows = [{"id": name, "text": "a b c \x1b[2J <script>x</script>"}, {"id": "x", "text": "a b c"}]
    write_file("in.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    run("dedup", "in.jsonl", "-o", "out", "--ngram", 1, "--threshold", 0.3)
    outcome = run("explain", "out", "x", "--html", "x.html")
    assert "went for \N{REPLACEMENT CHARACTER}[31mred" in outcome.out
    assert "\x1b" not in outcome.out
    page = (here / "x.html").read_text()
    assert page.count("<script>") == 1
    assert "\x1b" not in page


def test_html__is_no_file_that_was_read(run, here, folder, write_file):
    (here / folder / "kept/x.html").write_text("mine")
    outcome = run("explain", folder, "c", "--html", f"{folder}/kept/x.html", "--overwrite")
    assert outcome.code == 1
    assert f"x.html is in the folder {folder}; write it somewhere else" in outcome.err
    assert (here / folder / "kept/x.html").read_text() == "mine"
    write_file("other.html", "<p>mine</p>")
    outcome = run(
        *("explain", folder, "c", "--against", "other.html", "--html", "other.html", "--overwrite")
    )
    assert outcome.code == 1
    assert "other.html is an input, and would be replaced" in outcome.err


def test_changed_text__said_first(run, here, write_file):
    """Nothing is invented for a pair that is not similar any more."""
    rows = [{"id": k, "text": text} for k, text in enumerate(["a b c d e f", "a b c d e q"])]
    write_file("in.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    run("dedup", "in.jsonl", "-o", "out", "--ngram", 1, "--threshold", 0.5)
    path = here / "out/kept/in.jsonl"
    path.write_bytes(path.read_bytes().replace(b"a b c d e f", b"a v w x y z"))
    outcome = run("explain", "out", 1)
    assert outcome.out.startswith(
        "1 went for 0, but their texts are not those that were compared: a similarity of 0.7143 "
        "was noted, and it is 0.0909; the output was changed since"
    )
    assert explain(run, "out", 1)["reason"] == "texts-changed"


def test_unknown_id__rows_that_were_left_out_are_told(run, write_file):
    write_file("a.jsonl", b'{"id": "x", "text": "a b"}\n{"id": "y", "text": ""}\n{"id": "zz"}\n')
    assert run("dedup", "a.jsonl", "-o", "out", "--where", "id < 'z'").code == 0
    outcome = run("explain", "out", "zz")
    assert outcome.err == (
        "error: no document has the id 'zz'; clusters.parquet has all ids; 1 row did not meet "
        "--where\n"
    )
