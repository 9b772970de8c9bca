"""Files as bytes: ``--input-format bytes`` in the commands that have it, and in those that do not.

Answers are compared with those of the same files as text, where each byte is a character, and with
definitions on Python's own bytes.
"""

from __future__ import annotations

import json
import random

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import neardup

RANDOM = random.Random(16)
PART = RANDOM.randbytes(6_000)
FILES = {
    "a.exe": PART + RANDOM.randbytes(3_000),
    "b.raw": PART[:100] + b"patched" + PART[107:] + RANDOM.randbytes(3_000),
    "copy/a.dll": b"",
    "d": RANDOM.randbytes(5_000),
    "e.bin": RANDOM.randbytes(20_000) + PART + RANDOM.randbytes(20_000),
    "empty.txt": b"",
}
FILES["copy/a.dll"] = FILES["a.exe"]


@pytest.fixture
def files(here, write_file):
    for name, content in FILES.items():
        write_file(f"in/{name}", content)
    return "in"


def shingles(content: bytes, n: int = 5) -> set[bytes]:
    return {content[i : i + n] for i in range(len(content) - n + 1)}


def table(path) -> list[dict]:
    return pyarrow.csv.read_csv(path).to_pylist()


def test_dedup__copies_and_near_copies(run, files, here):
    # Two files of a part in common and of different ends.
    (here / "in/b.raw").write_bytes(FILES["a.exe"][:-20])
    outcome = run("dedup", files, "-o", "out", "--input-format", "bytes", "--keep", "longest")
    assert outcome.err == ""
    assert outcome.out.startswith("6 documents: 4 kept, 2 removed (1 exact copy, 1 near-duplicate)")
    removed = {row["id"]: row for row in pq.read_table(here / "out/removed.parquet").to_pylist()}
    assert removed.keys() == {"copy/a.dll", "b.raw"}
    a, b = shingles(FILES["a.exe"]), shingles(FILES["a.exe"][:-20])
    assert removed["b.raw"]["similarity"] == len(a & b) / len(a | b)
    kept = {str(p.relative_to(here / "out/kept")) for p in (here / "out/kept").rglob("*.*")}
    assert kept == {"a.exe", "e.bin", "empty.txt"}
    for side, name in (("kept", "e.bin"), ("kept", "d"), ("removed", "copy/a.dll")):
        assert (here / "out" / side / name).read_bytes() == FILES[name]
    summary = json.loads((here / "out/summary.json").read_text())
    assert summary["scheme"]["tokenizer"] == "bytes"


@pytest.mark.parametrize("method", ["exact", "minhash"])
def test_pairs__of_sets_of_bytes(run, files, method):
    outcome = run(
        *("pairs", files, "-o", "p.csv", "--input-format", "bytes", "--ngram", 3),
        *("--threshold", "0.5", "--method", method),
    )
    assert outcome.err == ""
    a, b = shingles(FILES["a.exe"], 3), shingles(FILES["b.raw"], 3)
    found = {(row["id_a"], row["id_b"]): row["similarity"] for row in table("p.csv")}
    assert found[("a.exe", "copy/a.dll")] == 1
    if method == "exact":
        expected = {}
        names = sorted(FILES)
        for i, left in enumerate(names):
            for right in names[i + 1 :]:
                x, y = shingles(FILES[left], 3), shingles(FILES[right], 3)
                if x | y and 2 * len(x & y) >= len(x | y):
                    expected[left, right] = len(x & y) / len(x | y)
        assert found == expected
    else:
        assert found.get(("a.exe", "b.raw"), len(a & b) / len(a | b)) == len(a & b) / len(a | b)


def test_pairs__within_edits_of_bytes(run, here, write_file):
    write_file("in/a", b"\xff\xfe\0ab")
    write_file("in/b", b"\xff\0ab")
    write_file("in/c", "\u00ff\u00fe".encode())
    outcome = run("pairs", "in", "-o", "p.csv", "--input-format", "bytes", "--max-distance", 1)
    assert outcome.err == ""
    assert [(row["id_a"], row["id_b"], row["distance"]) for row in table("p.csv")] == [
        ("a", "b", 1)
    ]


def test_sketch__of_ascii_is_that_of_text_with_the_tokenizer_bytes(here, write_file):
    write_file("in/a.txt", "plain text, and no more than that. " * 20)
    write_file("in/b.txt", "é and text beyond ASCII. " * 20)
    for kind in ("minhash", "smallest", "modulo"):
        as_bytes = neardup.sketch("in", kind=kind, read=neardup.ReadOptions(input_format="bytes"))
        as_text = neardup.sketch("in", kind=kind, text=neardup.TextOptions(tokenizer="bytes"))
        assert as_bytes.to_arrow().equals(as_text.to_arrow(), check_metadata=True)


@pytest.mark.parametrize(
    "command",
    [
        "align in -o x.csv",
        "cut in -o out",
        "search idx in -o x.csv",
        "index build new in",
        "index add idx in",
    ],
)
def test_commands_of_texts__refuse_bytes(run, files, command):
    outcome = run(*command.split(), "--input-format", "bytes")
    assert outcome.code == 2
    assert "Invalid value for '--input-format': 'bytes' is not one of " in outcome.err
