"""Sketches of odd rows, of normalised texts, with weights of other documents."""

from __future__ import annotations

import math

import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.sketches.registry import KIND_NAMES
from tests.each import each_of


def test_sketch__an_id_twice():
    rows = [{"id": name, "text": "x"} for name in ("a", "b", "a", "b")]
    with pytest.raises(InvalidInputError) as caught:
        neardup.sketch(rows, id_column="id")
    where = "was used before, in data, row 1; ids must differ"
    assert str(caught.value) == f"data, row 3: id 'a' {where}"


def test_sketch__an_id_in_two_files(tmp_path):
    """Rows that were left out count where a row is."""
    for name, lines in (
        ("a.jsonl", ['{"id": "x", "text": 5}', '{"id": "y", "text": "one"}']),
        ("b.jsonl", ['{"id": "z", "text": null}', '{"id": "y", "text": "two"}']),
    ):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    with pytest.raises(InvalidInputError) as caught:
        neardup.sketch(tmp_path, id_column="id", on_error="skip")
    name, where = caught.value.path, "was used before, in a.jsonl, row 2; ids must differ"
    assert str(caught.value) == f"{name}, row 2: id 'y' {where}"
    assert name.endswith("b.jsonl")


def test_sketch__bad_rows():
    rows = [{"text": "one two"}, {"text": None}, {"text": "three"}]
    with pytest.raises(InvalidInputError):
        neardup.sketch(rows)
    sketches = neardup.sketch(rows, on_error="skip")
    assert sketches.ids.to_pylist() == ["0", "2"]
    assert [row for _, row, _ in sketches.skipped] == [2]
    named = [row | {"id": name} for row, name in zip(rows, "abc", strict=True)]
    found = neardup.sketch(named, id_column="id", on_error="skip")
    assert found.ids.to_pylist() == ["a", "c"]
    assert found.rows.sizes.tolist() == [1, 1]
    assert len(neardup.sketch([{"text": None}], on_error="skip")) == 0


def test_sketch__from_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    assert neardup.sketch(tmp_path, lines=True).ids.to_pylist() == ["a.txt:1", "a.txt:2", "b.txt:1"]


def test_sketch__idf_from_other_documents():
    texts, reference = ["a b c", "a b d"], ["a", "a b", "c", "d d"]
    options = {"kind": "weighted", "idf": "standard"}
    own = neardup.sketch(texts, **options)
    other = neardup.sketch(texts, idf_from=reference, **options)
    unit = 2**20
    # Of two documents all have a and b; of four two have a, one each b, c and d.
    assert own.rows.totals.tolist() == [round(math.log(2) * unit)] * 2
    expected = round(math.log(2) * unit) + 2 * round(math.log(4) * unit)
    assert other.rows.totals.tolist() == [expected] * 2
    with pytest.raises(neardup.SketchMismatchError) as caught:
        neardup.estimate(own, other)
    assert list(caught.value.differences) == ["frequencies"]
    again = neardup.sketch(["a b c"], idf_from=reference, **options)
    assert neardup.estimate(other, again).pairs["similarity"][0].as_py() == 1.0


def test_sketch__idf_from_files_of_lines(tmp_path):
    """Read as the documents are."""
    (tmp_path / "reference.txt").write_text("a\na b\nc\nd d\n")
    options = {"kind": "weighted", "idf": "standard"}
    expected = neardup.sketch(["a b c"], idf_from=["a", "a b", "c", "d d"], **options)
    for reference in (tmp_path / "reference.txt", str(tmp_path / "reference.txt")):
        found = neardup.sketch(["a b c"], idf_from=reference, lines=True, **options)
        assert found.scheme == expected.scheme
        assert found.rows.totals.tolist() == expected.rows.totals.tolist()


@pytest.mark.slow
@each_of("kind", KIND_NAMES)
@each_of(
    ("option", "one", "other"),
    [
        ({"casefold": True}, "Straße", "STRASSE"),
        ({"unicode_form": "NFC"}, "caf\u00e9", "cafe\u0301"),
        ({"strip_accents": True}, "café", "cafe"),
    ],
)
def test_sketch__normalisation(kind, option, one, other):
    """What is folded away makes no difference, and without the option it does."""
    more = {"compression": 1, "neighbourhood": 2} if kind == "edit" else {}
    plain = {"casefold": False, "unicode_form": None}

    def tables(options):
        return [
            neardup.sketch([{"text": f"{text} " * 9}], kind=kind, **options, **more).to_arrow()
            for text in (one, other)
        ]

    folded = tables(plain | option)
    assert folded[0] == folded[1]
    told = tables(plain)
    assert told[0] != told[1]
