"""Options that say what input files hold, in every command that has them."""

from __future__ import annotations

import pytest

import neardup
from tests.documents import xlsx_of

GOOD = b'{"text": "one two three", "id": "a"}\n'
COMMANDS = [
    "dedup {} -o out",
    "dedup {} --against {} -o out",
    "pairs {} -o out.csv",
    "pairs {} --against {} -o out.csv",
    "index build new {}",
    "index add idx {}",
    "search idx {} -o out.csv",
    "align {} --against idx -o out.csv",
    "align {} --against {} -o out.csv",
    "drop {} --named-in ids.txt --missing ignore -o out",
    "sketch {} -o out.parquet",
]
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def index(here, write_file, once):
    once(lambda: neardup.PassageIndex.create(here / "idx", min_tokens=2).add(["one two three"]))
    write_file("ids.txt", "nothing\n")


@pytest.fixture
def mixed(index, write_file):
    """Make a folder of files of many kinds."""
    for name in ("a.txt", "b.md", "c.py", "d.log", "e", "x/f.md"):
        write_file(f"mixed/{name}", f"{name} one two three\n")
    write_file("mixed/z.rtf", b"{\\rtf1 \xff")
    return "mixed"


@every_command
def test_folder__files_passed_over(run, mixed, command):
    once = command.count("{}") == 1
    outcome = run(*command.format(mixed, mixed).split())
    assert (outcome.code, outcome.err) == (0, "")
    counts = (2, 1) if once else (4, 2)
    line = (
        "{} files passed over: .md {}, without ending {}, .log {}, .py {}, .rtf {}; name them, or "
        "give --input-format, to have them read"
    )
    n_files = 6 if once else 12
    assert line.format(n_files, counts[0], *[counts[1]] * 4) in outcome.out.splitlines()


def test_input_format__text_of_any_ending(run, here, mixed):
    (here / "mixed/z.rtf").rename(here / "z.rtf")
    outcome = run("dedup", mixed, "-o", "out", "--input-format", "text")
    assert outcome.out.startswith("6 documents: ")
    kept = sorted(str(path.relative_to(here / "out/kept")) for path in rows_of(here / "out/kept"))
    gone = sorted(
        str(path.relative_to(here / "out/removed")) for path in rows_of(here / "out/removed")
    )
    assert sorted(kept + gone) == ["a.txt", "b.md", "c.py", "d.log", "e", "x/f.md"]
    assert "passed over" not in outcome.out
    bad = run("dedup", mixed, "z.rtf", "-o", "more", "--input-format", "text")
    assert bad.err.startswith("error: z.rtf, row 1: this is an RTF document, not text; convert ")
    skipped = run("dedup", mixed, "z.rtf", "-o", "more", "--input-format=text", "--on-error=skip")
    assert "\n1 bad row skipped; see skipped/ and skipped.parquet (reasons)\n" in skipped.out
    assert (here / "more/skipped/z.rtf").read_bytes() == (here / "z.rtf").read_bytes()


def rows_of(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@every_command
def test_input_format__whatever_the_ending(run, index, write_file, command):
    write_file("a.data", GOOD)
    outcome = run(*command.format("a.data", "a.data").split(), "--input-format", "jsonl")
    assert (outcome.code, outcome.err) == (0, "")


@every_command
def test_encoding__in_every_command(run, index, write_file, command):
    write_file("a.csv", "text\ncafé “au lait” 5 €\n".encode("cp1252"))
    command = command.format("a.csv", "a.csv").split()
    outcome = run(*command)
    assert outcome.code == 1
    assert outcome.err == (
        "error: a.csv, row 1: not valid UTF-8 at byte 4 of column 'text'; if it is in cp1252, as "
        "programs for Windows write it, or in Latin-1, read it with --encoding cp1252\n"
    )
    assert run(*command, "--encoding", "cp1252").code == 0


def test_encoding__rows_keep_their_bytes(run, here, write_file):
    rows = [f"{i},café {i} 表 one two\r\n".encode("gb18030") for i in (1, 1, 2)]
    content = b"no,text\r\n" + b"".join(rows)
    write_file("a.csv", content)
    assert run("dedup", "a.csv", "-o", "out", "--encoding", "gb18030").code == 0
    assert (here / "out/kept/a.csv").read_bytes() == b"no,text\r\n" + rows[0] + rows[2]
    assert (here / "out/removed/a.csv").read_bytes() == b"no,text\r\n" + rows[1]


SHEETS = xlsx_of(
    ("cover", '<row><c t="str"><v>A title</v></c></row>'),
    *(
        (
            name,
            "".join(
                f'<row><c t="str"><v>{key}</v></c><c t="str"><v>{text}</v></c></row>'
                for key, text in (("id", "text"), (f"{name} 007", "one two three"))
            ),
        )
        for name in ("Data", "Other")
    ),
)


@every_command
def test_sheet__in_every_command(run, index, write_file, command):
    write_file("a.xlsx", SHEETS)
    outcome = run(*command.format("a.xlsx", "a.xlsx").split())
    assert outcome.code == 0
    line = "a.xlsx: sheet 'Data' is read, the first of 3 that has rows; save another as CSV"
    assert line in outcome.err


@every_command
def test_delimiter__in_every_command(run, index, write_file, command):
    write_file("a.csv", "name;text\nx;one two three\n")
    command = command.format("a.csv", "a.csv").split()
    assert "no column 'text'; columns are 'name;text'" in run(*command).err
    assert run(*command, "--delimiter", ";").code == 0
