"""Documents that are asked for: under a condition, with columns, page by page."""

from __future__ import annotations

import base64
import json
import random

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
    assert [row["id"] for row in index.page(1000, where=condition).documents] == [
        row["id"] for row in rows_of(index) if row["id"] in kept
    ]


@each_of("where", ["colour = 'red'", "size >", "lang.x.y = 1 and other = 2", ""])
def test_where__refused(index, where):
    for call in (
        lambda: index.query("a", where=where),
        lambda: index.query(text_of(0), where=where),
        lambda: index.page(where=where),
        lambda: index.search([text_of(0)], doc_where=where),
    ):
        with pytest.raises(InvalidParameterError, match="where"):
            call()


@pytest.mark.slow
def test_page__nothing_twice_and_nothing_passed_over(index):
    """Whatever comes, goes or is compacted between two pages."""
    rng = random.Random(3)
    before = [row["id"] for row in rows_of(index)]
    gone: set[object] = set()
    seen: list[object] = []
    cursor = None
    for round_ in range(1000):
        page = index.page(rng.randint(1, 7), cursor=cursor)
        seen += [row["id"] for row in page.documents]
        cursor = page.cursor
        if cursor is None:
            break
        # Not the one at the cursor: an index that is written anew has no trace of it.
        some = [key for key in before if key not in gone and key != seen[-1]]
        victims = rng.sample(some, 2)
        index.remove(victims)
        gone.update(victims)
        index.insert(f"new-{round_}", text_of(round_), lang=None, size=1)
        if round_ % 3 == 0:
            index.compact()
    assert len(seen) == len(set(seen))
    assert {key for key in before if key not in gone} <= set(seen)


def test_page__behind_a_document_that_is_gone(index):
    page = index.page(5)
    index.remove([page.documents[-1]["id"]])
    assert index.page(1, cursor=page.cursor).documents[0]["id"] == "d6"
    index.compact()
    with pytest.raises(InvalidParameterError, match="begin again without a cursor"):
        index.page(1, cursor=page.cursor)


@each_of("value", [10**400, float("nan"), float("inf"), True, "1", None, [1]])
def test_cursor__of_no_number(index, value):
    """None of what JSON has instead of the numbers of a cursor is an error of ours."""
    cursor = index.query(text_of(5), limit=1).cursor
    content = json.loads(base64.urlsafe_b64decode(cursor))
    for place, was in enumerate(content):
        if not isinstance(was, str):
            forged = json.dumps([*content[:place], value, *content[place + 1 :]])
            with pytest.raises(InvalidParameterError, match="cursor must be one that"):
                index.query(text_of(5), cursor=base64.urlsafe_b64encode(forged.encode()).decode())


def test_cursor__of_something_else(index, tmp_path):
    cursor = index.query(text_of(5), limit=1).cursor
    with pytest.raises(InvalidParameterError, match="of another question"):
        index.query(text_of(6), cursor=cursor)
    # Segments have the same names in all indexes.
    other = neardup.DocumentIndex.create(tmp_path / "other", **grouped(**OPTIONS))
    other.add([{"id": f"e{k}", "text": text_of(k)} for k in range(9)])
    with pytest.raises(InvalidParameterError, match="of another index"):
        other.query(text_of(5), cursor=cursor)
    with pytest.raises(InvalidParameterError, match="of another index"):
        other.page(cursor=index.page(30).cursor)


@pytest.mark.parametrize("options", [{"limit": 1}, {"top": 4}, {"limit": 1, "where": "size > 2"}])
def test_query__pages_are_the_whole(index, options):
    text, found, cursor = text_of(5), [], None
    all_of_them = {"top": 1000} if "top" in options else {"limit": 1000}
    whole = index.query(text, where=options.get("where"), **all_of_them)
    while True:
        page = index.query(text, cursor=cursor, **options)
        found += page
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page) == options.get("limit", options.get("top"))
    assert found == whole
    assert page.n_matches == len(whole) >= 2


@pytest.mark.slow
def test_query__nothing_twice_and_nothing_passed_over(tmp_path):
    """Whatever comes, goes or is compacted between two pages, most of all where all are alike."""
    rng = random.Random(5)
    index = neardup.DocumentIndex.create(
        tmp_path / "ties", threshold="0.2", text=neardup.TextOptions(ngram=1)
    )
    index.add([{"id": f"d{n}", "text": "one two three" + " four" * (n % 2)} for n in range(60)])
    before, gone, seen, cursor = [f"d{n}" for n in range(60)], set(), [], None
    for round_ in range(100):
        page = index.query("one two three", limit=rng.randint(1, 5), cursor=cursor)
        seen += [match.id for match in page]
        cursor = page.cursor
        if cursor is None:
            break
        some = [key for key in before if key not in gone and key != seen[-1]]
        victims = rng.sample(some, min(2, len(some)))
        index.remove(victims)
        gone.update(victims)
        index.insert(f"new-{round_}", "one two three")
        if round_ % 3 == 0:
            index.compact()
    assert cursor is None
    assert len(seen) == len(set(seen))
    assert set(before) - gone <= set(seen)
