"""Lines of JSON made at random, many of them damaged, read beside what ``json`` makes of them.

``trials`` reads so many lines, some at a time, in columns that are drawn as well. It returns how
many were taken and refused, and the defects: blocks of lines of which anything came out but what
should.

What should is worked out twice: values, and rows that are refused, by ``expected`` with ``json``;
errors, word by word, by reading line by line.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any
from unittest.mock import patch

from neardup.errors import InvalidInputError
from neardup.files.jsonlines import JsonValues, parse_objects
from neardup.files.rawrows import RawRows, cut_lines
from neardup.files.rows import ColumnNames

COLUMNS = [
    ColumnNames(),
    ColumnNames(id="id"),
    ColumnNames(order="date"),
    ColumnNames(id="id", order="date"),
    ColumnNames(id="id", order="id"),
    ColumnNames(id="text", order="text"),
    ColumnNames(("text", "id")),
    ColumnNames(("id", "title", "text"), "id", "date"),
    ColumnNames("tëxt😀", "id"),
]
_NAMES = ["text", "id", "date", "title", "tëxt😀", "tex", "texts", "", 'a"b', "\ud800", "x" * 70]
_CHARACTERS = [*'ab "\\/{}[],:\n\t\b\f\r', "\0", "\x1f", "\x7f", *"é語😀", "\u2028", "x" * 40]
_HALVES = ["\ud800", "\udfff", "\ud83d", "\udc00a"]
_NUMBERS = [
    *("0", "-0", "7", "-12", "123456789012", "9223372036854775807", "-9223372036854775808"),
    *("9223372036854775808", "1" * 30, "1.5", "-0.0", "1e3", "1E-7", "2.5e+10", "1e999", "-1e-999"),
]
_NO_NUMBERS = ["01", "+1", ".5", "5.", "-", "1e", "1e+", "0x1", "--1", "1_0", "NaN", "-Infinity"]
_NO_VALUES = ["Inf", "Infinity", "nul", "True", "tru", "falsee", "", "'a'", "undefined", "nullx"]
_SPACES = ["", "", "", "", "", " ", "  ", "\t", "\r", " \r\t "]
_NO_SPACES = ["\f", "\v", "\xa0", "\ufeff", "\0", "/**/"]
_PIECES = [bytes([byte]) for byte in b'"\\{}[],:0e-+.u/nt\0\x1f\r \xff\xc3\x80\xed'] + [
    *(b'\\"', b"\\u", b"\\ud800", b"\\x", b'","', b'":', b"\xed\xa0\x80", b"\xf0\x9f\x98\x80"),
    *(b"\xf4\x90\x80\x80", b"\xc0\x80", b'"text":"z",', b"[" * 70, b"]" * 70, b'{"":' * 65),
]


def make_line(rng: random.Random, columns: ColumnNames) -> bytes:
    """Return a line without its end: an object, a damaged one, or something else."""
    # Of some lines almost everything is odd, of most nothing.
    oddness = rng.choice([0, 0, 0, 0.02, 0.02, 0.2])
    made = _value(rng, oddness, 2) if rng.random() < 0.02 else _row(rng, oddness, columns)
    line = bytearray((_space(rng, oddness) + made + _space(rng, oddness)).encode(errors="replace"))
    if rng.random() < 0.25:
        for _ in range(rng.randint(1, 3)):
            _damage(rng, line)
    return bytes(line).replace(b"\n", b" ")


def _row(rng: random.Random, oddness: float, columns: ColumnNames) -> str:
    """Return an object that mostly has the columns, of values of the kinds that they should be."""
    members = []
    # Of some rows all keys of numbers are strings, so that blocks have both kinds.
    for name in columns.names:
        if rng.random() < oddness:
            members += [(name, _value(rng, oddness, 2))] * rng.randrange(3)
        elif name in columns.texts:
            members.append((name, _text(rng, oddness) if rng.random() < 0.98 else "null"))
        else:
            makers = [_text, _text] if columns.id in columns.texts else [_text, _number]
            members.append((name, makers[rng.random() < 0.8](rng, oddness)))
    for _ in range(rng.choice([0, 0, 1, 2])):
        members.append((rng.choice(_NAMES), _value(rng, oddness, 2)))
    rng.shuffle(members)
    return _object(rng, oddness, members)


def _number(rng: random.Random, oddness: float) -> str:
    if rng.random() < oddness:
        return rng.choice(["null", *_NO_NUMBERS])
    return rng.choice(_NUMBERS) if rng.random() < 0.1 else str(rng.randint(-99, 999))


def _damage(rng: random.Random, line: bytearray) -> None:
    start = rng.randint(0, len(line))
    stop = min(len(line), start + rng.choice([0, 0, 1, 1, 2, 9, 1000]))
    way = rng.randrange(4)
    if way == 0:
        del line[start:stop]
    elif way == 1:
        line[start:start] = line[start:stop]
    else:
        line[start : start + rng.randint(0, 1)] = rng.choice(_PIECES)


def _object(rng: random.Random, oddness: float, members: list[tuple[str, str]]) -> str:
    written = []
    for name, value in members:
        parts = [_string(rng, name, 0.05 if oddness else 0.0), ":", value]
        written.append("".join(_space(rng, oddness) + part for part in parts))
    return _bracketed(rng, oddness, "{}", written)


def _bracketed(rng: random.Random, oddness: float, brackets: str, parts: list[str]) -> str:
    comma = "," if rng.random() > oddness / 4 else rng.choice(["", ",,", ";"])
    last = "," if rng.random() < oddness / 4 else ""
    return brackets[0] + comma.join(parts) + last + _space(rng, oddness) + brackets[1]


def _value(rng: random.Random, oddness: float, levels: int) -> str:
    if rng.random() < oddness / 2:
        return rng.choice(_NO_NUMBERS + _NO_VALUES)
    kind = rng.randrange(8 if levels else 5)
    if kind < 2:
        return rng.choice(_NUMBERS) if rng.random() < 0.5 else str(rng.randint(-99, 999))
    if kind < 4:
        return _text(rng, oddness)
    if kind == 4:
        return rng.choice(["null", "null", "true", "false"])
    if rng.random() < 0.01:
        depth = rng.choice([40, 62, 63, 64, 65, 200])
        return "[" * depth + "]" * depth
    parts = [_value(rng, oddness, levels - 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return _object(rng, oddness, [(rng.choice(_NAMES), part) for part in parts])
    return _bracketed(rng, oddness, "[]", [_space(rng, oddness) + part for part in parts])


def _text(rng: random.Random, oddness: float) -> str:
    characters = rng.choices(_CHARACTERS, k=rng.choice([0, 1, 2, 5, 12]))
    if rng.random() < oddness:
        characters.insert(rng.randint(0, len(characters)), rng.choice(_HALVES))
    return _string(rng, "".join(characters), rng.choice([0.0, 0.1, 0.9]))


def _string(rng: random.Random, value: str, share: float) -> str:
    """Write a string, a share of its characters as escapes although they need none."""
    written = []
    for character in value:
        is_escaped = rng.random() < share or "\ud800" <= character <= "\udfff"
        written.append(json.dumps(character, ensure_ascii=is_escaped)[1:-1])
        if is_escaped and character.isascii() and len(written[-1]) == 1:
            written[-1] = f"\\u{ord(character):04X}"
    return '"' + "".join(written) + '"'


def _space(rng: random.Random, oddness: float) -> str:
    return rng.choice(_NO_SPACES) if rng.random() < oddness / 20 else rng.choice(_SPACES)


# What should come of lines.

Row = tuple[str, str | int | None, Any]


def expected(lines: list[bytes], columns: ColumnNames) -> tuple[list[Any], list[int]]:
    """Return the columns of some lines, and which are refused."""
    rows: list[Row | None] = []
    kind = None
    for line in lines:
        row = _read(line, columns)
        if row is not None and row[2] is not None:
            own = str if isinstance(row[2], str) else float
            kind = kind or own
            row = row if own is kind else None
        rows.append(row)
    texts, ids, order = ([row and row[k] for row in rows] for k in range(3))
    known = [value for value in ids if value is not None]
    if known and not all(map(_is_long, known)):
        ids = [None if value is None else str(value) for value in ids]
    known = [value for value in order if value is not None]
    if kind is float and not all(map(_is_long, known)):
        order = [None if value is None else float(value) + 0.0 for value in order]
    found = [texts, ids if columns.id else None, order if columns.order else None]
    return found, [k for k, row in enumerate(rows) if row is None]


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _read(line: bytes, columns: ColumnNames) -> Row | None:
    """Return what a line holds; bytes of other columns need not be UTF-8."""
    try:
        row = json.loads(line.strip(b" \t\r\n").decode(errors="surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return _checked(row, columns) if isinstance(row, dict) else None


def _checked(row: dict[str, Any], columns: ColumnNames) -> Row | None:
    """Return the values of the columns; None if one may not be what it is."""
    names = [*columns.texts, *(name for name in (columns.id, columns.order) if name is not None)]
    if not all(name in row for name in names):
        return None
    texts = [row[name] for name in columns.texts]
    key = row[columns.id] if columns.id else None
    order = row[columns.order] if columns.order else None
    is_good = (
        all(isinstance(text, str | None) for text in texts)
        and any(text is not None for text in texts)
        and (not columns.id or isinstance(key, str | int))
        and isinstance(order, str | int | float | None)
        and not isinstance(key, bool)
        and not isinstance(order, bool)
        and all(_is_unicode(value) for value in (*texts, key, order))
    )
    return ("\n".join(text or "" for text in texts), key, order) if is_good else None


def _is_unicode(value: Any) -> bool:
    return not isinstance(value, str) or not any("\ud800" <= c <= "\udfff" for c in value)


# What comes of them.


def found(lines: list[bytes], columns: ColumnNames, *, skip_bad: bool) -> Any:
    """Return the columns that are read of lines, and the rows that are skipped, or the error."""
    data = b"\n".join(lines)
    cut = cut_lines(data, True)
    raw = RawRows(data, cut.starts, cut.ends, cut.numbers)
    try:
        rows = parse_objects(raw, columns, path="a.jsonl", skip_bad=skip_bad)
    except InvalidInputError as error:
        return str(error)
    arrays = (rows.text, rows.id, rows.order)
    values = [None if array is None else array.to_pylist() for array in arrays]
    # Among floats, -0 is one with a sign where Arrow reads it, and none for ``json``.
    values[2] = values[2] and [v + 0.0 if isinstance(v, float) else v for v in values[2]]
    # A column without a value may be of any type.
    types = [array.type for array in arrays[1:] if array and array.null_count < len(array)]
    return values, types, rows.skipped


def found_one_by_one(lines: list[bytes], columns: ColumnNames, *, skip_bad: bool) -> Any:
    """Return the same without kernels."""

    find = JsonValues.find

    def nothing(raw: RawRows, names: list[str]) -> Any:
        return find(RawRows.joining([b"x"] * len(raw), raw.numbers), names)

    with patch.object(JsonValues, "find", nothing):
        return found(lines, columns, skip_bad=skip_bad)


def defects_of(
    lines: list[bytes], columns: ColumnNames, counts: Counter[str], *, with_errors: bool
) -> list[str]:
    """Read lines, and say what is not as it should be."""
    defects = []
    values, refused = expected(lines, columns)
    got = found(lines, columns, skip_bad=True)
    if repr(got[0]) != repr(values):
        defects.append(f"{got[0]} and not {values}")
    if [number for number, _ in got[2]] != refused:
        defects.append(f"{got[2]} refused and not {refused}")
    counts["taken"] += len(lines) - len(refused)
    counts["refused"] += len(refused)
    if with_errors and len(lines) > 1:
        for skip_bad in (True, False):
            one_by_one = found_one_by_one(lines, columns, skip_bad=skip_bad)
            together = found(lines, columns, skip_bad=skip_bad)
            if repr(one_by_one) != repr(together):
                defects.append(f"{together} and not {one_by_one}, as of one line after the other")
    return defects


def trials(number: int, seed: int) -> tuple[Counter[str], list[Any]]:
    """Read so many lines; return how they ended, and the blocks that were read wrong."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    defects = []
    n_made = 0
    while n_made < number:
        n_lines = min(number - n_made, rng.choice([1, 2, 3, 10, 40]))
        columns = rng.choice(COLUMNS)
        made = (make_line(rng, columns) for _ in range(n_lines))
        lines = [line for line in made if line.strip()]
        n_made += n_lines
        if lines:
            wrong = defects_of(lines, columns, counts, with_errors=rng.random() < 0.3)
            defects += [(columns.names, [line.decode("latin-1") for line in lines], wrong)] * bool(
                wrong
            )
    return counts, defects
