"""Differences that recordings of commands have, and differences that they pass over."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.cli import COMMANDS as DESCRIPTIONS
from tests.commands import COMMANDS
from tests.digests import cases
from tests.digests.record import canonical_file, canonical_output, find_differences, run_case
from tests.each import each_of

STEPS = [step for case in cases.COMMANDS for step in case.split(" ; ")]
SUMMARY = {"documents_in": 4, "workers": 2, "seconds": {"read": 0.5, "write": 0.1}}


def test_cases__are_listed_once_and_have_every_command():
    assert len(cases.COMMANDS) == len(set(cases.COMMANDS))
    for command in COMMANDS:
        assert any(step == command or step.startswith(f"{command} ") for step in STEPS), command
    assert {f"{command} --help" for command in {*DESCRIPTIONS, *COMMANDS}} <= set(cases.HELP)


@each_of(
    ("change", "is_noticed"),
    [
        ({"documents_in": 5}, True),
        ({"seconds": {"read": 0.5}}, True),
        ({"seconds": {"read": 0.7, "write": 3}, "workers": 1}, False),
    ],
)
def test_summaries(tmp_path, change, is_noticed):
    path = tmp_path / "summary.json"
    found = []
    for summary in (SUMMARY, SUMMARY | change):
        path.write_text(json.dumps(summary))
        found.append((canonical_file(path), canonical_output(json.dumps(summary) + "\n", tmp_path)))
    assert [a != b for a, b in zip(*found, strict=True)] == [is_noticed] * 2


def test_printed_lines(tmp_path):
    lines = (
        "written to out in 0.4 s, 302 MB of memory at most",
        "written to out in 1.2 s",
        "to oat",
    )
    first, second, other = (canonical_output(f"{tmp_path}/a\n{line}", tmp_path) for line in lines)
    assert first == second != other
    assert first.startswith("<folder>/a\n")


def test_files__content_counts_and_layout_does_not(tmp_path):
    table = pa.table({"id": ["a", "b"], "n": [1, 2]})
    path = tmp_path / "a.parquet"
    found = []
    for each, options in ((table, {}), (table, {"row_group_size": 1}), (table.slice(1), {})):
        pq.write_table(each, path, **options)
        found.append(canonical_file(path))
    assert found[0] == found[1] != found[2]
    path = tmp_path / "a.jsonl.gz"
    found = []
    for text, level in (("a\n", 1), ("a\n", 9), ("a\r\n", 9)):
        path.write_bytes(gzip.compress(text.encode() * 2000, level))
        found.append(canonical_file(path))
    assert found[0] == found[1] != found[2]
    path.write_bytes(b"not compressed")
    assert canonical_file(path) == "not compressed"


def test_differences__by_command_step_and_file():
    before = {"x": [{"exit": 0, "files": {"a": "1", "b": "2"}}], "y": []}
    after = {"x": [{"exit": 1, "files": {"a": "1", "c": "2"}}], "z": []}
    assert not list(find_differences(before, before))
    assert [text.splitlines()[0] for text in find_differences(before, after)] == [
        " | x | 1 | exit:",
        " | x | 1 | files | b: only before",
        " | x | 1 | files | c: only after",
        " | y: only before",
        " | z: only after",
    ]


def test_case__steps_damage_and_changed_files(tmp_path):
    (tmp_path / "inputs").mkdir()
    steps = run_case(["/bin/sh", "-c", "echo text > b"], tmp_path, "x ; @flip b ; @cut b")
    assert [step["files"] for step in steps] == [{"b": "text\n"}, {"b": "teXt\n"}, {"b": ""}]
