"""The report of an alignment, from a table and the files that it was made from."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import ColumnNames
from neardup.jobs.report import passages as job
from neardup.jobs.report.passages import _most_shared, gather_passages
from neardup.outputs.table_rows import TableRows
from neardup.runs.runner import Runner
from neardup.stages.tables import Collection

SHARED = "It was the best of times, it was the worst of times, it was the age of wisdom of all."
TEXTS = [f"One says: {SHARED}", "Nothing of it is here.", f"{SHARED} So says another.", SHARED]
COLUMNS = ["query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity"]


@pytest.fixture
def files(tmp_path):
    for k, text in enumerate(TEXTS):
        (tmp_path / f"{k}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def collection(data, **columns) -> Collection:
    return Collection(resolve_inputs(data), ColumnNames(id_is_default=True, **columns))


def gather(table, inputs=None, against=None, **more):
    rows = TableRows.of_table(table, block_rows=2)
    return gather_passages(rows, Runner(1), inputs, against, wanted=_most_shared, **more)


def report_of_passages(table, *arguments, **options):
    return job.report_of_passages(TableRows.of_table(table), *arguments, **options)


def looks_like_search(table):
    return job.looks_like_search(TableRows.of_table(table))


def test_gather_passages__of_one_collection(files):
    table = neardup.align(files, min_tokens=10).passages
    passages, counts = gather(table, collection(files))
    assert (passages.is_one, counts) == (True, (4,))
    assert [document.file for document in passages.documents] == ["0.txt", "2.txt", "3.txt"]
    assert [document.text for document in passages.documents] == [TEXTS[0], TEXTS[2], TEXTS[3]]
    for row, found in enumerate(table.to_pylist()):
        spans = passages.take([row])
        a, b = passages.texts_of(spans, 0)
        assert passages.documents[spans.queries[0]].id == found["query_id"]
        assert passages.documents[spans.docs[0]].id == found["doc_id"]
        assert a.endswith("wisdom of all")
        assert b.endswith("wisdom of all")


def test_gather_passages__of_two_collections(files):
    table = neardup.align(TEXTS[2:], files, min_tokens=10).passages
    passages, counts = gather(table, collection(TEXTS[2:]), collection(files))
    assert (passages.is_one, counts) == (False, (2, 4))
    assert {d.file for d in passages.documents} == {None, "0.txt", "2.txt", "3.txt"}


def test_report_of_passages__without_texts(files):
    table = neardup.align(files, min_tokens=10).passages
    html = report_of_passages(table, Runner(1)).html
    assert "neardup report TABLE INPUT..." in html
    with_texts = neardup.align(files, min_tokens=10, with_text=True).passages
    html = report_of_passages(with_texts, Runner(1)).html
    assert "neardup report TABLE INPUT..." not in html
    assert "best of times" in html


def test_report_of_passages__says_the_rule(files):
    result = neardup.align(files, min_tokens=10)
    known = collection(files)
    told = report_of_passages(result.passages, Runner(1), known, summary=result.summary).html
    assert "as a whole its similarity is at least 0.5. In one of the two texts it" in told
    assert "it has at least 10 words, in the other it may have fewer" in told
    found = report_of_passages(result.passages, Runner(1), known).html
    least = min(result.passages["similarity"].to_pylist())
    assert f"the least alike of those found has a similarity of {least:.4f}." in found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_id": "missing"}, "INPUT does not have, such as 'missing'"),
        ({"doc_end": 5000}, "characters 0 to 5,000 of document"),
        ({"query_start": -1}, "characters -1 to"),
    ],
)
def test_report_of_passages__of_other_documents(files, change, message):
    row = {"query_id": "0.txt", "query_start": 0, "query_end": 5, "similarity": 1.0}
    row |= {"doc_id": "2.txt", "doc_start": 0, "doc_end": 5} | change
    with pytest.raises(InvalidInputError, match=message):
        gather(pa.Table.from_pylist([row]), collection(files))


ITEMS = [{"id": "times", "text": SHARED}, {"id": "none", "text": "What is nowhere at all? " * 4}]


@pytest.fixture
def found(tmp_path_factory, files):
    index = neardup.PassageIndex.create(tmp_path_factory.mktemp("i") / "index", min_tokens=8)
    index.add(files)
    return index.search(ITEMS, threshold=0.6)


def test_report_of_passages__of_a_search(files, found):
    report = report_of_passages(
        found.passages, Runner(1), collection(ITEMS), collection(files), summary=found.summary
    )
    assert report.headline == "1 of 2 test items was found"
    assert "One says: " in report.html
    # Without the summary the table looks like that of a search.
    passages = found.passages
    report = report_of_passages(passages, Runner(1), collection(ITEMS), collection(files))
    assert report.headline == "1 of 2 test items was found"
    report = report_of_passages(passages, Runner(1), collection(ITEMS))
    assert report.headline == "1 of 2 test items was found"
    # Alone it may be anything.
    assert "shared passage" in report_of_passages(passages, Runner(1)).headline


def test_looks_like_search__by_the_places_of_each_query():
    def table(*rows):
        columns = zip(*((q, a, b, d, 0, 9, 1.0) for q, a, b, d in rows), strict=True)
        return pa.table(dict(zip(COLUMNS, columns, strict=True)))

    found = [("q", 0, 90, "x"), ("q", 0, 90, "y"), ("p", 4, 3000, "x")]
    assert looks_like_search(table(*found))
    # Another beginning, another end, a query that is a document, a late beginning, long texts.
    assert not looks_like_search(table(*found, ("q", 1, 90, "z")))
    assert not looks_like_search(table(*found, ("q", 0, 91, "z")))
    assert not looks_like_search(table(*found, ("x", 0, 90, "z")))
    assert not looks_like_search(table(*found, ("r", 41, 90, "z")))
    assert looks_like_search(table(*found, ("r", 0, 9000, "z")))
    assert not looks_like_search(table(*found, ("r", 0, 9000, "z"), ("s", 0, 9000, "z")))
    # The median of two is in their middle.
    assert looks_like_search(table(("q", 0, 90, "x"), ("r", 0, 5910, "x")))
    assert not looks_like_search(table(("q", 0, 90, "x"), ("r", 0, 5911, "x")))


@pytest.mark.parametrize("is_one", [None, False, True])
def test_gather_passages__an_id_of_both_sides(is_one):
    """Is one document of one collection, and two of two collections."""
    rows = [
        ("x", 0, 9, "x", 20, 29, 1.0),
        ("y", 0, 9, "x", 5, 14, 1.0),
        ("x", 0, 5, "z", 0, 5, 1.0),
    ]
    table = pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    passages, _ = gather(table, is_one=is_one)
    assert passages.is_one == (is_one is not False)
    expected = ["x", "y", "z"] if passages.is_one else ["x", "y", "x", "z"]
    assert passages.documents.ids.to_pylist() == expected
    assert passages.take(range(3)).docs.tolist() == ([0, 0, 2] if passages.is_one else [2, 2, 3])
    assert passages.documents.lengths.tolist() == ([29, 9, 5] if passages.is_one else [9, 9, 29, 5])
