"""Counts by file, as commands print them."""

from __future__ import annotations

import pytest

from neardup.cli.call import table_by_file


def counted(name, n_in, n_removed, **more):
    counts = {"documents_in": n_in, "documents_kept": n_in - n_removed}
    return {"file": name} | counts | {"documents_removed": n_removed} | more


def table(*counts, others=None):
    return table_by_file({"by_file": {"counts": list(counts), "others": others}})


def test_table__of_many_files_those_that_lost_most():
    counts = [counted(f"{i}.jsonl", 100, i % 12) for i in range(24)]
    lines = table(*counts, others={"groups": 1000})
    shown = [line.split()[-1] for line in lines[1:-1]]
    assert shown == [f"{i}.jsonl" for i in (7, 8, 9, 10, 11, 19, 20, 21, 22, 23)]
    assert lines[-1] == "  and 1,014 more"


def test_table__names_of_others_are_only_text():
    lines = table(counted("\x1b[31m red\u202e", 1, 0), counted("long/" * 20 + "end", 1, 0))
    assert lines[1].endswith("  \\x1b[31m red\\u202e")
    assert lines[2].endswith("  ..." + ("long/" * 20)[-54:] + "end")


@pytest.mark.parametrize("command", ["dedup", "drop"])
def test_commands_print_it(run, write_file, command):
    for name, texts in {"a": "xy", "b": "yxz"}.items():
        write_file(f"{name}.jsonl", "".join(f'{{"text": "one {text}"}}\n' for text in texts))
    named = write_file("ids.txt", "b.jsonl:1\nb.jsonl:2\n")
    how = ("--named-in", named, "--id-column", "") if command == "drop" else ()
    lines = run(command, "a.jsonl", "b.jsonl", *how, "-o", "out").out.splitlines()
    found = [line.split() for line in lines if line.startswith("  ")]
    copies = {"dedup": (["exact", "copies"], ["0"], ["2"]), "drop": ([], [], [])}[command]
    assert found == [
        ["in", "kept", "removed", *copies[0], "file"],
        ["2", "2", "0", *copies[1], "a.jsonl"],
        ["3", "1", "2", *copies[2], "b.jsonl"],
    ]
