"""Who has what from whom: passages put together by pairs of documents."""

from __future__ import annotations

import re
from collections import defaultdict

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
    """Count words one by one."""
    rows = []
    by_pair = defaultdict(list)
    for row in result.passages.to_pylist():
        by_pair[row["query_id"], row["doc_id"]].append(row)
    for (query, doc), found in by_pair.items():
        texts = {"query": words_in(queries[query]), "doc": words_in(documents[doc])}
        row = {"query_id": query, "doc_id": doc, "passages": len(found)}
        row["longest"] = 0
        for side, words in texts.items():
            covered = [
                {i for i, (a, b) in enumerate(words) if start <= a and b <= end}
                for start, end in ((p[f"{side}_start"], p[f"{side}_end"]) for p in found)
            ]
            row["longest"] = max(row["longest"], *map(len, covered))
            row[f"{side}_shared"] = len(set().union(*covered))
            row[f"{side}_share"] = row[f"{side}_shared"] / len(words)
        rows.append(row)
    return rows


def words_in(text):
    return [match.span() for match in re.finditer(r"\w+", text)]


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


def test_report__shares_of_a_table_that_was_written(tmp_path):
    """With its texts the page has shares of characters; a table alone has none."""
    texts = [f"{PHRASES[0]} own words", f"{PHRASES[0]} {PHRASES[1]}"]
    path = str(tmp_path / "shared.parquet")
    neardup.align(texts, **LEAST).write(path)
    shares = tuple(percent(len(PHRASES[0]) / len(text)) for text in texts)
    assert shares_on_page(neardup.report(path, texts)) == shares
    assert shares_on_page(neardup.report(path)) == ()


def shares_on_page(report):
    """Return the shares of both documents of the first pair that a page lists."""
    [table] = report.sections[0].tables
    return table.rows[0][5:]
