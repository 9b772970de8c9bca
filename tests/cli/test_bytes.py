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
from neardup.errors import InvalidParameterError
from neardup.options.documents import DedupOptions
from neardup.spark.dedup import plan_on_spark

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


@pytest.mark.parametrize(
    "command",
    [
        "pairs in -o out.csv",
        "pairs in --against known -o out.csv",
        "dedup in --against known -o out",
    ],
)
def test_report__of_bytes_is_refused_before_the_job(run, files, here, write_file, command):
    write_file("known/x", FILES["a.exe"])
    outcome = run(*command.split(), "--input-format", "bytes", "--report", "p.html")
    assert outcome.code == 1
    assert "--report shows texts, and documents are not read as such with --input-f" in outcome.err
    assert {path.name for path in here.iterdir()} == {"in", "known"}


def test_report__of_an_output_of_bytes(run, files, here):
    how = ("--input-format", "bytes", "--report", "p.html")
    assert run("dedup", files, "-o", "out", *how).code == 0
    assert (here / "p.html").is_file()


def test_pairs__against_texts_of_the_same_bytes(run, files, here, write_file):
    """The other collection is read as bytes too."""
    write_file("known/x", FILES["a.exe"])
    outcome = run(
        *("pairs", files, "--against", "known", "-o", "p.csv", "--input-format", "bytes"),
        *("--measure", "containment", "--threshold", "0.99"),
    )
    assert outcome.err == ""
    assert [row["id_a"] for row in table("p.csv")] == ["a.exe", "copy/a.dll"]


@pytest.mark.parametrize(
    "kind",
    [
        ("minhash",),
        ("smallest",),
        ("smallest", "--fingerprint", "rabin"),
        ("modulo",),
        ("weighted",),
        ("edit",),
    ],
    ids=" ".join,
)
def test_sketch__finds_copies(run, files, here, kind):
    outcome = run("sketch", files, "-o", "s.parquet", "--input-format", "bytes", "--kind", *kind)
    assert (outcome.code, outcome.err) == (0, "")
    assert run("estimate", "s.parquet", "-o", "e.csv", "--threshold", "0.95").code == 0
    assert ("a.exe", "copy/a.dll") in {(r["id_a"], r["id_b"]) for r in table("e.csv")}


def test_sketch__of_ascii_is_that_of_text_with_the_tokenizer_bytes(here, write_file):
    write_file("in/a.txt", "plain text, and no more than that. " * 20)
    write_file("in/b.txt", "é and text beyond ASCII. " * 20)
    for kind in ("minhash", "smallest", "modulo"):
        as_bytes = neardup.sketch("in", kind=kind, input_format="bytes")
        as_text = neardup.sketch("in", kind=kind, tokenizer="bytes")
        assert as_bytes.to_arrow().equals(as_text.to_arrow(), check_metadata=True)


def test_sketch_edit__lengths_are_bytes(run, files, here):
    run("sketch", files, "-o", "s.parquet", "--input-format", "bytes", "--kind", "edit")
    about = pq.read_schema("s.parquet").metadata[b"neardup.sketches"]
    assert json.loads(about)["scheme"]["tokenizer"] == "bytes"
    lengths = {row["id"]: row["length"] for row in pq.read_table("s.parquet").to_pylist()}
    assert lengths == {name: len(content) for name, content in FILES.items()}


def test_sketch_edit__as_of_text_with_a_character_for_each_byte(files):
    as_bytes = neardup.sketch(files, input_format="bytes", kind="edit").rows
    texts = [FILES[name].decode("latin-1") for name in sorted(FILES)]
    as_text = neardup.sketch(texts, kind="edit").rows
    assert as_bytes.symbols.tolist() == as_text.symbols.tolist()


def test_sketch_edit__of_bytes_and_of_text_are_not_compared(run, here, write_file):
    write_file("a.txt", "some text, long enough for a symbol " * 30)
    run("sketch", "a.txt", "-o", "a.parquet", "--kind", "edit")
    run("sketch", "a.txt", "-o", "b.parquet", "--kind", "edit", "--input-format", "bytes")
    outcome = run("estimate", "a.parquet", "b.parquet", "-o", "e.csv")
    assert outcome.code == 1
    assert "tokenizer" in outcome.err


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
    assert "; bytes are compared by dedup, pairs and sketch; passages, cuts and" in outcome.err


def test_functions_of_texts__refuse_bytes(files, here):
    index = neardup.PassageIndex.create(here / "idx")
    documents = neardup.DocumentIndex.create(here / "docs")
    match = r"^input_format must be one of auto, .*, got 'bytes'; bytes are compared by dedup"
    for call in (neardup.align, neardup.cut, index.add, index.search, documents.add):
        with pytest.raises(InvalidParameterError, match=match):
            call(files, input_format="bytes")


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_index__has_texts(run, files, here, command):
    neardup.DocumentIndex.create(here / "docs").add(["one two three"])
    output = "out" if command == "dedup" else "out.csv"
    outcome = run(command, files, "--against", "docs", "-o", output, "--input-format", "bytes")
    assert outcome.err == (
        "error: --input-format bytes reads no texts, which an index has; name files with "
        "--against, or read the files as text\n"
    )


@pytest.mark.parametrize(
    "command", ["dedup in -o out", "pairs in -o p.csv", "sketch in -o s.parquet"]
)
def test_tokenizer__that_cuts_texts(run, files, command):
    outcome = run(*command.split(), "--input-format", "bytes", "--tokenizer", "words")
    assert outcome.err == (
        "error: --tokenizer words cuts texts, and --input-format bytes reads none; leave it out, "
        "or read the files as text\n"
    )
    assert run(*command.split(), "--input-format", "bytes", "--tokenizer", "bytes").code == 0


def test_engine_spark__exchanges_texts():
    options = DedupOptions(input_format="bytes")
    with pytest.raises(
        InvalidParameterError, match=r"^input_format bytes goes with engine threads"
    ):
        plan_on_spark(options, has_other=False, has_index=False)


def test_formats_of_output(run, files, here):
    outcome = run("dedup", files, "-o", "out", "--input-format", "bytes", "--format", "jsonl")
    assert outcome.err.endswith("JSON cannot hold binary values; write --format parquet\n") or (
        "JSON cannot hold binary values" in outcome.err
    )
    assert not (here / "out").exists()
    (here / "in/empty.txt").unlink()
    assert (
        run("dedup", files, "-o", "out", "--input-format", "bytes", "--format", "parquet").code == 0
    )
    [row] = pq.read_table(here / "out/kept/a.parquet").to_pylist()
    assert row == {"bytes": FILES["a.exe"]}


def test_memory__and_work(run, files, here):
    """What does not fit the memory goes by way of files: the same documents go."""
    for name, options in (("one", ()), ("two", ("--memory", "300MB"))):
        assert run("dedup", files, "-o", name, "--input-format", "bytes", *options).code == 0
    one, two = (pq.read_table(here / name / "removed.parquet") for name in ("one", "two"))
    assert one.equals(two)


def test_python__rows_are_bytes(files):
    result = neardup.deduplicate(files, input_format="bytes")
    assert result.kept.column_names == ["bytes"]
    assert FILES["e.bin"] in result.kept["bytes"].to_pylist()
