"""Rows of several text columns come out of a cut as they came in, but for the text that went."""

from __future__ import annotations

import json

from neardup import ReadOptions
from tests.cutting import cut

NOTICE = 'All "rights", says the naïve owner, are\nreserved; ask 語 for leave 🙂 of use, first.'


def json_lines(rows):
    """Rows spelt in ways that differ, none of which may get lost."""
    styles = [{}, {"ensure_ascii": False, "separators": (",", ":")}, {"sort_keys": True}]
    lines = [json.dumps(row, **styles[i % 3]).encode() for i, row in enumerate(rows)]
    return [line + (b"\n", b"  \r\n")[i % 2] for i, line in enumerate(lines)]


def test_cut__several_text_columns(tmp_path):
    """Places count in the joined text; a passage may begin in one column and end in the next."""
    words = NOTICE.replace("\n", " ").split(" ")
    rows = [
        {"title": "A cat", "body": " ".join(words), "note": 1},
        {"title": f"A dog {' '.join(words[:6])}", "body": f"{' '.join(words[6:])} Woof", "note": 2},
        {"title": "A cat", "body": "purrs", "note": 3},
    ]
    lines = json_lines(rows)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    found = cut(
        tmp_path / "a.jsonl",
        exact=True,
        min_tokens=10,
        read=ReadOptions(text_column=["title", "body"]),
    )
    found.write(tmp_path / "out")
    kept = (tmp_path / "out/kept/a.jsonl").read_bytes().splitlines(keepends=True)
    assert [kept[0], kept[2]] == [lines[0], lines[2]]
    assert json.loads(kept[1]) == {"title": "A dog ", "body": "Woof", "note": 2}
    [row] = found.removed.to_pylist()
    joined = f"{rows[1]['title']}\n{rows[1]['body']}"
    assert joined[: row["start"]] + joined[row["end"] :] == "A dog Woof"
    first = f"{rows[0]['title']}\n{rows[0]['body']}"
    assert first[row["kept_start"] : row["kept_end"]] == " ".join(words)[:-1]
