from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError
from neardup.files.memory import MemorySource, arrow_source, rows_source
from neardup.files.rows import ColumnNames
from tests.each import each_of
from tests.files import check_skipped


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
    check_skipped(rows.skipped, {2: "'a'.*null", 4: "'a', 'b', 'n'.*null"})
    with pytest.raises(InvalidInputError, match=r"'a', 'b'.*null"):
        block.parse(ColumnNames(("a", "b")))


def test_parse__repeated_name():
    [block] = MemorySource(pa.Table.from_arrays([pa.array(["a"])] * 2, ["text"] * 2)).blocks()
    with pytest.raises(InvalidInputError, match=r"more than one.*'text'"):
        block.parse(ColumnNames())


def test_parse__extension_type():
    [block] = MemorySource(pa.table({"text": pa.array(["{}"], pa.json_())})).blocks()
    assert block.parse(ColumnNames()).text.to_pylist() == ["{}"]


class Unhashable(pa.ExtensionType):
    """A type as users define it, which Python cannot hash."""

    def __init__(self):
        super().__init__(pa.string(), "tests.unhashable")

    def __arrow_ext_serialize__(self):
        return b""


@pytest.mark.parametrize("name", ["text", "id", "other"])
def test_parse__extension_type_without_a_hash(name):
    array = pa.ExtensionArray.from_storage(Unhashable(), pa.array(["a"]))
    [block] = MemorySource(pa.table({"text": ["a"], "id": ["a"]} | {name: array})).blocks()
    rows = block.parse(ColumnNames(id="id"))
    assert (rows.text.to_pylist(), rows.id.to_pylist()) == (["a"], ["a"])


def test_rows_source__subclasses_of_strings():
    kind = type("Text", (str,), {})
    for items in ([kind("a"), "b"], [{"text": kind("a")}, {"text": "b"}]):
        [block] = rows_source(items).blocks()
        assert block.parse(ColumnNames()).text.to_pylist() == ["a", "b"]


def test_rows_source__dictionaries_may_lack_keys():
    [block] = rows_source([{"text": "a"}, {"text": "b", "n": 1}]).blocks()
    assert block.to_table().to_pylist() == [{"text": "a", "n": None}, {"text": "b", "n": 1}]


@each_of(
    ("items", "facts"),
    [
        ([{"text": "a"}, "b"], "dictionaries.* str in row 2"),
        ([["a", "b"]], "only strings.* list in row 1"),
        ([None, "a b", {"a"}], "only strings.* set in row 3"),
        ([b"a b"], "only strings.* bytes in row 1"),
        ([{"text": "a"}, None], "dictionaries.* NoneType"),
    ],
)
def test_rows_source__errors(items, facts):
    with pytest.raises(InvalidInputError, match=facts):
        rows_source(items)


@pytest.mark.parametrize(("items", "bad"), [(["a", None], 2), ([None, "a"], 1), ([None], 1)])
def test_rows_source__none_among_texts_is_a_bad_row(items, bad):
    [block] = rows_source(items).blocks()
    with pytest.raises(InvalidInputError, match=rf"^row {bad}: .*'text'.*null"):
        block.parse(ColumnNames())
    check_skipped(block.parse(ColumnNames(), skip_bad=True).skipped, {bad: "'text'.*null"})


@each_of(
    ("values", "expected"),
    [
        ([1, None, "x", 1.0, 0.5], ["1", None, "x", "1", "0.5"]),
        ([True, "x", float("nan"), [1], {"a": 1.0}], ["true", "x", None, "[1]", '{"a": 1.0}']),
        ([2**63, 0], [2**63, 0]),
        ([2**63, -1, 2**64], [str(2**63), "-1", str(2**64)]),
        ([{"a": 2**63}, None], ['{"a": 9223372036854775808}', None]),
        ([2**53 + 1, 0.5], [str(2**53 + 1), "0.5"]),
        ([1, 2.5, None], [1.0, 2.5, None]),
    ],
)
def test_rows_source__values_of_a_column(values, expected):
    [block] = rows_source([{"n": value, "text": "a"} for value in values]).blocks()
    assert block.to_table()["n"].to_pylist() == expected
    assert block.parse(ColumnNames()).text.to_pylist() == ["a"] * len(values)


def test_rows_source__values_that_are_not_text_are_bad_rows():
    texts = ["a", None, float("nan"), 5, "b\ud800", True, "c"]
    facts = {2: "null", 3: "null", 4: "number", 5: "Unicode at character 2", 6: "true or false"}
    rows = [{"text": text, "n": n} for n, text in enumerate(texts)]
    frame = pd.DataFrame({"text": pd.Series(texts, dtype=object)})
    for source in (rows_source(texts), rows_source(rows), arrow_source(frame)):
        [block] = source.blocks()
        with pytest.raises(InvalidInputError, match=r"^row 4: .*number"):
            block.parse(ColumnNames(), select=np.arange(len(texts)) == 3)
        found = block.parse(ColumnNames(), skip_bad=True)
        assert found.text.to_pylist() == ["a", *[None] * 5, "c"]
        check_skipped(found.skipped, {row: f"'text'.*{fact}" for row, fact in facts.items()})


def test_rows_source__half_of_a_surrogate_pair_in_another_column():
    [block] = rows_source([{"text": "a", "n": "b\ud800"}, {"text": "b", "n": "c"}]).blocks()
    skipped = block.parse(ColumnNames(), skip_bad=True).skipped
    check_skipped(skipped, {1: "'n'.*Unicode at character 2"})


def test_ids__that_are_empty_are_missing():
    [block] = rows_source([{"id": "", "text": "a"}, {"id": "x", "text": "b"}]).blocks()
    skipped = block.parse(ColumnNames(id="id"), skip_bad=True).skipped
    check_skipped(skipped, {1: "'id'.*null"})


@each_of("kind", [pl.Categorical, pl.Enum(["a", "b", "c"]), pl.String])
def test_arrow_source__strings_of_polars(kind):
    values = pl.Series(["a", "b", None, "c"], dtype=kind)
    frame = pl.DataFrame({"text": values, "many": [[v] for v in values], "id": range(4)})
    [block] = arrow_source(frame).blocks()
    found = block.parse(ColumnNames(id="id", order="text"), skip_bad=True)
    assert found.text.to_pylist() == found.order.to_pylist() == ["a", "b", None, "c"]
    table = block.to_table(np.array([True, False, True, True]))
    assert table["many"].to_pylist() == [["a"], [None], ["c"]]


def test_arrow_source__cannot_be_read():
    class Broken:
        def __arrow_c_array__(self, requested_schema=None):
            msg = "nothing here"
            raise ValueError(msg)

    with pytest.raises(InvalidInputError, match=r"Broken.*nothing here"):
        arrow_source(Broken())
