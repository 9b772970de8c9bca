"""Options of sketches, their rules for odd texts, and what may be compared."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError, ResultLimitError
from neardup.jobs.sketch import estimate as pipeline
from neardup.jobs.sketch.estimators import estimate_rows
from neardup.jobs.sketch.sketch import KINDS

# For each option the kinds that have it, and a value of it.
OWN = {
    "num_perm": ({"minhash", "weighted"}, 16),
    "size": ({"smallest", "modulo"}, 16),
    "modulus": ({"modulo"}, 3),
    "fingerprint": ({"smallest", "modulo"}, "rabin"),
    "tf": ({"weighted"}, "log"),
    "idf": ({"weighted"}, "smooth"),
    "compression": ({"edit"}, 9),
    "neighbourhood": ({"edit"}, 3),
    "hash": ({"edit"}, "sum"),
    "letters": ({"edit"}, 2),
    "residue": ({"edit"}, 0),
    "tokenizer": ({"minhash", "weighted", "smallest", "modulo"}, "bytes"),
    "ngram": ({"minhash", "weighted", "smallest", "modulo"}, 3),
    "occurrences": ({"minhash", "smallest", "modulo"}, "numbered"),
    "seed": (set(KINDS), 7),
    "casefold": (set(KINDS), False),
    "unicode_form": (set(KINDS), "NFC"),
    "strip_accents": (set(KINDS), True),
    "fold_digits": (set(KINDS), True),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("kind", KINDS)
def test_sketch__options_of_each_kind(name, kind):
    """An option is in the scheme, or refused."""
    having, value = OWN[name]
    more = {"casefold": False} if value == "bytes" else {}
    if kind in having:
        sketches = neardup.sketch(["some text"], kind=kind, **{name: value}, **more)
        assert sketches.scheme[name] == value
        assert sketches.scheme["kind"] == kind
        return
    message = f"^{name} has no effect on sketches of kind {kind}; leave it out, or choose another"
    with pytest.raises(InvalidParameterError, match=message) as caught:
        neardup.sketch(["some text"], kind=kind, **{name: value})
    assert caught.value.parameters == (name, "kind")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "odd"}, "kind must be one of minhash, weighted, smallest, modulo, edit, got 'od"),
        ({"kind": []}, "kind must be one of minhash, weighted, smallest, modulo, edit, got []"),
        ({"kind": "edit", "idf_from": ["x"]}, "idf_from has no effect on sketches of kind edit"),
        ({"kind": "minhash", "idf_from": ["x"]}, "idf_from has no effect on sketches of kind minh"),
        (
            {"kind": "weighted", "idf_from": ["x"]},
            "idf_from has no effect with idf unary; leave it out, or choose another idf",
        ),
        (
            {"kind": "weighted", "idf_from": ["x"], "idf": "unary"},
            "idf_from has no effect with idf unary; leave it out, or choose another idf",
        ),
        (
            {"kind": "modulo", "modulus": 3, "size": 9},
            "size has no effect with a modulus; leave it out, or leave out modulus",
        ),
        ({"kind": "minhash", "num_perm": 65537}, "num_perm must lie between 1 and 65536, got 6553"),
        ({"kind": "weighted", "num_perm": 65537}, "num_perm must lie between 1 and 65536, got 655"),
        ({"kind": "smallest", "size": 2**20 + 1}, "size must lie between 1 and 1,048,576, got 104"),
        ({"kind": "modulo", "size": 2**20 + 1}, "size must lie between 1 and 1,048,576, got 10485"),
        ({"kind": "modulo", "modulus": 2**32 + 1}, "modulus must lie between 1 and 2^32, got 4294"),
        ({"kind": "edit", "compression": 2**20 + 1}, "compression must lie between 1 and 1,048,57"),
        ({"kind": "edit", "neighbourhood": 257}, "neighbourhood must lie between 1 and 256, got 2"),
        ({"kind": "edit", "letters": 2**32 + 1}, "letters must lie between 2 and 4,294,967,296, g"),
        ({"kind": "edit", "letters": 1}, "letters must lie between 2 and 4,294,967,296, got 1"),
        (
            {"kind": "edit", "residue": 100, "hash": "sum"},
            "residue must lie between 0 and 99, got 100",
        ),
        ({"kind": "edit", "residue": 3}, "residue has no effect with hash='mixed', got 3; leave i"),
        ({"kind": "edit", "hash": "odd"}, "hash must be 'mixed' or 'sum', got 'odd'"),
        ({"kind": "smallest", "fingerprint": "odd"}, "fingerprint must be mixer or rabin, got 'od"),
        ({"kind": "weighted", "tf": "odd"}, "tf must be one of binary, raw, log, squared, saturat"),
        ({"kind": "weighted", "idf": "odd"}, "idf must be one of unary, standard, smooth, probabi"),
        ({"seed": 2**64}, "seed must lie between 0 and 2^64 - 1, got 18446744073709551616"),
        ({"seed": -1}, "seed must lie between 0 and 2^64 - 1, got -1"),
        ({"ngram": 0}, "ngram must lie between 1 and 65536, got 0"),
        ({"kind": "edit", "on_error": "odd"}, "on_error must be raise or skip, got 'odd'"),
        ({"kind": "edit", "unicode_form": "NFD"}, "unicode_form must be"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        *(
            ({"kind": kind, name: value}, f"{name} must be a whole number, got {value!r}")
            for name, kind in (
                ("num_perm", "minhash"),
                ("num_perm", "weighted"),
                ("size", "smallest"),
                ("modulus", "modulo"),
                ("compression", "edit"),
                ("neighbourhood", "edit"),
                ("letters", "edit"),
                ("residue", "edit"),
                ("seed", "edit"),
                ("seed", "minhash"),
            )
            for value in (12.5, True, "7")
        ),
        *(
            ({"kind": kind, name: 0}, f"{name} must lie between 1 and ")
            for name, kind in (
                ("num_perm", "minhash"),
                ("size", "smallest"),
                ("modulus", "modulo"),
                ("compression", "edit"),
                ("neighbourhood", "edit"),
            )
        ),
    ],
)
def test_sketch__refuses(options, message):
    with pytest.raises(InvalidParameterError) as caught:
        neardup.sketch(["some text"], **options)
    assert str(caught.value).startswith(message)


def test_sketch__options_are_checked_before_files_are_looked_for():
    with pytest.raises(InvalidParameterError):
        neardup.sketch("no/such/file", size=1)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("minhash", {"num_perm": 1}),
        ("minhash", {"seed": 2**64 - 1}),
        ("smallest", {"size": 1}),
        ("smallest", {"size": 2**20}),
        ("modulo", {"modulus": 1}),
        ("modulo", {"modulus": 2**32}),
        ("edit", {"compression": 1, "neighbourhood": 1, "letters": 2}),
        ("edit", {"compression": 2**20, "neighbourhood": 256, "letters": 2**32}),
        ("edit", {"compression": 7, "hash": "sum", "residue": 6}),
    ],
)
def test_sketch__ends_of_ranges(kind, options):
    sketches = neardup.sketch(["some text", "some text "], kind=kind, **options)
    assert {name: sketches.scheme[name] for name in options} == options
    assert len(neardup.estimate(sketches).pairs) == 1


def test_sketch__defaults():
    assert neardup.sketch([]).scheme | {"unicode_version": ""} == {
        "kind": "minhash",
        "num_perm": 128,
        "seed": 42,
        "tokenizer": "words",
        "ngram": 5,
        "occurrences": "set",
        "casefold": True,
        "unicode_form": None,
        "strip_accents": False,
        "fold_digits": False,
        "hash_version": 1,
        "unicode_version": "",
    }
    assert neardup.sketch([], kind="weighted").scheme["ngram"] == 1
    assert neardup.sketch([], kind="smallest").scheme["size"] == 256
    assert neardup.sketch([], kind="modulo").scheme["size"] == 100
    assert neardup.sketch([], kind="edit").scheme["casefold"] is False


# Ids and rows.


def test_sketch__an_id_twice():
    rows = [{"id": name, "text": "x"} for name in ("a", "b", "a", "b")]
    message = r"^id 'a' comes twice; ids must differ, choose another id_column$"
    with pytest.raises(InvalidInputError, match=message):
        neardup.sketch(rows, id_column="id")


def test_sketch__bad_rows():
    rows = [{"text": "one two"}, {"text": None}, {"text": "three"}]
    with pytest.raises(InvalidInputError):
        neardup.sketch(rows)
    sketches = neardup.sketch(rows, on_error="skip")
    assert sketches.ids.to_pylist() == ["0", "2"]
    assert [row for _, row, _ in sketches.skipped] == [1]
    named = [row | {"id": name} for row, name in zip(rows, "abc", strict=True)]
    found = neardup.sketch(named, id_column="id", on_error="skip")
    assert found.ids.to_pylist() == ["a", "c"]
    assert found.rows.sizes.tolist() == [1, 1]
    assert len(neardup.sketch([{"text": None}], on_error="skip")) == 0


def test_sketch__from_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    assert neardup.sketch(tmp_path, lines=True).ids.to_pylist() == ["a.txt:1", "a.txt:2", "b.txt:1"]


# Weights.


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


# What may be compared.


@pytest.mark.parametrize(
    ("one", "other", "differences"),
    [
        ({}, {"seed": 1}, {"seed": (42, 1)}),
        (
            {"num_perm": 64, "ngram": 3},
            {"fold_digits": True},
            {"num_perm": (64, 128), "ngram": (3, 5), "fold_digits": (False, True)},
        ),
        ({}, {"kind": "weighted"}, {"kind": ("minhash", "weighted")}),
        ({"kind": "edit"}, {"kind": "smallest"}, {"kind": ("edit", "smallest")}),
        ({"kind": "modulo"}, {"kind": "modulo", "modulus": 2}, {"modulus": (None, 2)}),
        ({"kind": "smallest"}, {"kind": "smallest", "fingerprint": "rabin"}, {"fingerprint"}),
        ({"kind": "edit"}, {"kind": "edit", "casefold": True}, {"casefold": (False, True)}),
        ({"kind": "weighted"}, {"kind": "weighted", "tf": "log"}, {"tf": ("raw", "log")}),
    ],
)
def test_estimate__unlike_schemes(one, other, differences):
    with pytest.raises(neardup.SketchMismatchError) as caught:
        neardup.estimate(neardup.sketch(["a"], **one), neardup.sketch(["a"], **other))
    found = caught.value.differences
    if one.get("kind") == "modulo":
        # With a modulus there is no size.
        assert found.pop("size") == (100, None)
    if isinstance(differences, set):
        found = set(found)
    assert found == differences
    assert all(name in str(caught.value) for name in differences)


# Empty and short texts.

TEXTS = ["", "  ...  ", "one two", "One, two!", "one two three"]


@pytest.mark.parametrize("kind", ["minhash", "weighted", "smallest", "modulo"])
def test_estimate__empty_and_short_texts(kind):
    """An empty document is like none; one shorter than a shingle like those of its tokens."""
    sketches = neardup.sketch(TEXTS, kind=kind, ngram=5)
    assert sketches.rows.sizes.tolist() == [0, 0, 1, 1, 1]
    rows = {
        (int(row["id_a"]), int(row["id_b"])): row
        for row in neardup.estimate(sketches).pairs.to_pylist()
    }
    for (a, b), row in rows.items():
        if a < 2:
            assert (row["similarity"], row["error"], row["low"], row["high"]) == (0, 0, 0, 0)
        elif (a, b) == (2, 3):
            assert row["similarity"] == 1
        else:
            assert row["similarity"] == 0
            assert row["high"] < 0.03
    found = neardup.estimate(sketches, threshold="0.000000001").pairs.select(["id_a", "id_b"])
    assert found.to_pylist() == [{"id_a": "2", "id_b": "3"}]
    if kind == "modulo":
        empty = rows[0, 4]
        assert (empty["containment_a"], empty["containment_b"]) == (0, 0)
        assert (rows[2, 3]["containment_a"], rows[2, 3]["containment_b"]) == (1, 1)


def test_estimate__texts_without_enough_symbols():
    """Nothing is told but what the lengths say."""
    texts = ["", "", "short", "x" * 11, "y" * 40]
    sketches = neardup.sketch(texts, kind="edit", compression=1)
    assert sketches.rows.lengths.tolist() == [0, 0, 5, 11, 40]
    result = neardup.estimate(sketches)
    for row in result.pairs.to_pylist():
        lengths = [len(texts[int(row[name])]) for name in ("id_a", "id_b")]
        assert (row["low"], row["high"]) == (max(lengths) - min(lengths), max(lengths))
        assert {row[name] for name in ("distance", "similarity", "significance")} == {None}
    assert result.summary["unusable_pairs"] == 10
    assert len(neardup.estimate(sketches, threshold="0.000000001").pairs) == 0


@pytest.mark.parametrize("n", [19, 20])
def test_estimate__enough_samples(n):
    """Of a sketch that is not whole."""
    text = " ".join(f"w{i}" for i in range(50))
    sketches = neardup.sketch([text, text + " more"], kind="smallest", size=n, ngram=1)
    result = neardup.estimate(sketches)
    [row] = result.pairs.to_pylist()
    assert row["samples"] == n
    assert (row["similarity"] is None) == (row["low"] is None) == (n < 20)
    assert result.summary["unusable_pairs"] == (n < 20)


def test_estimate_rows__every_share_reaches_itself():
    """Also where a quotient times its divisor is less than the dividend, as 1 / 49 * 49."""
    for num_perm in (49, 98, 103, 107, 128):
        sketches = neardup.sketch(["x"] * (num_perm + 1), num_perm=num_perm)
        values = sketches.rows.values
        for row in range(num_perm + 1):
            values[row, row:] += 1
        first = np.full(num_perm + 1, num_perm)
        found = estimate_rows(sketches, first, np.arange(num_perm + 1))
        for equal in range(1, num_perm + 1):
            reaching = found.reaching(Fraction(equal, num_perm))["right"].to_pylist()
            assert reaching == list(range(equal, num_perm + 1))


# Bounds on pairs.


def test_estimate__limit():
    texts = ["one two three"] * 4
    for kind in ("minhash", "smallest", "modulo"):
        sketches = neardup.sketch(texts, kind=kind)
        for threshold in (None, 1):
            assert len(neardup.estimate(sketches, threshold=threshold, limit=6).pairs) == 6
            with pytest.raises(ResultLimitError, match=r"^more than 5 pairs: "):
                neardup.estimate(sketches, threshold=threshold, limit=5)
    sketches = neardup.sketch(
        [f"{i} " + "abcdefg" * 30 for i in range(4)], kind="edit", compression=1
    )
    with pytest.raises(ResultLimitError, match=r"^more than 5 pairs: "):
        neardup.estimate(sketches, threshold="0.5", limit=5)
    with pytest.raises(ResultLimitError, match=r"^more than 3 pairs: 4"):
        neardup.estimate(sketches, neardup.sketch(["x"], kind="edit", compression=1), limit=3)


def test_estimate__too_many_pairs(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_PAIRS", 5)
    sketches = neardup.sketch(["one two three"] * 4)
    with pytest.raises(InvalidParameterError, match=r"^6 pairs; give a threshold, 5 can be had"):
        neardup.estimate(sketches)
    assert len(neardup.estimate(sketches, threshold=1).pairs) == 6
    monkeypatch.setattr(pipeline, "MOST_PAIRS", 6)
    assert len(neardup.estimate(sketches).pairs) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0}, r"threshold must lie in \(0, 1\], got 0"),
        ({"threshold": "80"}, r"threshold must lie in \(0, 1\], got 80; write 0.8 for 80 %"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
    ],
)
def test_estimate__refuses(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        neardup.estimate(neardup.sketch(["a"]), **options)


def test_estimate__files_and_sketches_alike(tmp_path):
    sketches = neardup.sketch(["one two", "one two three"], ngram=1)
    sketches.write(tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    expected = neardup.estimate(sketches, sketches).pairs
    for one, other in ((path, sketches), (sketches, str(path)), (str(path), Path(path))):
        assert neardup.estimate(one, other).pairs == expected
    assert len(expected) == 4


def test_estimate__progress_and_summary():
    seen = []
    sketches = neardup.sketch(["one two", "one two"], progress=lambda *call: seen.append(call))
    assert seen == [("sketch", 2, None)]
    seen.clear()
    result = neardup.estimate(
        sketches, threshold="0.5", workers=1, progress=lambda *call: seen.append(call)
    )
    assert seen == [("join", 2, 2), ("estimate", 1, None)]
    assert result.summary["threshold"] == 0.5
    assert result.summary["documents"] == [2]
    assert set(result.summary["seconds"]) == {"estimate"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("option", "one", "other"),
    [
        ({"casefold": True}, "Straße", "STRASSE"),
        ({"unicode_form": "NFC"}, "caf\u00e9", "cafe\u0301"),
        ({"strip_accents": True}, "café", "cafe"),
        ({"fold_digits": True}, "٣ ၂", "3 2"),
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
