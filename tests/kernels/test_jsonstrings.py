from __future__ import annotations

import json
import re
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.text import jsonstrings
from neardup.tables import AnyArray, Texts
from tests.arrays import make_texts
from tests.each import each_of
from tests.examples import examples

SPACE = st.sampled_from(["", " ", "\n\t", "\r"])
CHARACTER = st.sampled_from(list('ab"\\/{}[],:\n\t\x00é語😀\u2028'))
TEXT = st.lists(CHARACTER | st.sampled_from(["語" * 30, "x" * 50]), max_size=5).map("".join)
NAMES = ["text", "é", "a/b", "😀", ""]


@st.composite
def literals(draw: st.DrawFn, text: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """Draw a string, and how its characters are written, of all the ways that there are."""
    value = draw(text)
    ways = []
    is_plain = draw(st.booleans())
    for character in value:
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        units = [unit[0] for unit in struct.iter_unpack(">H", character.encode("utf-16-be"))]
        escaped = "".join(f"\\u{unit:04x}" for unit in units)
        choices = [plain, escaped, escaped.upper().replace("U", "u")]
        if character == "/":
            choices.append("\\/")
        ways.append(plain if is_plain else draw(st.sampled_from(choices)))
    return value, ways


@st.composite
def values(draw: st.DrawFn) -> str:
    inner = st.recursive(
        st.sampled_from(["null", "true", "-1.5e3", '""', '"}],{["', '"\\\\"', '"\\""']),
        lambda parts: st.one_of(
            st.lists(parts, max_size=3).map(lambda p: f"[{','.join(p)}]"),
            st.lists(parts, max_size=3).map(
                lambda p: "{" + ", ".join(f'"text":{x}' for x in p) + "}"
            ),
        ),
        max_leaves=6,
    )
    return draw(inner)


def find_places(raw: Texts, wanted: Texts) -> tuple[AnyArray, ...]:
    """Return kinds, starts and stops of the values of each name, and which rows are objects."""
    n_rows = len(raw.offsets) - 1
    n = n_rows * (len(wanted.offsets) - 1)
    kinds, are_objects = np.full(n, 99, np.uint8), np.zeros(n_rows, np.bool_)
    starts, stops = np.zeros((2, n), np.int64)
    jsonstrings.place_values(
        raw.data,
        raw.offsets[:-1],
        raw.offsets[1:],
        wanted.data,
        wanted.offsets,
        kinds,
        starts,
        stops,
        are_objects,
    )
    return kinds, starts, stops, are_objects


def place(rows: list[str], names: list[str]) -> tuple[list[bool], list[list[object]]]:
    """Return which rows are objects, and what they have of each name, as Python has it."""
    raw = make_texts(rows, lead='{"', trail='"}')
    kinds, starts, stops, are_objects = find_places(raw, make_texts(names))
    kinds[~np.tile(are_objects, len(names))] = jsonstrings.MISSING
    out = np.full(int((stops - starts).sum()) + 32, 99, np.uint8)
    offsets = np.full(len(kinds) + 1, -7, np.int64)
    jsonstrings.write_values(raw.data, kinds, starts, stops, out, offsets)
    texts = [bytes(out[a:b]).decode() for a, b in pairwise(offsets)]
    values = list(map(value_of, kinds.tolist(), texts))
    return are_objects.tolist(), [values[k :: len(rows)] for k in range(len(rows))]


def value_of(kind: int, text: str) -> object:
    if kind in (jsonstrings.PLAIN, jsonstrings.ESCAPED):
        return text
    if kind == jsonstrings.INTEGER:
        return int(text)
    if kind == jsonstrings.NUMBER:
        assert set(text) & set(".eE")
        return float(text)
    assert not text
    return {jsonstrings.NULL: None, jsonstrings.MISSING: "missing"}.get(kind, "other")


def expected_of(row: str, names: list[str]) -> list[object]:
    parsed = json.loads(row)
    found = [parsed.get(name, "missing") for name in names]
    return ["other" if isinstance(value, bool | list | dict) else value for value in found]


NUMBER = st.sampled_from(["0", "-0", "-12", "9" * 25, "1.5", "0.0", "1e3", "-1E+7", "2.5e-99"])


@st.composite
def rows_of_values(draw: st.DrawFn) -> str:
    """Draw an object, in which no name comes twice."""
    members = []
    for name in draw(st.lists(st.sampled_from([*NAMES, "tex", "texts"]), unique=True, max_size=4)):
        strings = literals(TEXT).map(lambda drawn: '"' + "".join(drawn[1]) + '"')
        written = draw(strings | values() | NUMBER)
        parts = [f'"{name}"', ":", written, ""]
        members.append("".join(draw(SPACE) + part for part in parts))
    return draw(SPACE) + "{" + draw(SPACE) + ",".join(members) + "}" + draw(SPACE)


@examples(150)
@given(rows=st.lists(rows_of_values(), min_size=1, max_size=3))
def test_place_values__as_a_parser(rows):
    are_objects, found = place(rows, NAMES)
    assert all(are_objects)
    assert found == [expected_of(row, NAMES) for row in rows]


@pytest.mark.slow
@examples(150)
@given(rows=st.lists(rows_of_values(), min_size=1, max_size=3))
def test_place_values__where_objects_and_arrays_stand(rows):
    raw = make_texts(rows, lead='{"', trail='"}')
    kinds, starts, stops, _ = find_places(raw, make_texts(NAMES))
    for k in np.flatnonzero(kinds == jsonstrings.OTHER).tolist():
        name, row = NAMES[k // len(rows)], rows[k % len(rows)]
        assert json.loads(bytes(raw.data[starts[k] : stops[k]])) == json.loads(row)[name]


def refused(constant: str) -> None:
    raise ValueError(constant)


@examples(300)
@given(row=rows_of_values(), data=st.data())
def test_place_values__nothing_that_a_parser_does_not_take(row, data):
    """Whatever is put in the place of a piece, it is an object only if it is one for ``json``."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(row)))
        stop = start + data.draw(st.integers(0, 3))
        piece = data.draw(
            st.sampled_from(["", *'{}[]",:\\0-+.eEu\n\x1f tn', '\\"', "\\uD800", "]}"])
        )
        row = row[:start] + piece + row[stop:]
    [is_object], [found] = place([row], NAMES)
    try:
        parsed = json.loads(row, parse_constant=refused)
    except ValueError:
        parsed = None
    if is_object:
        assert isinstance(parsed, dict)
        assert found == expected_of(row, NAMES)
    else:
        assert not isinstance(parsed, dict) or is_odd(row)


def is_odd(row: str) -> bool:
    """Return whether not all parsers take an object.

    They differ in halves of surrogate pairs, names that are there twice or have escapes, and large
    exponents.
    """
    names: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> list[object]:
        names[:] = [name for name, _ in pairs]
        return [*pairs]

    written = json.dumps(json.loads(row, object_pairs_hook=note), ensure_ascii=False)
    return (
        len(set(names)) < len(names)
        or any("\ud800" <= character <= "\udfff" for character in written)
        or re.search(r"[eE][-+]?\d{3}|\\[^:]*:", row) is not None
    )


@each_of("character", [*map(chr, [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000])])
def test_write_values__characters_of_each_length(character):
    for text in (character, "x" * 40 + character, character * 3, "\U0010ffff" + character):
        row = json.dumps({"text": text})
        assert place([row], ["text"]) == ([True], [[text]])


@each_of(
    "row",
    [
        *("", " ", "{", "}", "{]", "[]", "5", "null", "{}}", "{} {}", "{,}", '{"a"}', '{"a":}'),
        *('{"a":1,}', '{"a":1 "b":2}', "{'a':1}", '{"a":[1,]}', '{"a":[,1]}', '{"a":{"b":1]}'),
        *('{"a":01}', '{"a":-}', '{"a":1.}', '{"a":.5}', '{"a":1e}', '{"a":+1}', '{"a":1e999}'),
        *('{"a":nul}', '{"a":nulll}', '{"a":True}', '{"a":NaN}', '{"a":fals}', '{"a":tru}'),
        *('{"a":"}', '{"a":"\\"}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\\u12g4"}', '{"a":"\t"}'),
        *(
            '{"\\u0061":1}',
            '{"a":"\\ud800"}',
            '{"a":"\\ud800\\u0041"}',
            '{"\\udc00":1}',
            '{"text":1,"text":2}',
        ),
        '{"a":' + "[" * 64 + "]" * 64 + "}",
    ],
)
def test_place_values__no_object(row):
    assert place([row, "{}"], ["text"])[0] == [False, True]


def test_place_values__nested_as_deep_as_there_are_bits():
    row = '{"a":' + "[" * 63 + "]" * 63 + ',"text":7}'
    assert place([row], ["text"]) == ([True], [[7]])


def test_place_values__bytes_that_are_no_characters():
    """They are left to whoever knows which strings count."""
    data = np.frombuffer(b'{"a\xff":"\xc3","b":"\xed"}', np.uint8)
    kinds, starts, stops = np.empty(1, np.uint8), np.empty(1, np.int64), np.empty(1, np.int64)
    name, ends = np.frombuffer(b"b", np.uint8), np.array([0, 1])
    is_object = np.zeros(1, np.bool_)
    jsonstrings.place_values(
        data, ends[:1], np.array([len(data)]), name, ends, kinds, starts, stops, is_object
    )
    assert (is_object[0], kinds[0]) == (True, jsonstrings.PLAIN)
    assert bytes(data[starts[0] : stops[0]]) == b'"\xed"'
