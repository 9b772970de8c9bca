"""Spans that a table names: which of them go, and tables that do not fit."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from tests.calls import grouped
from tests.cutting import cut
from tests.each import each_of

TEXTS = ["0123456789", "abcdefghij", "ABCDEFGHIJKLMNO"]
DATA = pa.table({"id": ["x", "y", "z"], "text": TEXTS, "rank": [2, 1, 3]})
PASSAGE = "a passage that is in two texts at least and " * 3


def aligned(*rows, similarities=None):
    """A table as ``align`` makes it, of rows of two places (id, start, end) each."""
    table = [
        {"query_id": q[0], "query_start": q[1], "query_end": q[2],
         "doc_id": d[0], "doc_start": d[1], "doc_end": d[2], "similarity": 0.9}
        for q, d in rows
    ]  # fmt: skip
    for row, similarity in zip(table, similarities or [], strict=False):
        row["similarity"] = similarity
    return pa.Table.from_pylist(table)


def named(*rows):
    return pa.table(
        {name: [row[i] for row in rows] for i, name in enumerate(("id", "start", "end"))}
    )


def gone(table, **options):
    """Text that is left, and (id, start, end, kept_id, kept_start, kept_end, kept_in) of rows."""
    found = cut(DATA, **grouped(id_column="id", named_in=table, **options))
    rows = found.removed.drop_columns(["similarity", "file", "row"]).to_pylist()
    return found.kept["text"].to_pylist(), [tuple(row.values()) for row in rows]


def test_named__spans():
    texts, rows = gone(named(("z", 0, 3), ("x", 2, 4), ("x", 3, 6), ("z", 3, 4), ("y", 5, 5)))
    assert texts == ["016789", "abcdefghij", "EFGHIJKLMNO"]
    assert rows[0] == ("x", 2, 4, None, 0, 0, "against")
    assert len(rows) == 5


def test_named__replacement_once_for_spans_that_adjoin():
    texts, _ = gone(named(("x", 2, 4), ("x", 4, 6), ("x", 8, 9)), replacement="[…]")
    assert texts[0] == "01[…]67[…]9"


def test_named__the_later_of_two_loses():
    table = aligned((("x", 0, 4), ("y", 1, 5)), (("z", 0, 3), ("y", 7, 9)))
    texts, rows = gone(table)
    assert texts == ["0123456789", "afghij", "DEFGHIJKLMNO"]
    assert rows == [("y", 1, 5, "x", 0, 4, "input"), ("z", 0, 3, "y", 7, 9, "input")]
    # The table is written some rows at a time.
    with patch("neardup.jobs.cut.cut.ROWS_AT_ONCE", 1):
        assert gone(table) == (texts, rows)
    # By rank y is first, then x.
    texts, rows = gone(table, keep="min:rank")
    assert texts == ["456789", "abcdefghij", "DEFGHIJKLMNO"]
    texts, rows = gone(table, keep="longest")
    assert texts == ["0123456789", "afgj", "ABCDEFGHIJKLMNO"]
    assert rows == [("y", 1, 5, "x", 0, 4, "input"), ("y", 7, 9, "z", 0, 3, "input")]


def test_named__unless_its_reason_goes():
    table = aligned((("x", 0, 4), ("y", 1, 5)), (("y", 4, 8), ("z", 0, 4)))
    assert gone(table)[0] == ["0123456789", "afghij", "ABCDEFGHIJKLMNO"]
    # It goes for another one.
    both = pa.concat_tables([table, aligned((("x", 4, 8), ("z", 0, 4)))])
    assert gone(both)[0] == ["0123456789", "afghij", "EFGHIJKLMNO"]
    assert gone(both)[1][1] == ("z", 0, 4, "x", 4, 8, "input")


def test_named__within_a_document():
    table = aligned((("x", 0, 3), ("x", 5, 8)), (("x", 5, 7), ("x", 8, 10)))
    texts, rows = gone(table)
    # Of two that are as similar the first in the text goes, and can be no reason then.
    assert texts[0] == "0123489"
    assert rows == [("x", 5, 8, "x", 0, 3, "input")]
    texts, rows = gone(aligned((("x", 0, 3), ("x", 5, 8)), (("x", 5, 7), ("x", 8, 10)),
                               similarities=[0.8, 0.9]))  # fmt: skip
    assert texts[0] == "01234567"
    # Whose part of the table is the query does not matter, nor do passages that overlap.
    assert gone(aligned((("x", 5, 8), ("x", 0, 3))))[0][0] == "0123489"
    assert gone(aligned((("x", 0, 5), ("x", 3, 8))))[0][0] == TEXTS[0]


def test_named__sides():
    of_others = aligned((("x", 0, 4), ("other", 1, 5)), (("z", 0, 4), ("another", 100, 500)))
    expected = ["456789", TEXTS[1], "EFGHIJKLMNO"]
    texts, rows = gone(of_others)
    assert texts == gone(of_others, side="query")[0] == expected
    assert rows[0] == ("x", 0, 4, "other", 1, 5, "against")
    with pytest.raises(InvalidInputError, match="such as 'other'; give the same input"):
        gone(of_others, side="doc")
    both = aligned((("x", 0, 4), ("y", 1, 5)), (("x", 2, 6), ("z", 0, 3)))
    assert gone(both, side="query")[0] == ["6789", *TEXTS[1:]]
    assert gone(both, side="doc")[0] == [TEXTS[0], "afghij", "DEFGHIJKLMNO"]


def test_named__what_align_and_cut_return():
    texts = [f"One. {PASSAGE}", f"Two. {PASSAGE} End.", f"Three. {PASSAGE}"]
    found = neardup.align(texts, min_tokens=10)
    assert cut(texts, named_in=found).kept["text"].to_pylist() == [
        texts[0],
        "Two.   End.",
        "Three.  ",
    ]
    first = cut(texts, exact=True, min_tokens=10)
    again = cut(texts, named_in=first.removed)
    assert cut(texts, named_in=first).removed.equals(again.removed)
    assert again.kept.equals(first.kept)
    assert again.removed.equals(first.removed)
    assert again.summary["characters_removed"] == first.summary["characters_removed"]


@each_of(
    ("table", "words"),
    [
        (pa.table({"id": ["x"], "start": [0]}), "no id, start, end; columns are id, start"),
        (named(("x", 0, 11)), "names characters 0 to 11 of document 'x', which has 10"),
        (named(("x", -1, 5)), "names characters -1 to 5"),
        (named(("x", 6, 5)), "names characters 6 to 5"),
        (named(("w", 0, 5)), "does not have, such as 'w'; give the same input"),
        (named((None, 0, 5)), "does not have, such as None"),
        (named(("x", 0.5, 5)), "'start' holds other things than whole numbers"),
        (named(("x", 0, None)), "'end' holds other things than whole numbers"),
        (named(("x", "0", "five")), "'end' holds other things than whole numbers"),
        (aligned((("x", 0, 4), ("y", 1, 50))), "1 to 50 of document 'y', which has 10"),
        (aligned((("v", 0, 4), ("w", 1, 5))), "does not have, such as 'v'"),
        (
            aligned((("x", 0, 4), ("y", 1, 5)), similarities=["high"]),
            "'similarity' holds other things than numbers",
        ),
    ],
)
def test_named__tables_that_do_not_fit(table, words):
    with pytest.raises(InvalidInputError, match=words):
        gone(table)
