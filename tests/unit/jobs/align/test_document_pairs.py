"""Who has what from whom: passages put together by pairs of documents."""

from __future__ import annotations

import re
from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.reports.text import percent
from tests.calls import grouped
from tests.examples import examples

PHRASES = [" ".join(f"{kind}{i}é" for i in range(9)) for kind in "abcd"]
TEXT = st.lists(st.sampled_from([*PHRASES, "...", "x", "\n", "own words"]), max_size=6)
LEAST = {"min_tokens": 6, "threshold": 0.9}


def expected_pairs(result, queries, documents):
    """Count characters one by one."""
    rows = []
    by_pair = defaultdict(list)
    for row in result.passages.to_pylist():
        by_pair[row["query_id"], row["doc_id"]].append(row)
    for (query, doc), found in by_pair.items():
        texts = {"query": queries[query], "doc": documents[doc]}
        row = {"query_id": query, "doc_id": doc, "passages": len(found)}
        row["longest"] = max(p[f"{s}_end"] - p[f"{s}_start"] for p in found for s in texts)
        for side, text in texts.items():
            covered = {c for p in found for c in range(p[f"{side}_start"], p[f"{side}_end"])}
            words = [match.span() for match in re.finditer(r"\w+", text)]
            row[f"{side}_shared"] = len(covered)
            row[f"{side}_share"] = len(covered) / (words[-1][1] - words[0][0])
        rows.append(row)
    return rows


def as_set(rows):
    return {frozenset(row.items()) for row in rows}


@examples(20)
@given(
    a=st.lists(TEXT.map(" ".join), min_size=1, max_size=4),
    b=st.none() | st.lists(TEXT.map(" ".join), min_size=1, max_size=3),
    within=st.booleans(),
)
def test_align__summary_of_documents(a, b, within):
    options = {"within": within} if b is None else {}
    result = neardup.align(a, b, **grouped(summary="documents", **LEAST, **options))
    queries = {str(i): text for i, text in enumerate(a)}
    documents = queries if b is None else {str(i): text for i, text in enumerate(b)}
    rows = result.document_pairs.to_pylist()
    expected = expected_pairs(result, queries, documents)
    assert len(rows) == len(expected) == result.summary["document_pairs"]
    assert as_set(rows) == as_set(expected)
    order = [
        (
            -max(row["query_share"], row["doc_share"]),
            -max(row["query_shared"], row["doc_shared"]),
            int(row["query_id"]),
            int(row["doc_id"]),
        )
        for row in rows
    ]
    assert order == sorted(order)
    assert result.table is result.document_pairs


def test_align__summary_of_an_index_with_removed_documents(tmp_path):
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=5)
    index.add([{"id": 7, "text": PHRASES[0]}, {"id": 8, "text": PHRASES[1]}])
    index.add([{"id": 9, "text": f"{PHRASES[0]} and {PHRASES[1]}"}])
    index.remove([7])
    result = neardup.align([f"{PHRASES[1]}!"], index, summary="documents")
    assert result.document_pairs.select(["query_id", "doc_id", "query_share"]).to_pylist() == [
        {"query_id": "0", "doc_id": 8, "query_share": 1.0},
        {"query_id": "0", "doc_id": 9, "query_share": 1.0},
    ]
    assert result.document_pairs["doc_share"].to_pylist()[0] == 1.0


QUESTION = "What do you think of all this, and why do you think so?"
ANSWERS = [" ".join(f"{name}{i}" for i in range(30)) for name in "abc"]
# Beside the answers there are a question, white space around texts, and words of their own.
ASKED = [
    f"\n\n  {QUESTION} {ANSWERS[0]} {QUESTION} {ANSWERS[1]} mine {QUESTION}\n\n",
    f"{ANSWERS[0]} {QUESTION} {ANSWERS[1]}. {ANSWERS[2]} ...!\n",
]


def shares_on_page(report):
    """Return the shares of both documents of the first pair that a page lists."""
    [table] = report.sections[0].tables
    return table.rows[0][5:]


@pytest.mark.parametrize("options", [{"ignore": [QUESTION]}, {}, {"tokenizer": "whitespace"}])
@pytest.mark.parametrize("measure", ["jaccard", "containment"])
@pytest.mark.parametrize("is_one", [True, False])
def test_report__shares_of_the_table(options, measure, is_one):
    """Table and page measure texts from the first token to the last, without what is ignored."""
    collections = [pa.table({"id": ["0", "1"], "text": ASKED})]
    if not is_one:
        collections = [collections[0].slice(row, 1) for row in range(2)]
    result = neardup.align(
        *collections, **grouped(measure=measure, min_tokens=20, summary="documents", **options)
    )
    # By containment, each document is the query of the other.
    row, *_ = result.document_pairs.to_pylist()
    shares = row["query_share"], row["doc_share"]
    page = neardup.report(result, collections[0], against=None if is_one else collections[1])
    assert shares_on_page(page) == tuple(map(percent, shares))
    # Of what is not ignored all but a word was copied.
    assert (shares[0] > 0.95) == ("ignore" in options)
    assert max(shares) < 1


def test_report__shares_of_a_table_that_was_written(tmp_path):
    """With its texts the page has the same shares; a table alone has none."""
    path = str(tmp_path / "shared.parquet")
    neardup.align(ASKED, min_tokens=20).write(path)
    result = neardup.align(ASKED, min_tokens=20, summary="documents")
    [row] = result.document_pairs.to_pylist()
    shares = percent(row["query_share"]), percent(row["doc_share"])
    assert shares_on_page(neardup.report(path, ASKED)) == shares
    assert shares_on_page(neardup.report(path)) == ()
