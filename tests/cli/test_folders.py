"""``--document folder``: programs and books of several files, in every command that reads them."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.spilling import files_of, make_rows, spilling, stopped_after

PROGRAM = ("--document", "folder", "--input-format", "text")


def words(seed: int, n: int = 60) -> str:
    """Make lines of six words."""
    draw = random.Random(seed)
    drawn = [f"w{draw.randrange(10**6)}" for _ in range(n)]
    return "".join(" ".join(drawn[i : i + 6]) + "\n" for i in range(0, n, 6))


@pytest.fixture
def students(write_file):
    """Make programs of several files, of which two have parts in common; all have a header."""
    header = words(0)
    write_file("subs/alice/src/a.py", header + words(1))
    write_file("subs/alice/src/b.py", words(2) + header)
    write_file("subs/bob/main.py", "# mine\n" + words(3) + words(2))
    write_file("subs/bob/util/more.py", "\n\n" + words(1) + words(4))
    write_file("subs/carol/x.py", words(5))
    write_file("subs/carol/pic.png", b"\x89PNG\r\n\0\0")
    return "subs"


@pytest.fixture
def books(write_file):
    """Make a book in chapters, the same in one file, and another one."""
    chapters = [words(seed) for seed in (11, 12, 13)]
    for number, chapter in enumerate(chapters, 1):
        write_file(f"books/chapters/{number}.txt", chapter)
    write_file("books/whole/all.txt", "\n".join(chapters))
    write_file("books/other/1.txt", words(14))
    write_file("books/other/2.txt", words(12))
    return "books"


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def said(rows: list[dict[str, str]]) -> list[tuple[str, ...]]:
    names = ("query_id", "query_place", "doc_id", "doc_place")
    return [tuple(row[name] for name in names) for row in rows]


SHARED = [
    ("alice", "src/a.py, line 11, column 1", "bob", "util/more.py, line 3, column 1"),
    ("alice", "src/b.py, line 1, column 1", "bob", "main.py, line 12, column 1"),
]


FUNCTION = """def mean(values):
    # Of all values.
    total = 0
    for value in values:
        total += value
    return total / len(values) if len(values) > 0 else None
"""


def test_align__programs_by_the_endings_of_their_files(run, here, write_file):
    """Names and comments do not count; what is no program is passed over."""
    write_file("subs/alice/src/a.py", FUNCTION)
    write_file("subs/bob/b.py", FUNCTION.replace("total", "s").replace("# Of all", "# it's of"))
    write_file("subs/bob/notes.txt", FUNCTION)
    arguments = ("align", "subs", "--document", "folder", "--preset", "code", "-o", "out.csv")
    outcome = run(*arguments, "--min-tokens", 20)
    assert outcome.code == 0, outcome.err
    assert said(read_rows(here / "out.csv")) == [
        ("alice", "src/a.py, line 1, column 1", "bob", "b.py, line 1, column 1")
    ]
    write_file("subs/carol/C.java", "class C { int one() { return 1; } }")
    outcome = run(*arguments, "--overwrite")
    assert outcome.code == 1
    assert "such as --tokenizer code:java" in outcome.err
    assert run(*arguments, "--overwrite", "--tokenizer", "code:java").code == 0


@pytest.mark.parametrize("memory", [None, 20_000])
def test_align__students(run, students, here, memory):
    """No student is aligned with himself, though he has a text twice."""
    arguments = ("align", students, *PROGRAM, "-o", "out.csv", "--min-tokens", 20)
    if memory is None:
        outcome = run(*arguments)
    else:
        with spilling(memory):
            outcome = run(*arguments)
    assert (outcome.code, outcome.out.startswith("3 documents: 2 passages in 2 ")) == (0, True)
    assert "1 file passed over: .png 1" in outcome.out
    rows = read_rows(here / "out.csv")
    assert sorted(said(rows)) == SHARED
    whole = {
        "alice": "src/a.py src/b.py",
        "bob": "main.py util/more.py",
    }
    for row in rows:
        texts = []
        for side in ("query", "doc"):
            files = [
                here / students / row[f"{side}_id"] / name
                for name in whole[row[f"{side}_id"]].split()
            ]
            text = "\n\n".join(file.read_text() for file in files)
            texts.append(text[int(row[f"{side}_start"]) : int(row[f"{side}_end"])])
        assert texts[0].split() == texts[1].split()
        assert len(texts[0].split()) == 60


def test_align__two_collections_and_a_page(run, students, here):
    arguments = ("align", "subs/alice/src", "--against", "subs/bob/*", *PROGRAM, "--min-tokens", 20)
    assert run(*arguments, "-o", "out.csv").code == 0
    found = said(read_rows(here / "out.csv"))
    # Files beside a folder that matches are documents by themselves.
    assert sorted(found) == [
        ("src", "a.py, line 11, column 1", "util", "more.py, line 3, column 1"),
        ("src", "b.py, line 1, column 1", "main.py", "line 12, column 1"),
    ]
    both = ("subs/alice/src", "--against", "subs/bob/*", *PROGRAM)
    assert run("report", "out.csv", *both, "-o", "page.html").code == 0
    page = (here / "page.html").read_text()
    assert "more.py, line 3, column 1" in page
    assert "b.py, line 1, column 1" in page


def test_align__places_of_markers(run, here, write_file):
    write_file("books/a/1.txt", "Chapter 1\n" + words(1))
    write_file("books/a/2.txt", words(2) + "Chapter 2\n" + words(3))
    write_file("books/b/1.txt", words(3) + words(2))
    marker = ("--place-marker", r"^Chapter \d")
    assert run("align", "books", "--document", "folder", "-o", "o.csv", *marker).code == 0
    assert sorted(said(read_rows(here / "o.csv"))) == [
        ("a", "2.txt, Chapter 1", "b", "1.txt, line 11, column 1"),
        ("a", "2.txt, Chapter 2", "b", "1.txt, line 1, column 1"),
    ]


def test_align__passage_over_the_files_of_a_book(run, books, here):
    assert run("align", books, "--document", "folder", "-o", "out.csv").code == 0
    [row] = [row for row in read_rows(here / "out.csv") if row["doc_id"] == "whole"
             and row["query_id"] == "chapters"]  # fmt: skip
    assert row["similarity"] == "1.0"
    assert said([row]) == [
        ("chapters", "1.txt, line 1, column 1", "whole", "all.txt, line 1, column 1")
    ]


def test_index__keeps_the_files(run, students, here, write_file):
    build = ("index", "build", "idx", "subs/alice*", *PROGRAM, "--min-tokens", 20)
    assert run(*build).code == 0
    assert run("index", "add", "idx", "subs/carol*", *PROGRAM).code == 0
    # Also with documents that are no folders.
    write_file("plain.txt", words(4))
    assert run("index", "add", "idx", "plain.txt").code == 0
    for change in ((), ("compact", "idx"), ("remove", "idx", "carol"), ("compact", "idx")):
        if change:
            assert run("index", *change).code == 0
        search = ("search", "idx", "subs/bob/util/more.py", "--input-format", "text", "--places")
        assert run(*search, "-o", "s.csv", "--overwrite", "--threshold", "0.3").code == 0
        assert said(read_rows(here / "s.csv")) == [
            ("more.py", "line 3, column 1", "alice", "src/a.py, line 11, column 1"),
            ("more.py", "line 3, column 1", "plain.txt", "line 1, column 1"),
        ]
        align = ("align", "subs/bo*", "--against", "idx", *PROGRAM)
        assert run(*align, "-o", "a.csv", "--overwrite").code == 0
        found = [(two[2], two[3], *two[:2]) for two in said(read_rows(here / "a.csv"))]
        assert [two for two in sorted(found) if two[0] == "alice"] == SHARED


def test_pairs__book_in_chapters_is_an_exact_copy(run, books, here):
    assert run("pairs", books, "--document", "folder", "-o", "out.csv").code == 0
    [row] = read_rows(here / "out.csv")
    assert (row["id_a"], row["id_b"], row["similarity"]) == ("chapters", "whole", "1.0")


@pytest.mark.parametrize("memory", [None, 20_000])
def test_dedup__files_stay_as_they_are(run, books, here, memory):
    with spilling(memory or 10**9):
        outcome = run("dedup", books, "--document", "folder", "-o", "out")
    assert outcome.out.startswith("3 documents: 2 kept, 1 removed (1 exact copy, ")
    for side, names in (
        ("kept", ("chapters/1.txt", "chapters/2.txt", "chapters/3.txt", "other/1.txt")),
        ("removed", ("whole/all.txt",)),
    ):
        for name in names:
            assert (here / "out" / side / name).read_bytes() == (here / books / name).read_bytes()
    [row] = pq.read_table(here / "out/removed.parquet").to_pylist()
    assert (row["id"], row["kept_id"], row["file"]) == ("whole", "chapters", "whole")
    # Its documents are found again.
    explained = run("explain", "out", "whole")
    assert (explained.code, "it has the same tokens\n" in explained.out) == (0, True)
    assert run("report", "out", "-o", "page.html").code == 0
    assert words(11).splitlines()[0] in (here / "page.html").read_text()
    again = run("dedup", "out/kept", "--document", "folder", "-o", "again")
    assert again.out.startswith("2 documents: 2 kept, 0 removed")


def test_dedup__folder_in_the_folder_of_another_document(run, books, here, write_file):
    """Files of a document are not those of another one below it, also where it was written."""
    write_file("books/other/deep/1.txt", words(15))
    outcome = run("dedup", "books/**/*.txt", "--document", "folder", "-o", "out")
    assert outcome.out.startswith("4 documents: 3 kept, 1 removed")
    explained = run("explain", "out", "other")
    assert explained.code == 0
    from neardup.stages.output import open_output

    assert open_output(here / "out").texts("kept", "other", [1]) == [words(14) + "\n\n" + words(12)]
    assert open_output(here / "out").texts("kept", "other/deep", [1]) == [words(15)]


@pytest.mark.parametrize("ending", [".txt", ".html"])
def test_dedup__texts_that_are_extracted(run, here, write_file, ending):
    """Each file keeps the text that came out of it for later passes."""
    for book in "ab":
        for chapter in (1, 2):
            end = "another" if (book, chapter) == ("b", 2) else "last"
            write_file(f"books/{book}/{chapter}{ending}", f"{words(chapter)}{end}")
    assert run("dedup", "books", "--document", "folder", "-o", "out").code == 0
    [row] = pq.read_table(here / "out/removed.parquet").to_pylist()
    assert (row["id"], row["similarity"]) == ("b", 117 / 119)


def test_dedup__as_json_lines(run, books, here):
    arguments = ("dedup", books, "--document", "folder", "-o", "out", "--format", "jsonl")
    assert run(*arguments).code == 0
    [line] = (here / "out/removed/whole.jsonl").read_text().splitlines()
    assert json.loads(line) == {"text": (here / books / "whole/all.txt").read_text()}
    assert run("explain", "out", "whole").code == 0


def test_dedup__goes_on_unless_a_file_has_changed(run, here, write_file):
    for number, row in enumerate(make_rows(1, 60, chain=20)):
        write_file(f"books/{number}/1.txt", row["text"])
        write_file(f"books/{number}/2.txt", str(row["text"]) + " more")
    job = ("dedup", "books", "--document", "folder", "-o", "out", "--overwrite")
    assert run(*job).code == 0
    expected = files_of(here / "out")

    for has_changed in (False, True):
        with spilling(30_000):
            with stopped_after(2):
                assert run(*job).code == 130
            if has_changed:
                write_file("books/7/2.txt", words(1))
            goes_on = "continuing a stopped run" in run(*job).err
        assert (goes_on, files_of(here / "out") == expected) == (not has_changed, not has_changed)


def test_cut__takes_files_alone(students, fails):
    fails(
        *("cut", students, *PROGRAM, "-o", "out", "--min-tokens", "5"),
        error="subs/alice: text cannot be cut out of the files of a folder, whose bytes stay as "
        "they are; cut it out of its text, which dedup writes with --format jsonl",
    )


def test_sketch__and_where(run, books, here):
    where = ("--where", "length(text) > 1000")
    arguments = ("sketch", books, "--document", "folder", *where, "-o", "s.parquet")
    assert run(*arguments).code == 0
    assert pq.read_table(here / "s.parquet")["id"].to_pylist() == ["chapters", "whole"]


def test_bad_file__skips_its_folder(run, students, here, write_file, fails):
    write_file("subs/bob/util/bad.py", b"caf\xe9")
    error = (
        "subs/bob/util/bad.py, row 1: not valid UTF-8 at byte 4 of column 'text'; if it is in "
        "cp1252, as programs for Windows write it, or in Latin-1, read it with --encoding "
        "cp1252"
    )
    fails("dedup", students, *PROGRAM, "-o", "out", error=error)
    outcome = run("dedup", students, *PROGRAM, "-o", "out", "--on-error", "skip")
    assert outcome.out.startswith("2 documents: 2 kept")
    [skipped] = json.loads((here / "out/summary.json").read_text())["skipped"]
    assert skipped["reason"].startswith("util/bad.py: not valid UTF-8 at byte 4")
    assert (here / "out/skipped/bob/util/bad.py").read_bytes() == b"caf\xe9"
    assert (here / "out/skipped/bob/main.py").exists()


def test_errors(run, students, here, write_file, fails):
    write_file("subs/bob/rows.jsonl", '{"text": "a"}\n')
    fails(
        *("align", students, "--document", "folder", "-o", "out.csv"),
        error="subs/bob/rows.jsonl: each of its rows is a document, and --document folder "
        "makes one of a folder's files; leave it out, name the files by a "
        "pattern such as 'subs/**/*.txt', or read all as text with --input-format text",
    )
    write_file("subs/alice/src/a.csv", "a text")
    fails(
        *("align", students, *PROGRAM, "-o", "subs/alice/src/a.csv", "--overwrite"),
        error="subs/alice/src/a.csv is an input, and would be replaced; choose another name",
    )
