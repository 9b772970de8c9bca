"""What each comparison says of each kind of value, whatever stands in the rows beside it."""

from __future__ import annotations

import csv
import io
import json
from itertools import product

import numpy as np
import pytest
from sqlglot import exp

from neardup.errors import InvalidParameterError
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.reading import where
from neardup.reading.where import Condition
from tests.each import each_of
from tests.oracles import where as oracle

VALUES = [
    *("", "a", "A", "b", "1", "1.0", "01", "-3", "1e2", "1e+300", "true", "False", "é", "nan"),
    *(0, 1, -3, 100, 2**53 + 1, 2**53, 2**63 - 1, 2**63, 10**400),
    *(0.5, 1.0, -3.0, 1e2, 1e300, True, False, None, [], [1], {"x": 1}),
]
ROWS = [{"x": value} for value in VALUES]
CONSTANTS = ["", "a", "1", "01", "1.0", "true", "é", 0, 1, -3, 100.0, 2**53, 2**63 - 1, 0.5, True]
X, Y = ("column", "x"), ("column", "y")
COMPARISONS = [
    (operator, X, ("constant", constant))
    for operator, constant in product(["=", "<>", "<", ">="], CONSTANTS)
]


def met(source, condition):
    """Return which rows of a source meet a condition."""
    made = Condition(oracle.to_sql(condition))
    return np.concatenate([made.of(source, block) for block in source.blocks()]).tolist()


@pytest.mark.slow
@each_of("block_bytes", [1, 60, 1 << 20])
def test_json(tmp_path, block_bytes):
    """The values stand in blocks of one kind, and of several."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    source = JsonLinesSource(str(path), path.name, block_bytes=block_bytes)
    others = [("null", X), ("true", X), ("is", X, False), ("like", X, "_"), ("ilike", X, "A")]
    others += [("=", ("lower", X), ("constant", "a")), ("<", ("length", X), ("constant", 2))]
    for condition in [*COMPARISONS, *others]:
        expected = [oracle.meets(condition, row) for row in ROWS]
        assert met(source, condition) == expected, condition
        negated = ("not", condition)
        expected = [oracle.meets(negated, row) for row in ROWS]
        assert met(source, negated) == expected, negated


def test_csv__empty_fields_are_null(tmp_path):
    texts = [str(value) for value in VALUES if not isinstance(value, list | dict)]
    lines = io.StringIO()
    csv.writer(lines).writerows([["x", "y"], *([text, "y"] for text in texts)])
    path = tmp_path / "a.csv"
    path.write_text(lines.getvalue())
    source = DelimitedSource(str(path), path.name, block_bytes=1 << 20)
    for condition in [*COMPARISONS[::3], ("null", X), ("not", ("null", X)), ("like", X, "%")]:
        expected = [oracle.meets(condition, {"x": text or None}) for text in texts]
        assert met(source, condition) == expected, condition


def test_null__is_neither_true_nor_false(tmp_path):
    rows = [{"x": x, "y": y} for x, y in product([1, 2, None], repeat=2)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = JsonLinesSource(str(path), path.name)
    one = [("=", each, ("constant", 1)) for each in (X, Y)]
    conditions = [("and", *one), ("or", *one), ("in", X, [("constant", 2), Y])]
    conditions += [("between", X, Y, ("constant", 1)), ("<", X, Y)]
    for condition in (*conditions, *(("not", each) for each in conditions)):
        assert met(source, condition) == [oracle.meets(condition, row) for row in rows], condition


def test_rows_that_cannot_be_read__meet_all_conditions(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"x": 1}\nno object\n{"x": "\xff"}\n{"x": 2, "y": "\xff"}\n{"x": 1e+300}\n')
    source = JsonLinesSource(str(path), path.name)
    assert met(source, ("=", X, ("constant", 3))) == [False, True, True, False, False]
    assert met(source, ("=", X, ("constant", 1))) == [True, True, True, False, False]
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n1,a\n2\n3,a,b\n\xff,a\n4,a\n" + b"5,a\n6\n" * 20)
    source = DelimitedSource(str(path), path.name)
    expected = [True, True, True, True, False, *[False, True] * 20]
    assert met(source, ("=", X, ("constant", 1))) == expected


def test_not__inside_of_a_comparison_and_around_it(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": "ab"}\n{"x": "cd"}\n{"x": null}\n')
    source = JsonLinesSource(str(path), path.name)
    [block] = source.blocks()
    for comparison in ("like 'a%'", "ilike 'A%'", "in ('ab')", "between 'a' and 'b'"):
        for condition in (f"x not {comparison}", f"not x {comparison}", f"not (x {comparison})"):
            assert Condition(condition).of(source, block).tolist() == [False, True, False]


def test_every_part_of_the_parser__is_evaluated_or_refused(monkeypatch):
    """Any argument of any node that is set, and that no evaluation takes into account."""
    conditions = [
        "not (a = 1 or b <> 2) and c < 3 and d <= 4 and e > 5 and f >= -6",
        "a like 'x' and b ilike 'y' and c in (1, 2) and d between 3 and 4 and e is null",
        "lower(a) = 'x' and upper(b) = 'y' and length(c) = 1 and d is true and x.y[0] = z.a.b.c.d",
    ]
    refused = set()
    for condition in conditions:
        for i, node in enumerate(where._parse(condition).walk()):
            for name in {*node.arg_types, "of_a_later_version"} - {*_evaluated(node)}:
                parsed = where._parse(condition)
                list(parsed.walk())[i].args[name] = exp.to_identifier("set")
                monkeypatch.setattr(where, "_parse", lambda _, parsed=parsed: parsed)
                with pytest.raises(InvalidParameterError, match="is none of comparisons"):
                    Condition(condition)
                monkeypatch.undo()
                refused.add((type(node).__name__, name))
    assert {("Between", "of_a_later_version"), ("In", "query")} <= refused


def _evaluated(node):
    return where._EVALUATED[type(node).__name__]
