"""The report of an alignment, from a table and the files that it was made from."""

from __future__ import annotations

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError

SHARED = "It was the best of times, it was the worst of times, it was the age of wisdom of all."
TEXTS = [f"One says: {SHARED}", "Nothing of it is here.", f"{SHARED} So says another.", SHARED]


@pytest.fixture
def files(tmp_path):
    for k, text in enumerate(TEXTS):
        (tmp_path / f"{k}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def test_report__of_one_collection_and_of_two(files):
    result = neardup.align(files, min_tokens=10)
    report = result.report(files)
    assert report.headline == "3 shared passages in 3 pairs of documents"
    assert "documents with a passage" in report.html
    assert "best of times" in report.html
    assert "0.txt" in report.html
    two = neardup.align(TEXTS[2:], files, min_tokens=10)
    report = two.report(TEXTS[2:], against=files)
    assert len(two.passages) == int(report.facts[0].value)
    # Shares of the texts, which only their lengths tell.
    assert "of the second" in report.html
    assert "of the second" not in two.report().html


def test_report_of_passages__says_the_rule(files):
    html = neardup.align(files, min_tokens=10).report(files).html
    assert "at least 10 tokens in one of two documents with a similarity of at least 0.5" in html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_id": "missing"}, "'missing'"),
        ({"doc_end": 5000}, "0 to 5,000.*'2.txt'"),
        ({"query_start": -1}, "-1 to"),
    ],
)
def test_report_of_passages__of_other_documents(files, change, message):
    row = {"query_id": "0.txt", "query_start": 0, "query_end": 5, "similarity": 1.0}
    row |= {"doc_id": "2.txt", "doc_start": 0, "doc_end": 5} | change
    with pytest.raises(InvalidInputError, match=message):
        neardup.report(pa.Table.from_pylist([row]), files)


ITEMS = [{"id": "times", "text": SHARED}, {"id": "none", "text": "What is nowhere at all? " * 4}]


@pytest.fixture
def found(tmp_path_factory, files):
    index = neardup.PassageIndex.create(tmp_path_factory.mktemp("i") / "index", min_tokens=8)
    index.add(files)
    return index.search(ITEMS, threshold=0.6)


def test_report_of_passages__of_a_search(files, found):
    report = found.report(ITEMS, against=files)
    assert report.headline == "1 of 2 queries found"
    assert "of the second" in report.html
    [example] = [each for section in report.sections for each in section.examples][:1]
    # The text of the document, with its context; the query is whole.
    kinds = ([run.kind for run in runs] for runs in (example.differences.a, example.differences.b))
    assert list(kinds) == [["same"], ["around", "same", "around"]]
    # With the queries alone their texts are shown.
    alone = neardup.report(found.passages, ITEMS)
    assert "best of times" in alone.html
    assert alone.headline.endswith("pairs of documents")
