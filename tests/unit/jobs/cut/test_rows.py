"""Rows of every format come out of a cut as they came in, but for the text that went."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import ReadOptions
from tests.calls import grouped
from tests.cutting import cut

NOTICE = 'All "rights", says the naïve owner, are\nreserved; ask 語 for leave 🙂 of use, first.'
TEXTS = [
    f"One, two. {NOTICE} The end.",
    f"{NOTICE} Another,\n\ttext with “marks”",
    "nothing of the kind in here, é",
    None,
    "",
    f"Three: {NOTICE}",
    f"twice {NOTICE} and again {NOTICE}!",
]
# What goes with a passage: the marks behind it, and the space.
LEFT = [
    TEXTS[0],
    "Another,\n\ttext with “marks”",
    *TEXTS[2:5],
    "Three: ",
    "twice and again ",
]
ROWS = [
    {"note": f'a "{i}", é\n', "id": f"r{i}", "text": text, "score": i / 4}
    for i, text in enumerate(TEXTS)
]
OPTIONS = {"exact": True, "min_tokens": 10, "id_column": "id"}


def json_lines(rows):
    """Rows spelt in ways that differ, none of which may get lost."""
    styles = [{}, {"ensure_ascii": False, "separators": (",", ":")}, {"sort_keys": True}]
    lines = [json.dumps(row, **styles[i % 3]).encode() for i, row in enumerate(rows)]
    return [line + (b"\n", b"  \r\n")[i % 2] for i, line in enumerate(lines)]


def written(tmp_path, name, **options):
    found = cut(tmp_path / name, **grouped(**OPTIONS, **options))
    found.write(tmp_path / "out")
    return found, (tmp_path / "out/kept" / name)


def test_cut__json_lines(tmp_path):
    rows = [{**row, "text": row["text"] or ""} for row in ROWS]
    lines = json_lines(rows)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    found, path = written(tmp_path, "a.jsonl")
    kept = path.read_bytes().splitlines(keepends=True)
    assert [json.loads(line) for line in kept] == [
        {**row, "text": left or ""} for row, left in zip(rows, LEFT, strict=True)
    ]
    for line, new, row, left in zip(lines, kept, rows, LEFT, strict=True):
        # Whatever is not text keeps its bytes, and all of a row that is not cut.
        assert list(json.loads(new)) == list(json.loads(line))
        assert new.startswith(line.split(b'"text"')[0])
        assert new.endswith(line[line.rstrip().rindex(b"}") :])
        assert (new == line) == (row["text"] == (left or ""))
    assert found.removed["row"].to_pylist() == [2, 6, 7, 7]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_cut__csv(tmp_path, delimiter):
    name = {",": "a.csv", "\t": "a.tsv"}[delimiter]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(ROWS[0]), delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(ROWS)
    (tmp_path / name).write_bytes(file.getvalue().encode())
    _, path = written(tmp_path, name)
    content = path.read_bytes().decode()
    found = list(csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter))
    expected = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in ROWS
    ]
    assert found == [{**row, "text": left or ""} for row, left in zip(expected, LEFT, strict=True)]
    # A row from which nothing is cut is there byte for byte.
    for row, left in zip(ROWS, LEFT, strict=True):
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="\r\n").writerow(row.values())
        assert (line.getvalue() in content) == (left == row["text"])


def test_cut__parquet(tmp_path):
    schema = pa.schema(
        [("note", "string"), ("id", "string"), ("text", "large_string"), ("score", "float32"),
         ("tags", pa.list_(pa.int8()))],
        metadata={"made": "by hand"},
    )  # fmt: skip
    table = pa.Table.from_pylist([{**row, "tags": [1, None]} for row in ROWS], schema)
    # A row without a text is skipped.
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3, compression="zstd")
    found, path = written(tmp_path, "a.parquet", on_error="skip")
    kept = pq.read_table(path)
    assert kept.schema.equals(schema)
    assert kept.schema.metadata == schema.metadata
    is_text = table["text"].is_valid()
    assert kept.drop_columns("text").equals(table.drop_columns("text").filter(is_text))
    left = [text for text in LEFT if text is not None]
    assert kept["text"].to_pylist() == left
    assert found.kept["text"].to_pylist() == left
    skipped = pq.read_table(tmp_path / "out/skipped/a.parquet")
    assert skipped.schema.equals(schema)
    assert skipped.to_pylist() == table.filter(table["text"].is_null()).to_pylist() != []


def test_cut__replacement(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"".join(json_lines([{**ROWS[0]}, {**ROWS[6]}])))
    _, path = written(tmp_path, "a.jsonl", replacement='["cut"\n] ')
    texts = [json.loads(line)["text"] for line in path.read_bytes().splitlines()]
    assert texts == [TEXTS[0], 'twice ["cut"\n] and again ["cut"\n] ']


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
