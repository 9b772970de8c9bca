"""Tables that are no sketches, or not those that they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from neardup.errors import SketchFormatError
from neardup.stages.sketches import Sketches
from tests.each import each_of
from tests.unit.sketches.sketch_tables import (
    COLUMNS,
    KINDS,
    NOT_SKETCHES,
    lists,
    make,
    with_about,
    with_column,
    with_scheme,
)


@each_of(
    ("about", "facts"),
    [
        (b"", NOT_SKETCHES),
        (b"{", NOT_SKETCHES),
        (b"\xff", NOT_SKETCHES),
        (b"[" * 200_000, NOT_SKETCHES),
        ([], NOT_SKETCHES),
        (None, NOT_SKETCHES),
        ({"format": 1}, NOT_SKETCHES),
        ({"scheme": {}}, NOT_SKETCHES),
        ({"format": 2, "scheme": {}}, "format 2, .* 1;"),
        ({"format": 1, "scheme": []}, "format 1, .* 1;"),
        ({"format": 1, "scheme": {}}, "unknown kind .*None"),
        ({"format": 1, "scheme": {"kind": "odd"}}, "unknown kind .*'odd'"),
        ({"format": 1, "scheme": {"kind": ["edit"]}}, "unknown kind"),
    ],
)
def test_from_arrow__foreign_metadata(about, facts):
    table = with_about(make("minhash").to_arrow(), about)
    with pytest.raises(SketchFormatError, match=facts):
        Sketches.from_arrow(table)


@each_of(
    ("kind", "fields", "facts"),
    [
        ("minhash", {"num_perm": ...}, "minhash is not complete"),
        ("minhash", {"seed": ...}, "minhash is not complete"),
        ("weighted", {"num_perm": None}, "weighted is not complete"),
        ("modulo", {"modulus": ...}, "modulo is not complete"),
        ("modulo", {"modulus": 3}, "modulo is not complete"),
        ("edit", {"compression": ...}, "edit is not complete"),
        ("minhash", {"num_perm": 0}, "not valid: num_perm "),
        ("smallest", {"size": 2**20 + 1}, "not valid: size "),
        ("modulus", {"modulus": 2**32 + 1}, "not valid: modulus "),
        ("edit", {"compression": 0}, "not valid: compression "),
        *(
            ("minhash", {"num_perm": value}, "minhash .*whole numbers")
            for value in (16.0, "16", True, [16], {})
        ),
    ],
)
def test_from_arrow__schemes_that_are_none(kind, fields, facts):
    table = with_scheme(make(kind).to_arrow(), **fields)
    with pytest.raises(SketchFormatError, match=facts):
        Sketches.from_arrow(table)


@each_of("fields", [{"seed": 43}, {"ngram": 4}, {"tokenizer": ...}, {"more": 1}])
def test_from_arrow__a_scheme_that_was_changed(fields):
    table = with_scheme(make("minhash").to_arrow(), checked=False, **fields)
    with pytest.raises(SketchFormatError, match="scheme is damaged"):
        Sketches.from_arrow(table)


SIX = [[1, 2, 3, 4, 5, 6, 7, 8]] * 2


@pytest.mark.slow
@each_of(
    ("kind", "columns"),
    [
        *((kind, {"id": pa.array(["a", None])}) for kind in KINDS),
        *((kind, {"sketch": None}) for kind in KINDS),
        *((kind, {"sketch": pa.array(["x", "y"])}) for kind in KINDS),
        *((kind, {"sketch": pa.nulls(2)}) for kind in KINDS),
        ("edit", {"length": pa.array([-1, 9])}),
        ("edit", {"length": pa.array([None, 9])}),
        ("edit", {"length": pa.array([9.5, 9])}),
        ("edit", {"length": None}),
        *((kind, {"size": pa.array([-1, 9])}) for kind in ("minhash", "weighted", "modulus")),
        ("weighted", {"size": pa.array([None, 9])}),
        ("minhash", {"size": pa.array([2**63, 9], pa.uint64())}),
        ("minhash", {"sketch": lists([[1] * 16, [1] * 15], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 15, [1] * 17], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, None], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, [None] * 16], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, [2**32] * 16])}),
        ("minhash", {"sketch": lists([[1] * 16, [-1] * 16], pa.int64())}),
        ("weighted", {"weight": pa.array([-1, 9])}),
        ("weighted", {"weight": None}),
        ("smallest", {"sketch": lists([[2, 1], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists([[1, 1], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([3, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([1, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([None, 1])}),
        ("smallest", {"sketch": lists([[*range(9)], [3]]), "size": pa.array([None, 1])}),
        ("smallest", {"sketch": lists([[*range(9)], [3]]), "size": pa.array([9, 1])}),
        ("smallest", {"sketch": lists([[1, None], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists(SIX), "size": pa.array([-2, 8])}),
        ("modulo", {"modulus": pa.array([3, 1])}),
        ("modulo", {"modulus": pa.array([0, 1])}),
        ("modulo", {"modulus": pa.array([-1, 1])}),
        ("modulo", {"modulus": pa.array([None, 1])}),
        ("modulo", {"modulus": None}),
        ("modulo", {"sketch": lists([[2], [3]]), "modulus": pa.array([2, 2])}),
        (
            "modulo",
            {
                "sketch": lists([[1], [3]]),
                "modulus": pa.array([1, 1]),
                "size": pa.array([1, 5]),
            },
        ),
        ("modulo", {"sketch": lists([[1], [3]]), "modulus": pa.array([1, 1]), "size": pa.nulls(2)}),
        ("modulus", {"modulus": pa.array([7, 14]), "sketch": lists([[7], [14]])}),
        ("modulus", {"sketch": lists([[14, 7], []])}),
        ("modulus", {"sketch": lists([[7, 15], []])}),
        ("modulus", {"sketch": lists([[7, 14, 21], []]), "size": pa.array([2, 0])}),
        ("edit", {"sketch": lists([[8, 8], [9]], pa.uint32()), "length": pa.array([1, 9])}),
    ],
)
def test_from_arrow__columns_that_are_none(kind, columns):
    table = make(kind).to_arrow().slice(30, 2)
    for name, values in columns.items():
        table = table.drop_columns([name]) if values is None else with_column(table, name, values)
    with pytest.raises(SketchFormatError, match=COLUMNS):
        Sketches.from_arrow(table)


def test_from_arrow__offsets_that_are_none():
    table = make("smallest").to_arrow().slice(0, 2)
    for offsets in ([0, 500, 3], [0, 3, 2], [0, -1, 3]):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int64))]
        values = pa.array([1, 2, 3], pa.uint64())
        bad = pa.Array.from_buffers(pa.large_list(pa.uint64()), 2, buffers, children=[values])
        with pytest.raises(SketchFormatError, match=COLUMNS):
            Sketches.from_arrow(with_column(table, "sketch", bad))
