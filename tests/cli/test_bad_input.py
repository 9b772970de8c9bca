"""What bad input gets: one line that says what, where and what to do, and nothing written."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.files import streams
from neardup.files.formats import KNOWN_SUFFIXES

GOOD = b'{"text": "one", "id": "a"}\n'

COLUMNS = "columns are 'id', 'body'; name another with --text-column"
SKIP = "; skip bad rows with --on-error skip"
CP1252 = (
    "; if it is in cp1252, as programs for Windows write it, or in Latin-1, read it with "
    "--encoding cp1252"
)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        (
            "a.jsonl",
            b'{"text": "x"}\n\n{"id": 1, "body": "y"}\n',
            f"a.jsonl, row 3: {COLUMNS}{SKIP}",
        ),
        ("a.json", b'[{"text": "x"}, {"id": 1, "body": "y"}]', f"a.json, row 2: {COLUMNS}{SKIP}"),
        ("a.csv", b"id,body\n1,y\n", f"a.csv: {COLUMNS}"),
        ("a.tsv.gz", b"id\tbody\n1\ty\n", f"a.tsv.gz: {COLUMNS}"),
    ],
)
def test_dedup__missing_column(fails, write_file, name, content, error):
    write_file(name, content)
    error = error.replace(": columns", ": no column 'text'; columns")
    fails("dedup", name, "-o", "out", error=error)


def test_dedup__first_row_is_bad(fails, write_file):
    """Then all may be, by a wrong column."""
    write_file("a.jsonl", b'{"text": 5}\n{"text": "x"}\n')
    error = (
        "a.jsonl, row 1: column 'text' holds a number, not text; name another column, or skip bad "
        "rows with --on-error skip"
    )
    fails("dedup", "a.jsonl", "-o", "out", error=error)


@pytest.mark.parametrize(
    "command",
    ["dedup", "pairs", "sketch", "index build", "search idx", "align --against idx", "drop"],
)
def test_every_command__bad_row_among_good_ones(run, write_file, command):
    write_file("good.jsonl", GOOD)
    write_file("ids.txt", "a\n")
    write_file("a.jsonl", GOOD + b'{"text": 5, "id": "b"}\n')
    assert run("index", "build", "idx", "good.jsonl").code == 0
    output = {
        "dedup": "-o out", "drop": "-o out --named-in ids.txt", "sketch": "-o a.parquet",
        "index build": "",
    }.get(command, "-o a.csv").split()  # fmt: skip
    words = [*command.split(), *(["new"] if command == "index build" else []), "a.jsonl", *output]
    assert run(*words).err == (
        f"error: a.jsonl, row 2: column 'text' holds a number, not text{SKIP}\n"
    )
    assert run(*words, "--on-error", "skip", "--id-column", "id").code == 0


def test_dedup__repeated_id(fails, write_file):
    write_file("in/a.jsonl", b'{"text": "x", "id": "k"}\n{"text": "y", "id": "l"}\n')
    write_file("in/b.csv", b"id,text\nm,z\n\nl,z\n")
    fails(
        "dedup", "in", "-o", "out", "--id-column", "id",
        error="b.csv, row 2: id 'l' was used before, in a.jsonl, row 2; ids must differ"
        "; name another column with --id-column, or '' for <file>:<row>",
    )  # fmt: skip


BAD_ROWS = [
    (
        "a.jsonl",
        b'{"text": "x"}\n{"text": "\xff"}\n{"text": "X"}\n',
        f"a.jsonl, row 2: not valid UTF-8 at byte 11 of the row{CP1252}",
    ),
    (
        "a.jsonl.zst",
        b'{"text": "x"}\n{"text": x"}\n{"text": "X"}\n',
        "a.jsonl.zst, row 2: not a JSON object: Expecting value at character 10",
    ),
    (
        "a.csv",
        b"text\nx\n\xff\nX\n",
        f"a.csv, row 2: not valid UTF-8 at byte 1 of column 'text'{CP1252}",
    ),
    (
        "a.csv",
        b"id,text\n1,x\n2,y,z\n3,X\n",
        "a.csv, row 2: expected 2 fields as in the header, got 3",
    ),
]


@pytest.mark.parametrize(("name", "content", "error"), BAD_ROWS)
def test_dedup__bad_row(fails, write_file, name, content, error):
    write_file(name, content)
    fails("dedup", name, "-o", "out", error=error + SKIP)


@pytest.mark.parametrize(("name", "content", "error"), BAD_ROWS)
def test_dedup__bad_row_skipped(run, here, write_file, read_content, name, content, error):
    write_file(name, content)
    outcome = run("dedup", name, "-o", "out", "--on-error", "skip", "--id-column", "")
    assert (outcome.code, outcome.err) == (0, "")
    said = "\n1 bad row skipped; see skipped/ and skipped.parquet (reasons)\n"
    assert said in outcome.out
    summary = json.loads((here / "out/summary.json").read_text())
    assert (summary["documents_in"], summary["documents_removed"]) == (2, 1)
    # What is stored names options as Python does.
    reason = error.partition("row 2: ")[2].replace("--encoding", "encoding")
    assert summary["skipped"] == [{"file": name, "row": 2, "reason": reason}]
    # The bad row is in a file by itself, as it is; the copy is removed.
    head = content[: content.index(b"\n") + 1] if name == "a.csv" else b""
    kept, bad, gone = content.removeprefix(head).splitlines(keepends=True)
    for side, row in {"kept": kept, "skipped": bad, "removed": gone}.items():
        assert read_content(here / "out" / side / name) == head + row
    table = pq.read_table("out/skipped.parquet").to_pylist()
    assert table == [{"file": name, "row": 2, "reason": reason}]
    assert pq.read_table("out/removed.parquet")["id"].to_pylist() == [f"{name}:3"]
    assert pq.read_table("out/clusters.parquet")["id"].to_pylist() == [f"{name}:1", f"{name}:3"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "binary data, not text; leave it out"),
        (gzip.compress(GOOD, mtime=0), "compressed data, not text; let its name end in .gz"),
        (
            b"PAR1\x15\xff\n",
            "a file of format parquet, not text; read it with --input-format parquet",
        ),
    ],
)
def test_dedup__file_of_another_kind(run, write_file, name, content, kind):
    write_file(name, content)
    outcome = run("dedup", name, "-o", "out")
    assert outcome.code == 1
    assert f": this is {kind}" in outcome.err
    assert "latin-1" not in outcome.err


@pytest.mark.parametrize("options", [("a.jsonl",), ("a.json",), ("a.txt", "--document", "line")])
def test_dedup__rows_in_utf16(fails, write_file, options):
    write_file(options[0], GOOD.decode().encode("utf-16"))
    remedy = "convert it, for example with: iconv -f utf-16 -t utf-8 FILE"
    error = f"{options[0]}: the file begins with the byte-order mark of UTF-16; {remedy}"
    fails("dedup", *options, "-o", "out", error=error)


@pytest.mark.parametrize("suffix", ["gz", "zst", "xz", "bz2"])
def test_dedup__truncated_compressed_file(fails, write_file, suffix):
    rows = "".join(json.dumps({"text": f"row {i * i}"}) + "\n" for i in range(2000))
    path = write_file(f"a.jsonl.{suffix}", rows)
    path.write_bytes(path.read_bytes()[:-500])
    error = (
        f"a.jsonl.{suffix}: the compressed data end too early; the file is incomplete, get a full "
        "copy"
    )
    fails("dedup", path.name, "-o", "out", error=error)


def test_dedup__truncated_parquet(fails, here):
    pq.write_table(pa.table({"text": ["a b c"] * 100}), "a.parquet")
    data = Path("a.parquet").read_bytes()
    for length in (len(data) - 10, 20):
        Path("a.parquet").write_bytes(data[:length])
        fails(
            "dedup", "a.parquet", "-o", "out",
            error="a.parquet: not a Parquet file that Arrow can read: Parquet magic bytes not "
            "found in footer. Either the file is corrupted or this is not a parquet file.",
        )  # fmt: skip


def test_dedup__parquet_damaged_inside(run, here):
    texts = [f"{i} {i * i} a b c" for i in range(3000)]
    pq.write_table(pa.table({"text": texts}), "a.parquet", compression="zstd")
    data = bytearray(Path("a.parquet").read_bytes())
    data[4:300] = bytes(296)
    Path("a.parquet").write_bytes(data)
    outcome = run("dedup", "a.parquet", "-o", "out")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error: a.parquet: ")
    assert outcome.err.count("\n") == 1
    assert [path.name for path in here.iterdir()] == ["a.parquet"]


NOTHING = f"no file of a known format in {{}}; a name ends in one of {KNOWN_SUFFIXES}"


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        ("nope.jsonl", "nope.jsonl: no such file"),
        ("nope", "nope: no such file"),
        ("*.csv", "no file matches the pattern '*.csv'"),
        ("empty", NOTHING.format("'empty'")),
        # A folder with the name of a file is a folder.
        ("x.jsonl", NOTHING.format("'x.jsonl'")),
        (
            "a.rtf",
            "a.rtf, row 1: this is an RTF document, not text; convert it to text, for "
            "example with pandoc",
        ),
        (
            "a.pdf",
            "a.pdf, row 1: not a PDF document that can be read: Failed to load document (PDFium: "
            "Data format error).; get a full copy",
        ),
        (
            "pipe.jsonl",
            "pipe.jsonl: expected a regular file, which can be read more than once; send a pipe to "
            "standard input and name it -",
        ),
        ("dangling.jsonl", "dangling.jsonl: no such file"),
    ],
)
def test_input__not_there(fails, here, write_file, argument, error):
    (here / "empty").mkdir()
    (here / "x.jsonl").mkdir()
    os.mkfifo("pipe.jsonl")
    os.symlink("nowhere.jsonl", "dangling.jsonl")
    (here / "a.pdf").write_bytes(b"%PDF-1.7")
    (here / "a.rtf").write_bytes(b"{\\rtf1 \xff")
    if argument == "pipe.jsonl":
        # Only here, since listing a folder with a pipe in it would wait for a writer.
        os.rename("pipe.jsonl", "empty/pipe.jsonl")
        argument, error = f"empty/{argument}", f"empty/{error}"
    else:
        os.remove("pipe.jsonl")
    fails("dedup", "-o", "out", argument, error=error)


def test_input__no_permission(fails, here, write_file, monkeypatch):
    write_file("a.jsonl", GOOD)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    # Taking the permission away would not stop the superuser.
    monkeypatch.setattr(streams, "_open_raw", refuse)
    fails("dedup", "a.jsonl", "-o", "out", error="a.jsonl: no permission to read this file")


def test_input__disk_fails(fails, here, write_file, monkeypatch):
    write_file("a.jsonl", GOOD)

    class Broken(io.BytesIO):
        def readinto(self, _: object) -> int:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(streams, "_open_raw", lambda *_: Broken())
    fails("dedup", "a.jsonl", "-o", "out", error="a.jsonl: cannot be read: Input/output error")


def test_input__changes_while_it_is_read(run, here, write_file, monkeypatch):
    path = write_file("a.jsonl", GOOD * 3)

    def add_a_row(_: object, stage: str, done: int, total: int | None) -> None:
        if stage == "read" and done:
            path.write_bytes(GOOD * 5)

    monkeypatch.setattr("neardup.runs.progress.Display.__call__", add_a_row)
    outcome = run("dedup", "a.jsonl", "-o", "out", "--id-column", "")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "error: a.jsonl: the file has changed since it was first read; run again when it is at "
        "rest\n"
    )
    assert [path.name for path in here.iterdir()] == ["a.jsonl"]


def test_dedup__file_name_not_unicode(fails):
    with open(b"n\xff.jsonl", "wb") as file:
        file.write(b'{"text": "a b"}\n')
    error = "the file name is not valid UTF-8, rename it: n\\xff.jsonl"
    fails("dedup", ".", "-o", "out", error=error)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "\udcff"),
        ("-o", "out", "--where", "\udcff"),
        ("-o", "out", "--text-column", "\udcff"),
    ],
)
def test_dedup__argument_not_unicode(fails, write_file, arguments):
    write_file("a.jsonl", GOOD)
    error = "an argument is not valid UTF-8: \\xff; rename the file, or convert the text"
    fails("dedup", "a.jsonl", *arguments, error=error)


def test_dedup__converted_names_meet(fails, write_file):
    write_file("in/a.jsonl", GOOD)
    write_file("in/a.csv", b"text\nx\n")
    error = (
        "'a.csv' and 'a.jsonl' would both be written as 'a.parquet'; rename one, or write the "
        "inputs' formats with --format same"
    )
    fails("dedup", "in", "-o", "out", "--format", "parquet", error=error)


@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        (b'{"text": "a"}\n{"text": 5}\n', (), ", row 2: column 'text' holds a number, not text"),
        (
            b"a\n\xff\n",
            (
                "--document",
                "line",
            ),
            f", row 2: not valid UTF-8 at byte 1 of column 'text'{CP1252}",
        ),
    ],
)
def test_dedup__bad_row_of_standard_input(fails, monkeypatch, content, options, error):
    """The error names standard input, not the file that it is copied to."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    fails("dedup", "-", "-o", "out", *options, error=f"standard input{error}{SKIP}")
