from __future__ import annotations

import re

from neardup.files.formats import file_source
from neardup.files.problems import no_column
from neardup.files.rows import ColumnNames
from tests.each import each_of


def test_no_column__of_very_many():
    names = [f"c{i}" for i in range(25)]
    message = no_column("text", ColumnNames(), names)
    assert re.search(
        r"'text'; .*'c0', 'c1', .*'c9' and 15 more; .* text_column \(--text-column\)$", message
    )
    assert no_column("text", ColumnNames(), []).endswith("no columns")
    assert f" '{'y' * 40}…'; " in no_column("text", ColumnNames(), ["y" * 90])
    for mark, name in ((";", ";"), ("\t", "tab")):
        message = no_column("text", ColumnNames(), [f"id{mark}text"])
        assert message.endswith(f" delimiter {name!r} (--delimiter {name!r})")
    other = no_column("text", ColumnNames(text_option="other_column"), ["a"])
    assert other.endswith(" other_column (--other-column)")


@each_of(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b"\n", None),
        ("a.jsonl", b'{"n": \n[1]\n{"a": 1, "b": 2}\n{"c": 3}\n', ["a", "b"]),
        ("a.jsonl", b"nothing\n", None),
        ("a.json", b" []", None),
        ("a.json", b'[{"a": 1},\n{"b": 2}]', ["a"]),
        ("a.jsonl", b'{"text": "' + b"x" * 100_000 + b'", "id": 1}\n', ["text", "id"]),
        ("a.csv", b"\xef\xbb\xbf\n\nid,text\n", ["id", "text"]),
        ("a.csv", b"\n", None),
        ("a.txt", b"a", ["text"]),
    ],
)
def test_column_names(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    source = file_source(str(tmp_path / name), name)
    assert source.column_names() == expected
    # The look at the first rows leaves no trace.
    assert len(list(source.blocks())) <= 1
