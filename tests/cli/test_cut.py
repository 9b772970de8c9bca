"""``neardup cut`` on the command line: its files, what it says, and what it refuses."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

NOTICE = " ".join(f"word{i}" for i in range(30))
TEXTS = [f"Start. {NOTICE}: end", f"other, “{NOTICE}”. Fin", f"third {NOTICE}", "short 🙂"]
ROWS = [{"id": f"d{i}", "text": text, "n": i} for i, text in enumerate(TEXTS)]
CUT = ("cut", "a.jsonl", "--id-column", "id", "-o", "out")
LEAST = ("--min-tokens", 20)


@pytest.fixture(autouse=True)
def files(write_file):
    """A collection, and another one."""
    write_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    write_file("b.jsonl", json.dumps({"id": "o", "text": f"against {NOTICE} x"}) + "\n")


def kept_texts(here):
    lines = (here / "out/kept/a.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def removed(here):
    return pq.read_table(here / "out/removed.parquet").to_pylist()


@pytest.mark.parametrize("how", [("--exact",), ()])
def test_cut__files_and_report(run, here, how):
    outcome = run(*CUT, *LEAST, *how)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "2 spans cut from 2 of 4 documents: 402 characters of 643 bytes of text"
    assert lines[1] == "repeated most:"
    assert lines[2].startswith("  2 copies in 2 documents: “word0 word1 ")
    assert lines[2].endswith("…")
    assert lines[-1].startswith("written to out in ")
    assert ("every passage with similarity 0.8 or more is found" in outcome.out) == (not how)
    out = here / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "kept", "removed.parquet", "summary.json"
    ]  # fmt: skip
    assert kept_texts(here) == [TEXTS[0], "other, Fin", "third ", TEXTS[3]]
    assert [list(row.values()) for row in removed(here)] == [
        ["d1", 7, 7 + len(NOTICE) + 4, "d0", 7, 7 + len(NOTICE), 1.0, "a.jsonl", 2, "input"],
        ["d2", 6, 6 + len(NOTICE), "d0", 7, 7 + len(NOTICE), 1.0, "a.jsonl", 3, "input"],
    ]
    summary = json.loads((out / "summary.json").read_text())
    names = ("documents_in", "documents_cut", "spans", "characters_removed", "short_documents")
    assert [summary[name] for name in names] == [4, 2, 2, 402, 1]
    assert (summary["exact"], summary["threshold"]) == ((True, 1.0) if how else (False, 0.8))
    assert (summary["unit"], summary["min_tokens"], summary["keep"]) == ("passages", 20, "first")
    [most] = summary["most_repeated"]
    assert (most["copies"], most["documents"], most["characters"]) == (2, 2, 402)
    assert most["text"] == TEXTS[1][7:207]


@pytest.mark.parametrize("unit", ["lines", "paragraphs"])
def test_cut__units(run, here, write_file, unit):
    rows = [{"id": i, "text": f"own {i}\n\n{NOTICE}\n\nlast {i} of all that stay"} for i in "abc"]
    write_file("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert run(*CUT, "--unit", unit).code == 0
    expected = [rows[0]["text"], *(row["text"].replace(f"{NOTICE}\n", "", 1) for row in rows[1:])]
    if unit == "paragraphs":
        expected[1:] = [text.replace("\n\n\n", "\n\n") for text in expected[1:]]
    assert [text.replace("\n\n\n", "\n\n") for text in kept_texts(here)] == [
        text.replace("\n\n\n", "\n\n") for text in expected
    ]
    assert [row["kept_id"] for row in removed(here)] == ["a", "a"]


@pytest.mark.parametrize("how", [("--exact",), ("--threshold", "0.9")])
def test_cut__against(run, here, how):
    outcome = run(*CUT, "--against", "b.jsonl", *LEAST, *how, "--replacement", "[cut] ")
    assert outcome.code == 0
    assert kept_texts(here) == [
        "Start. [cut] end", "other, [cut] Fin", "third [cut] ", TEXTS[3]
    ]  # fmt: skip
    assert {(row["kept_id"], row["kept_start"], row["kept_in"]) for row in removed(here)} == {
        ("o", 8, "against")
    }


@pytest.mark.parametrize("kind", ["documents", "passages"])
def test_cut__against_an_index(run, here, kind):
    run("index", "build", "idx", "b.jsonl", "--id-column", "id", "--kind", kind)
    outcome = run(*CUT, "--against", "idx", *LEAST, "--exact")
    assert (outcome.code, outcome.err) == (0, "")
    assert [row["id"] for row in removed(here)] == ["d0", "d1", "d2"]


def test_cut__empty_files(run, here, write_file):
    write_file("a.jsonl", "")
    for how in ((), ("--exact",), ("--unit", "lines"), ("--against", "b.jsonl")):
        outcome = run(*CUT, *how, "--overwrite")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.startswith("0 spans cut from 0 of 0 documents")
        assert (here / "out/kept/a.jsonl").read_bytes() == b""
        assert removed(here) == []
    write_file("a.jsonl", json.dumps(ROWS[0]) + "\n")
    write_file("b.jsonl", "")
    for how in ((), ("--exact",), ("--unit", "lines")):
        assert run(*CUT, *how, "--against", "b.jsonl", "--overwrite").code == 0
        assert removed(here) == []


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--exact", "--threshold", "0.9"),
         "--threshold has no effect with --exact; leave it out, or leave out --exact"),
        (("--exact", "--seed", "1"),
         "--seed has no effect with --exact; leave it out, or leave out --exact"),
        (("--recall", "1", "--seed", "3"),
         "--seed has no effect with a --recall of 1; leave it out, or ask for less"),
        (("--against", "b.jsonl", "--keep", "longest"),
         "--keep has no effect with --against; leave it out, or cut INPUT alone"),
        *((("--unit", "lines", name, "0.9" if name != "--num-perm" else "64"),
           f"{name} has no effect with --unit lines, compared by equality; leave it out, or cut "
           "passages") for name in ("--threshold", "--recall", "--num-perm")),
        (("--unit", "lines", "--preset", "ocr"),
         "a --preset of cut is for passages; leave out --unit, or the --preset"),
        (("--against-id-column", "id"),
         "--against-id-column has no effect without --against; leave it out, or give --against"),
        (("--min-documents", "1"), "--min-documents must be at least 2, got 1"),
        (("--against", "none.jsonl"), "none.jsonl: no such file"),
    ],
)  # fmt: skip
def test_cut__refuses(fails, options, error):
    fails(*CUT, *options, error=error)
