from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError
from neardup.files import rawrows
from neardup.files.formats import file_source
from neardup.files.jsonlines import JsonLinesSource, objects_to_table, parse_objects
from neardup.files.rawrows import RawRows, cut_lines
from neardup.files.rows import ColumnNames, ParsedRows
from tests.each import each_of
from tests.files import check_skipped
from tests.fuzzed_lines import trials

TEXT = ColumnNames()
ALL = ColumnNames(id="id", order="date")


def parse(
    lines: bytes, columns: ColumnNames = TEXT, *, skip_bad: bool = False, advice: str = ""
) -> ParsedRows:
    return parse_objects(cut(lines), columns, path="a.jsonl", skip_bad=skip_bad, advice=advice)


def cut(lines: bytes) -> RawRows:
    found = cut_lines(lines, True)
    return RawRows(lines, found.starts, found.ends, found.numbers + 1)


def values(rows: ParsedRows) -> tuple[object, ...]:
    columns = (
        None if array is None else array.to_pylist() for array in (rows.text, rows.id, rows.order)
    )
    kind = None if rows.order is None else rows.order.type
    return (*columns, kind, rows.skipped)


def test_cut_lines__numbers_count_blank_lines():
    rows = cut(b"a\n\n \t\r\n  b\r\nc")
    assert [rows[index] for index in range(3)] == [b"a\n", b"  b\r\n", b"c"]
    assert rows.numbers.tolist() == [1, 4, 5]


@each_of(
    ("ids", "expected"),
    [
        (["7", "8"], [7, 8]),
        (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
        (["7", '"007"'], ["7", "007"]),
        (["-0", "12345678901234567890123"], ["0", "12345678901234567890123"]),
        (["1", '"x"'], ["1", "x"]),
    ],
)
def test_parse__ids_may_be_integers(ids, expected):
    lines = "\n".join(f'{{"text": "a", "id": {value}}}' for value in ids).encode()
    assert parse(lines, ColumnNames(id="id")).id.to_pylist() == expected


@each_of(
    ("order", "expected", "kind"),
    [
        (["1", "null", "-3"], [1, None, -3], pa.int64()),
        (["1", "2.5"], [1.0, 2.5], pa.float64()),
        (["2.5", "1"], [2.5, 1.0], pa.float64()),
        (["1.0", "2"], [1.0, 2.0], pa.float64()),
        (["12345678901234567890", "1"], [1.2345678901234567e19, 1.0], pa.float64()),
        (['"b"', "null"], ["b", None], pa.string()),
        (["null", "null"], [None, None], pa.int64()),
    ],
)
@each_of("ids", ['"x"', "1", '"\\u0041"'])
def test_parse__order_kinds(order, expected, kind, ids):
    lines = [f'{{"text": "a", "id": {ids}, "date": {value}}}' for value in order]
    for odd in ([], ['{"text": "a", "id": "x", "date": null, "odd": "\\ud800"}']):
        rows = parse("\n".join(lines + odd).encode(), ALL)
        assert rows.order.type == kind
        assert rows.order.to_pylist()[: len(order)] == expected


def test_parse__one_column_for_several_purposes():
    rows = parse(b'{"text": "a"}\n{"text": "b"}\n', ColumnNames("text", "text", "text"))
    assert rows.text.to_pylist() == rows.id.to_pylist() == rows.order.to_pylist() == ["a", "b"]
    rows = parse(b'{"text": "a", "n": 5}', ColumnNames(id="n", order="n"))
    assert values(rows)[1:4] == ([5], [5], pa.int64())


@pytest.mark.parametrize("odd", [b"", b'{"a": "x", "b": "y", "odd": "\\ud800"}\n'])
def test_parse__several_columns_of_the_text(odd):
    """A null counts as empty, but not in all columns, nor does a column that is missing."""
    lines = (
        b'{"a": "1", "b": "2"}\n{"b": "2", "a": null}\n{"a": "1", "b": null}\n'
        b'{"a": null, "b": null}\n{"a": "1"}\n{"a": "", "b": ""}\n'
    )
    rows = parse(lines + odd, ColumnNames(("b", "a")), skip_bad=True)
    assert rows.text.to_pylist()[:6] == ["2\n1", "2\n", "\n1", None, None, "\n"]
    check_skipped(rows.skipped, {4: "'b', 'a'.*null", 5: "'b'; .*'a'; .*text_column"})


BAD_ROWS = [
    (
        b'{"body": "a", "id": "x"}',
        "'text'; .*'body', 'id'; .*text_column",
    ),
    (b"{}", "'text'; .*no columns"),
    (b'{"text": null, "id": "x"}', "'text'.*null"),
    (b'{"text": 5, "id": "x"}', "'text'.*number.*text"),
    (b'{"text": true, "id": "x"}', "'text'.*true or false"),
    (b'{"text": ["a"], "id": "x"}', "'text'.*array"),
    (b'{"text": {}, "id": "x"}', "'text'.*object"),
    (b'{"text": "a" "id"}', "JSON object: .*',' .*character 14"),
    (b'{"text": "a"', "JSON object: .*',' .*character 13"),
    (b'{"text": "a", "id": "x"} {"text": "b"}', "JSON object: .*character 26"),
    (b'[{"text": "a"}]', "JSON object: .*array"),
    (b'"text"', "JSON object: .*string"),
    (b"5", "JSON object: .*number"),
    (b"null", "JSON object: .*null"),
    (b'{"text": "a\tb"}', "JSON object: .*character 12"),
    (
        b'{"text": "\xc3\xa4\xff", "id": "x"}',
        "UTF-8 at byte 13 .*encoding cp1252",
    ),
    (
        b'{"text": "ab\\ud800", "id": "x"}',
        "'text'.*Unicode.*character 3",
    ),
    (
        b'{"text": "a", "id": "\\udc00"}',
        "'id'.*Unicode.*character 1",
    ),
    (
        b'{"text": "a", "date": 1}',
        "'id'; .*'text', 'date'; .*id_column",
    ),
    (b'{"text": "a", "id": null}', "'id'.*null"),
    (b'{"text": "a", "id": 1.0}', "'id'.* a number,"),
    (
        b'{"text": "a", "id": true}',
        "'id'.*true or false",
    ),
    (
        b'{"text": "a", "id": "x"}',
        "'date'; .*'text', 'id'; .*keep",
    ),
    (
        b'{"text": "a", "id": "x", "date": false}',
        "'date'.*true or false",
    ),
    (
        b'{"text": "a", "id": "x", "date": [1]}',
        "'date'.*array",
    ),
    (
        b'{"text": "a", "id": "x", "date": 5}',
        "'date'.*number.*strings",
    ),
    (
        b'{"id": "x", "odd": Inf, "date": "d"}',
        "JSON object: .*character 20",
    ),
]
GOOD = b'{"text": "good", "id": "y", "date": "2021"}\n'


@each_of(("line", "facts"), BAD_ROWS)
def test_parse__bad_rows(line, facts):
    lines = GOOD + b"\n" + line + b"\n" + GOOD
    with pytest.raises(InvalidInputError, match=rf"^a\.jsonl, row 3: .*{facts}") as caught:
        parse(lines, ALL)
    rows = parse(lines, ALL, skip_bad=True)
    expected = (["good", None, "good"], ["y", None, "y"], ["2021", None, "2021"], pa.string())
    assert values(rows) == (*expected, [(3, caught.value.reason)])


@each_of("columns", [TEXT, ColumnNames(id="id"), ColumnNames(order="date"), ALL])
def test_parse__bytes_of_a_column_that_are_not_utf8(columns):
    for line in (b'{"text": "\xff", "id": "a", "date": "b"}', b'{"text": "\\n\xed\xa0\x80"}'):
        rows = parse(GOOD + line + b"\n" + GOOD, columns, skip_bad=True)
        assert rows.text.to_pylist() == ["good", None, "good"]
        [(number, reason)] = rows.skipped
        assert number == 2
        assert reason.startswith("not valid UTF-8 at byte ")
    rows = parse(GOOD + b'{"text": "a", "id": "\xff", "date": "\xff"}\n', columns, skip_bad=True)
    assert len(rows.skipped) == (columns != TEXT)


@each_of(
    "line",
    [
        b'{"text": "a", "odd": NaN}',
        b'{"text": "a", "odd": -Infinity}',
        b'{"text": "a", "odd": "\xff"}',
        b'{"text": "b", "odd": "\xff", "text": "a"}',
        b'{"text": "a", "odd": "\\ud800"}',
        b'{"text": "a", "odd": 1e999999}',
        b'{"text": "b", "text": "a"}',
        b'{"te\\u0078t": "a"}',
        b'{"text": "a", "odd": ' + b"[" * 500 + b"]" * 500 + b"}",
        b' \t{"text": "a"} \r',
    ],
    ids=lambda line: line[:30].decode("latin-1"),
)
def test_parse__valid_for_one_parser_is_valid_in_any_company(line):
    assert parse(line).text.to_pylist() == ["a"]
    for other in (b'{"text": "a", "odd": NaN}', b'{"text": "a", "odd": "\\ud800"}'):
        assert parse(line + b"\n" + other).text.to_pylist() == ["a", "a"]
    found = parse(line + b'\n{"text": "\xff"}\n{"text": "a", "odd": Inf}', skip_bad=True)
    assert found.text.to_pylist() == ["a", None, None]


def test_json_file__one_object_over_several_lines(make_file):
    path = make_file("a.json", b'{\n  "text": "a"\n}\n')
    [block] = file_source(str(path), "a.json").blocks()
    facts = rf"^{re.escape(str(path))}, row 1: .*JSON object: .*character 2; .*\.json"
    with pytest.raises(InvalidInputError, match=facts):
        block.parse(ColumnNames())


def test_byte_order_mark__is_not_written_again(make_file, write_rows):
    path = make_file("a.jsonl", b"\xef\xbb\xbf" + GOOD)
    source = JsonLinesSource(str(path), "a.jsonl")
    assert write_rows(source, lambda _: True).read_bytes() == GOOD


def test_blocks__too_long_row(make_file, monkeypatch):
    monkeypatch.setattr(rawrows, "MAX_ROW_BYTES", 1 << 20)
    path = make_file("a.jsonl", GOOD + b"x" * (5 << 20))
    facts = f"^{re.escape(str(path))}, row 2: .*longer than 1 MB"
    with pytest.raises(InvalidInputError, match=facts):
        list(JsonLinesSource(str(path), "a.jsonl", block_bytes=1000).blocks())


def test_to_table__types():
    table = objects_to_table(
        cut(
            b'{"a": "2020-01-01", "b": {"c": ["2020-01-01 00:00:00"]}, "d": 1}\n{"d": 2.5, "e": 1}'
        ),
        path="a.jsonl",
    )
    assert table.to_pylist() == [
        {"a": "2020-01-01", "b": {"c": ["2020-01-01 00:00:00"]}, "d": 1.0, "e": None},
        {"a": None, "b": None, "d": 2.5, "e": 1},
    ]


def test_to_table__large_whole_numbers_keep_their_digits():
    table = objects_to_table(cut(b'{"n": 18446744073709551615}\n{"n": 1}\n'), path="a.jsonl")
    assert table.column("n").to_pylist() == [18446744073709551615, 1]


def test_to_table__errors():
    found = objects_to_table(cut(b'{"n": 1.0}\n{"n": "x"}\n'), path="a.jsonl")
    assert found["n"].to_pylist() == ["1", "x"]
    with pytest.raises(InvalidInputError, match=r"^a\.jsonl, row 2: .*'n'.*character 1"):
        objects_to_table(cut(b'{"n": 1.0}\n{"n": "\\ud800"}\n'), path="a.jsonl")
    with pytest.raises(InvalidInputError, match=r"^a\.jsonl, row 2: .*JSON object: .*number"):
        objects_to_table(cut(b'{"n": 1}\n5\n'), path="a.jsonl")
    assert objects_to_table(cut(b""), path="a.jsonl").num_rows == 0


@pytest.mark.parametrize("number", [600, pytest.param(6_000, marks=pytest.mark.slow)])
def test_fuzzed_lines__as_json_reads_them(number):
    counts, defects = trials(number, seed=number)
    assert not defects
    # Lines that all ended in the same way would show nothing.
    assert min(counts["taken"], counts["refused"]) > number // 5


FIRST = b'{"text": "a"}\n'


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"2026-01-31 a line of a log\n", "text"),
        (b'  [{"text": "a"}]\n', "json"),
    ],
)
def test_parse__first_row_of_another_format(make_file, content, advice):
    """A later row is a mishap, and one that is skipped needs no advice."""
    [block] = JsonLinesSource(str(make_file("a.jsonl", content)), "a.jsonl").blocks()
    with pytest.raises(InvalidInputError, match=f"; input_format {advice} "):
        block.parse(ColumnNames())
    [(_, reason)] = block.parse(ColumnNames(), skip_bad=True).skipped
    assert "input_format" not in reason
    [block] = JsonLinesSource(str(make_file("b.jsonl", FIRST + content)), "b.jsonl").blocks()
    for select in (None, np.array([False, True])):
        with pytest.raises(InvalidInputError) as caught:
            block.parse(ColumnNames(), select=select)
        assert "input_format" not in str(caught.value)
