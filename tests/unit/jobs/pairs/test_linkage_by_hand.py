"""What properties seldom meet: near texts of different blocks, values without tokens."""

from __future__ import annotations

import json

import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.jsonlines import JsonLinesSource
from tests.calls import grouped


def ids_of(result):
    return [(pair["id_a"], pair["id_b"]) for pair in result.pairs.to_pylist()]


def test_blocking__texts_that_are_near_without_anything_in_common():
    rows = [
        {"text": text, "city": city}
        for text, city in (("a", "x"), ("a", "y"), ("ab", "y"), ("b", "x"), ("b", None))
    ]
    assert ids_of(neardup.find_pairs(rows, blocking="city", max_distance=2)) == [
        ("0", "3"),
        ("1", "2"),
    ]


def test_columns__that_json_has_in_later_rows_only(tmp_path, monkeypatch):
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 40)
    rows = [{"text": f"one {n}"} for n in range(9)] + [{"text": "two", "price": 3}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InvalidInputError, match=r"'price'[^']*'text'"):
        neardup.find_pairs(tmp_path, **grouped(ngram=1, columns=["price"]))
    (tmp_path / "a.csv").write_text("id,text\n1,one\n")
    with pytest.raises(InvalidInputError, match=r"'price'[^']*'id', 'text'"):
        neardup.find_pairs(tmp_path / "a.csv", **grouped(ngram=1, columns=["price"]))


@pytest.mark.parametrize(
    ("numbers", "kind", "expected"),
    [
        ((2**53, 0.5), "double", [2.0**53, 0.5]),
        ((2**53 + 1, 0.5), "large_string", ["9007199254740993", "0.5"]),
    ],
)
def test_columns__of_numbers_that_have_no_type_in_common(tmp_path, numbers, kind, expected):
    for file, number in zip("ab", numbers, strict=True):
        (tmp_path / f"{file}.jsonl").write_text(f'{{"text": "one two", "price": {number}}}\n')
    pairs = neardup.find_pairs(tmp_path, columns=["price"], text=neardup.TextOptions(ngram=1)).pairs
    assert [pairs["price_a"][0].as_py(), pairs["price_b"][0].as_py()] == expected
    assert {str(pairs.schema.field(f"price_{side}").type) for side in "ab"} == {kind}
