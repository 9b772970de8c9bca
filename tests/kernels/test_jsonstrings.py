from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.file import jsonstrings
from tests.arrays import make_texts
from tests.each import each_of
from tests.examples import examples

SPACE = st.sampled_from(["", " ", "\n\t", "\r"])
CHARACTER = st.sampled_from(list('ab"\\/{}[],:\n\t\x00é語😀\u2028'))
TEXT = st.lists(CHARACTER | st.sampled_from(["語" * 30, "x" * 50]), max_size=5).map("".join)
NAMES = ["text", "é", 'a"b', "😀", ""]


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


@st.composite
def objects(draw: st.DrawFn) -> tuple[str, dict[str, list[str]]]:
    """Draw an object as it is written, and how the strings of its members are."""
    members: list[str] = []
    found: dict[str, list[str]] = {}
    for _ in range(draw(st.integers(0, 4))):
        name, name_ways = draw(literals(st.sampled_from([*NAMES, "tex", "texts"])))
        if draw(st.booleans()):
            _, ways = draw(literals(TEXT))
            written = '"' + "".join(ways) + '"'
            found[name] = ways
        else:
            written = draw(values())
            found[name] = [written[1:-1]] if written.startswith('"') else []
        key = '"' + "".join(name_ways) + '"'
        members.append(
            "".join([draw(SPACE), key, draw(SPACE), ":", draw(SPACE), written, draw(SPACE)])
        )
    return draw(SPACE) + "{" + ",".join(members) + "}" + draw(SPACE), found


def find(rows: list[str], names: list[str]) -> list[list[bytes]]:
    raw = make_texts(rows, lead='"text":"', trail="}")
    wanted = make_texts(names, trail="\0\0\0")
    starts, stops = (np.full(len(rows) * len(names), -7, np.int64) for _ in range(2))
    jsonstrings.find_strings(
        raw.data, raw.offsets[:-1], raw.offsets[1:], wanted.data, wanted.offsets, starts, stops
    )
    found = [bytes(raw.data[a:b]) for a, b in zip(starts, stops, strict=True)]
    return [found[i : i + len(names)] for i in range(0, len(found), len(names))]


@pytest.mark.slow
@examples(150)
@given(rows=st.lists(objects(), min_size=1, max_size=3))
def test_find_strings__as_they_are_written(rows):
    found = find([row for row, _ in rows], NAMES)
    expected = [["".join(strings.get(name, [])).encode() for name in NAMES] for _, strings in rows]
    assert found == expected


@each_of("row", ["{}", '{"a":', '{"text', '{"text":"x', '{"text":"x\\', '{"text":', "", "{"])
def test_find_strings__of_what_is_no_object(row):
    """No parser takes such a row, but nothing behind it is read."""
    assert find([row], ["text"]) in ([[b""]], [[b"x"]], [[b"x\\"]])


@examples(80)
@given(strings=st.lists(literals(TEXT), min_size=1, max_size=3), data=st.data())
def test_characters__however_they_are_written(strings, data):
    texts = make_texts(["".join(ways) for _, ways in strings], lead="x", trail="\\")
    starts, stops = texts.offsets[:-1], texts.offsets[1:]
    counts = np.full(len(strings), -7, np.int64)
    jsonstrings.count_characters(texts.data, starts, stops, counts)
    assert counts.tolist() == [len(value) for value, _ in strings]
    wanted = [
        sorted(data.draw(st.lists(st.integers(0, len(value) + 2), max_size=4)))
        for value, _ in strings
    ]
    characters = np.array([c for numbers in wanted for c in numbers], np.int64)
    places = np.full(len(characters), -7, np.int64)
    offsets = np.cumsum([0, *map(len, wanted)], dtype=np.int64)
    jsonstrings.find_characters(texts.data, starts, stops, characters, offsets, places)
    assert places.tolist() == [
        start + len("".join(ways[:c]).encode())
        for start, (_, ways), numbers in zip(starts.tolist(), strings, wanted, strict=True)
        for c in numbers
    ]
