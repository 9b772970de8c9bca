"""Rows that meet a condition are those of the definition, and a run over them is one over these."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.reading.where import Condition
from tests.oracles import where as oracle

# Such that many are equal, or nearly.
_TEXTS = ["", "a", "A", "b", "a_b", "1", "1.0", "01", "-3", "1e2", "true", "False", "é", "nan"]
_WHOLE = [0, 1, 2, -3, 100, 2**53 + 1, 2**53, 2**63 - 1, 2**63]
numbers = st.sampled_from([*_WHOLE, 0.5, 1.0, -3.0, 1e2, 2.0**53, 1e300])
scalars = st.sampled_from(_TEXTS) | numbers | st.booleans() | st.none()
names = st.sampled_from(["x", "y", "m.x", "m.y", "l[0]", "m.l[1]"])


@st.composite
def rows(draw):
    """Rows in which a name leads to values of any kind, or to none."""
    inner = st.dictionaries(st.sampled_from("xy"), scalars) | scalars
    lists = st.lists(scalars, max_size=2) | scalars
    row = draw(st.dictionaries(st.sampled_from("xy"), scalars))
    row |= draw(st.dictionaries(st.just("m"), inner))
    row |= draw(st.dictionaries(st.just("l"), lists))
    row |= draw(st.dictionaries(st.just("m.x"), scalars))
    if isinstance(row.get("m"), dict):
        row["m"] |= draw(st.dictionaries(st.just("l"), lists))
    return row


def conditions(names):
    """Conditions on columns of these names."""
    columns = names.map(lambda name: ("column", name))
    constants = scalars.filter(lambda x: x is not None).map(lambda x: ("constant", x))
    of_texts = st.tuples(st.sampled_from(["lower", "upper", "length"]), columns)
    operands = columns | constants | of_texts
    patterns = st.sampled_from(["%", "a%", "_", "%1%", "A", "é"])
    single = st.one_of(
        st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), operands, operands),
        st.tuples(st.just("null"), columns),
        st.tuples(st.just("is"), columns, st.booleans()),
        st.tuples(st.just("true"), columns),
        st.tuples(st.just("in"), columns, st.lists(constants, min_size=1, max_size=3)),
        st.tuples(st.just("between"), columns, constants, constants),
        st.tuples(st.sampled_from(["like", "ilike"]), columns, patterns),
    )
    return st.recursive(
        single,
        lambda inner: st.one_of(
            st.tuples(st.just("not"), inner),
            st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        ),
        max_leaves=4,
    )


def met(source, condition):
    """Return which rows of a source meet a condition, whatever its blocks are."""
    found = [condition.of(source, block) for block in source.blocks()]
    return np.concatenate([np.empty(0, np.bool_), *found]).tolist()


@given(st.lists(rows(), max_size=12), conditions(names), st.sampled_from([40, 90, 1 << 20]))
@example(
    [{"x": 1}, {"x": "1"}, {"x": 1.0}, {"x": None}], ("=", ("column", "x"), ("constant", 1)), 9
)
def test_json(rows, condition, block_bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        source = JsonLinesSource(str(path), path.name, block_bytes=block_bytes)
        expected = [oracle.meets(condition, row) for row in rows]
        assert met(source, Condition(oracle.to_sql(condition))) == expected


cells = st.sampled_from(_TEXTS) | numbers.map(str)


@given(
    st.lists(st.tuples(cells, cells), max_size=12),
    conditions(st.sampled_from(["x", "m.x"])),
    st.sampled_from([20, 1 << 20]),
)
def test_csv(rows, condition, block_bytes):
    text = io.StringIO()
    csv.writer(text).writerows([("x", "m.x"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_text(text.getvalue())
        source = DelimitedSource(str(path), path.name, block_bytes=block_bytes)
        # An empty field has no value.
        named = [dict(zip(("x", "m.x"), [x or None for x in row], strict=True)) for row in rows]
        expected = [oracle.meets(condition, row) for row in named]
        assert met(source, Condition(oracle.to_sql(condition))) == expected


words = st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join)


@pytest.mark.slow
@given(
    st.lists(st.tuples(words, rows()), min_size=1, max_size=12),
    conditions(names),
    st.sampled_from([40, 300, 1 << 20]),
    st.sampled_from([1, 3]),
)
def test_deduplicate(documents, condition, block_bytes, workers):
    # Of JSON the first rows have to have all columns.
    first = {"x": 1, "y": "b", "m": {"x": 0, "y": None, "l": [1, "a"]}, "l": [True]}
    documents = [("a b", first), *documents]
    named = [{"id": n, "text": text, **row} for n, (text, row) in enumerate(documents)]
    lines = [json.dumps(row) + "\n" for row in named]
    run = partial(neardup.deduplicate, threshold=0.5, ngram=1, workers=workers)
    chosen = [line for line, row in zip(lines, named, strict=True) if oracle.meets(condition, row)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", block_bytes)
        by_hand, path = Path(folder, "by hand", "rows.jsonl"), Path(folder, "rows.jsonl")
        by_hand.parent.mkdir()
        path.write_text("".join(lines))
        by_hand.write_text("".join(chosen))
        found = run(str(path), where=oracle.to_sql(condition))
        expected = run(str(by_hand))
        found.write(Path(folder, "found"))
        expected.write(Path(folder, "expected"))
        for side in ("kept", "removed"):
            parts = [Path(folder, of, side, "rows.jsonl") for of in ("found", "expected")]
            assert parts[0].read_bytes() == parts[1].read_bytes()
        assert found.summary["filtered_rows"] == len(lines) - len(chosen)
        removed, wanted = found.removed, expected.removed
        rows = ["row", "kept_row"]
        assert removed.drop_columns(rows).equals(wanted.drop_columns(rows))
        # Those of the file.
        for row, key in zip(rows, ["id", "kept_id"], strict=True):
            assert removed[row].to_pylist() == [n + 1 for n in removed[key].to_pylist()]
