"""Documents that are asked for under a condition."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidParameterError
from tests.calls import grouped
from tests.document_indexes import OPTIONS, text_of
from tests.each import each_of

COLUMNS = {"lang": ["de", "en", None], "size": [1, 2.5, 3]}


def make_rows(n: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"d{k}",
            "text": text_of(k),
            **{name: values[k % len(values)] for name, values in COLUMNS.items()},
        }
        for k in range(n)
    ]


@pytest.fixture
def index(tmp_path):
    """Give an index with two segments, a tail, documents that wait, and some that are gone."""
    made = neardup.DocumentIndex.create(
        tmp_path / "idx", **grouped(columns=["lang", "size"], **OPTIONS)
    )
    rows = make_rows(90)
    made.add(rows[:40])
    made.add(rows[40:60])
    for row in rows[60:75]:
        made.insert(**row)
    made.commit()
    made.remove(["d3", "d41", "d42"])
    for row in rows[75:]:
        made.insert(**row)
    return made


def rows_of(index) -> list[dict[str, object]]:
    return index.documents(0, 1000)


@pytest.mark.slow
@each_of(
    ("condition", "holds"),
    [
        ("lang = 'de'", lambda row: row["lang"] == "de"),
        ("lang is null", lambda row: row["lang"] is None),
        ("size >= 2", lambda row: float(row["size"]) >= 2),
        ("id in ('d5', 'd70', 'd80')", lambda row: row["id"] in ("d5", "d70", "d80")),
        (
            "text like '%w1%' and lang <> 'de'",
            lambda row: "w1" in row["text"] and row["lang"] == "en",
        ),
        ("1 = 2", lambda _: False),
    ],
)
def test_where__what_meets_it_of_all_that_is_found(index, condition, holds):
    kept = {row["id"] for row in rows_of(index) if holds(row)}
    for number in (0, 5, 61, 80):
        text = text_of(number)
        every = [match for match in index.query(text, top=1000) if match.id in kept]
        assert index.query(text, top=1000, where=condition) == every
        assert index.query(text, top=2, where=condition) == every[:2]
        above = [match for match in every if match.similarity >= 0.5]
        assert index.query(text, where=condition) == above
        table = index.search([text], doc_where=condition).table
        assert table["doc_id"].to_pylist() == [match.id for match in above]


@each_of("where", ["colour = 'red'", "size >", "lang.x.y = 1 and other = 2", ""])
def test_where__refused(index, where):
    for call in (
        lambda: index.query("a", where=where),
        lambda: index.query(text_of(0), where=where),
        lambda: index.search([text_of(0)], doc_where=where),
    ):
        with pytest.raises(InvalidParameterError, match="where"):
            call()
