from __future__ import annotations

import re

import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError
from neardup.files.memory import MemorySource, arrow_source, rows_source
from neardup.files.rows import ColumnNames
from tests.each import each_of


def test_parse__several_columns_of_the_text():
    table = pa.table(
        {
            "a": ["1", None, "3", None, "5"],
            "b": pa.array(["x", "y", None, None, "z"], pa.large_string()),
            "n": pa.nulls(5),
        }
    )
    [block] = MemorySource(table).blocks()
    rows = block.parse(ColumnNames(("a", "b", "n"), id="a"), skip_bad=True)
    assert rows.text.to_pylist() == ["1\nx\n", None, "3\n\n", None, "5\nz\n"]
    assert [reason for _, reason in rows.skipped] == [
        "column 'a' is null",
        "columns 'a', 'b', 'n' are null",
    ]
    with pytest.raises(InvalidInputError, match="columns 'a', 'b' are null"):
        block.parse(ColumnNames(("a", "b")))


def test_parse__repeated_name():
    [block] = MemorySource(pa.Table.from_arrays([pa.array(["a"])] * 2, ["text"] * 2)).blocks()
    with pytest.raises(InvalidInputError, match=r"^there is more than one column 'text'; rename"):
        block.parse(ColumnNames())


def test_parse__extension_type():
    [block] = MemorySource(pa.table({"text": pa.array(["{}"], pa.json_())})).blocks()
    assert block.parse(ColumnNames()).text.to_pylist() == ["{}"]


def test_rows_source__dictionaries_may_lack_keys():
    [block] = rows_source([{"text": "a"}, {"text": "b", "n": 1}]).blocks()
    assert block.to_table().to_pylist() == [{"text": "a", "n": None}, {"text": "b", "n": 1}]


@each_of(
    ("items", "message"),
    [
        (["a", 5], "expected only strings in the list, got int in row 2"),
        ([{"text": "a"}, "b"], "expected strings or dictionaries in the list, got str in row 2"),
        ([5], "expected strings or dictionaries in the list, got int in row 1"),
        (
            [["a", "b"]],
            "expected strings or dictionaries in the list, got list in row 1; to compare tokens of "
            "your own, join each document's to one string, such as ' '.join(tokens), with "
            "tokenizer='whitespace', and ngram=1 for sets of them",
        ),
        (
            [None, "a b", {"a", "b"}],
            "expected only strings in the list, got set in row 3; to compare tokens of your own",
        ),
        (
            [(7, "a b")],
            "expected strings or dictionaries in the list, got tuple in row 1; a row with an id is "
            "a dictionary, such as {'id': 7, 'text': 'as written'}",
        ),
        (
            [b"a b"],
            "expected strings or dictionaries in the list, got bytes in row 1; decode bytes to "
            "texts",
        ),
        ([{"text": "a"}, None], "expected strings or dictionaries in the list, got NoneType"),
        (
            [{"n": 1}, {"n": None}, {"n": "x"}],
            "column 'n' of row 3 does not fit the rows before it: ",
        ),
        (["a", "b\ud800"], "column 'text' of row 2 does not fit the rows before it: "),
    ],
)
def test_rows_source__errors(items, message):
    with pytest.raises(InvalidInputError, match=rf"^{re.escape(message)}"):
        rows_source(items)


@pytest.mark.parametrize(("items", "bad"), [(["a", None], 2), ([None, "a"], 1), ([None], 1)])
def test_rows_source__none_among_texts_is_a_bad_row(items, bad):
    [block] = rows_source(items).blocks()
    with pytest.raises(InvalidInputError, match=rf"^row {bad}: column 'text' is null$"):
        block.parse(ColumnNames())
    assert block.parse(ColumnNames(), skip_bad=True).skipped == [(bad, "column 'text' is null")]


def test_arrow_source__cannot_be_read():
    class Broken:
        def __arrow_c_array__(self, requested_schema=None):
            msg = "nothing here"
            raise ValueError(msg)

    with pytest.raises(
        InvalidInputError, match=r"^expected a table, got a Broken that Arrow cannot read: nothing"
    ):
        arrow_source(Broken())
