"""What the digests notice, and what they pass over."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.digests.canonical import (
    LONGEST,
    canonical_file,
    canonical_terminal,
    canonical_value,
    digest_text,
)
from tests.digests.differences import find_differences
from tests.digests.run import Neardup
from tests.each import each_of

SUMMARY = {
    "documents_in": 4,
    "workers": 2,
    "seconds": {"read": 0.5, "write": 0.1},
    "peak_memory_bytes": 300,
    "versions": {"neardup": "0.1.0"},
    "audit": {"recall": 0.25},
}


@each_of(
    ("change", "is_noticed"),
    [
        ({"documents_in": 5}, True),
        ({"audit": {"recall": 0.26}}, True),
        ({"seconds": {"read": 0.5}}, True),
        ({"more": 1}, True),
        ({"seconds": {"read": 0.7, "write": 3}}, False),
        ({"workers": 1, "peak_memory_bytes": 301, "versions": {"neardup": "0.2.0"}}, False),
    ],
)
def test_json__of_a_summary_and_a_terminal(tmp_path, change, is_noticed):
    path = tmp_path / "summary.json"
    found = []
    for summary in (SUMMARY, SUMMARY | change):
        path.write_text(json.dumps(summary))
        found.append(
            (canonical_file(path), canonical_terminal(json.dumps(summary) + "\n", tmp_path))
        )
    assert [a != b for a, b in zip(*found, strict=True)] == [is_noticed] * 2


@each_of(
    ("before", "after", "is_noticed"),
    [
        ("written to out in 0.4 s, 302 MB of memory at most", "written to out in 1.2 s", False),
        ("written to out in 0.4 s", "written to oat in 0.4 s", True),
        ("3 passages in 4 documents", "3 passages in 5 documents", True),
        ("exact about 0.1 s of work", "exact about 0.2 s of work", True),
        (
            "  time              about 0.3 s, once",
            "  time              about 1 to 2 s, once",
            False,
        ),
        ("  similar pairs     about 3", "  similar pairs     about 4", True),
        ("made by neardup 0.1.0", "made by neardup 0.2.0", False),
    ],
)
def test_terminal(tmp_path, before, after, is_noticed):
    found = [canonical_terminal(f"a\n{text}\n", tmp_path) for text in (before, after)]
    assert (found[0] != found[1]) == is_noticed


def test_terminal__folder_and_compilation(tmp_path):
    text = f"kernels are compiled as they are called: why\nerror: {tmp_path}/a: no such file\n"
    assert canonical_terminal(text, tmp_path) == "error: <folder>/a: no such file\n"


def test_parquet__rows_types_and_own_metadata_count(tmp_path):
    path = tmp_path / "a.parquet"

    def digest(table, own=None, **options):
        if own:
            table = table.replace_schema_metadata({"neardup.x": json.dumps(own), "other": "x"})
        pq.write_table(table, path, **options)
        return canonical_file(path)

    table = pa.table({"id": ["a", "b"], "n": [1, 2]})
    first = digest(table)
    assert digest(table, compression="zstd", row_group_size=1) == first
    assert digest(table.slice(0, 1)) != first
    assert digest(pa.table({"id": ["a", "b"], "n": [1.0, 2.0]})) != first
    assert digest(pa.table({"id": ["a", "b"], "n": [1, 3]})) != first
    assert digest(table.select(["n", "id"])) != first
    own = digest(table, own={"format": 1, "neardup": "0.1.0"})
    assert own == digest(table, own={"format": 1, "neardup": "0.2.0"})
    assert own != digest(table, own={"format": 2, "neardup": "0.1.0"})


def test_file__compressed_rows_count_byte_by_byte(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    found = []
    for text, level in (("a\n", 1), ("a\n", 9), ("a\r\n", 9)):
        path.write_bytes(gzip.compress(text.encode() * 2000, level))
        found.append(canonical_file(path))
    assert found[0] == found[1] != found[2]


def test_file__damaged_ones_count_byte_by_byte(tmp_path):
    for name in ("a.parquet", "a.gz", "a.zst", "a.xz", "a.bz2"):
        path = tmp_path / name
        path.write_bytes(b"no such format")
        assert canonical_file(path) == "no such format"
    path = tmp_path / "summary.json"
    path.write_text('{"a": ')
    assert canonical_file(path) == '{"a": '


def test_value__table_alone_or_in_a_result():
    class Result:
        def __init__(self, **parts):
            self.__dict__.update(parts)

    table = pa.table({"id": ["a"]})
    expected = canonical_value(table)
    assert canonical_value(Result(passages=table)) == expected
    assert canonical_value([Result(pairs=table)]) == [expected]
    assert canonical_value(Result(passages=table, pairs=table.slice(0, 0))) == expected
    assert canonical_value(table.slice(0, 0)) != expected
    assert canonical_value({"seconds": 1, "n": 2.5}) == {"seconds": "~", "n": 2.5}


def test_digest__long_texts():
    assert digest_text("a" * LONGEST) == "a" * LONGEST
    assert digest_text("a" * (LONGEST + 1)) != digest_text("a" * LONGEST + "b")


def test_differences__by_command_step_and_file():
    before = {"commands": {"x": [{"exit": 0, "files": {"a": "1", "b": "2"}}], "y": []}}
    after = {"commands": {"x": [{"exit": 1, "files": {"a": "1", "c": "2"}}], "z": []}}
    assert not list(find_differences(before, before))
    assert [text.splitlines()[0] for text in find_differences(before, after)] == [
        "commands | x | step 1 | exit:",
        "commands | x | step 1 | files | b: only before: '2'",
        "commands | x | step 1 | files | c: only after: '2'",
        "commands | y: only before: []",
        "commands | z: only after: []",
    ]


def test_neardup__threads_for_commands_that_name_none():
    neardup = Neardup(("neardup",), workers=1)
    assert neardup.arguments(["dedup", "a"]) == ["dedup", "a", "--workers", "1"]
    assert neardup.arguments(["index", "add", "a"]) == ["index", "add", "a", "--workers", "1"]
    for words in (
        ["dedup", "--workers", "3"],
        ["estimate", "a", "--clusters", "first"],
        ["index", "info", "a"],
        ["dedup", "--help"],
    ):
        assert neardup.arguments(words) == words


def test_neardup__interpreter(tmp_path):
    script = Path(tmp_path / "neardup")
    script.write_text("#!/some/bin/python3\nimport neardup\n")
    assert Neardup((str(script),)).python() == "/some/bin/python3"
    assert Neardup(("/a/python", "-m", "neardup")).python() == "/a/python"
