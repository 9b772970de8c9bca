"""Weighted sets: document frequencies are those of the first addition, and stay so."""

from __future__ import annotations

from fractions import Fraction

import pytest

from neardup import DocumentIndex, InvalidParameterError, ReadOptions
from tests.calls import grouped
from tests.document_indexes import WEIGHTED, text_of
from tests.each import each_of
from tests.oracles.weighted import document_frequencies, weigh, weighted_jaccard

ROWS = [{"id": str(n), "text": text_of(n)} for n in range(40)]


@pytest.mark.slow
@each_of(("tf", "idf"), [("raw", "smooth"), ("log", "standard"), ("binary", "unary")])
def test_query__by_definition_with_the_first_frequencies(tmp_path, tf, idf):
    options = WEIGHTED | {"tf": tf, "idf": idf, "threshold": "0.4"}
    index = DocumentIndex.create(tmp_path / "index", **grouped(**options))
    index.add(ROWS[:20], read=ReadOptions(id_column="id"))
    index.add(ROWS[20:30], read=ReadOptions(id_column="id"))
    for row in ROWS[30:]:
        index.insert(row["id"], row["text"])
    lists = [row["text"].split() for row in ROWS]
    counts = document_frequencies(lists[:20])
    weights = [weigh(tokens, tf, idf, counts, 20) for tokens in lists]

    def check(known):
        for x, row in zip(weights, ROWS, strict=True):
            expected = {
                other["id"]: float(weighted_jaccard(x, y))
                for y, other in zip(weights, ROWS, strict=True)
                if weighted_jaccard(x, y) >= Fraction(2, 5)
            }
            assert dict(known.query(row["text"])) == pytest.approx(expected, abs=1e-9)

    check(index)
    index.commit()
    check(DocumentIndex.open(index.folder))
    index.compact()
    check(index)
    check(DocumentIndex.open(index.folder))


def test_insert__before_frequencies_are_known(tmp_path):
    index = DocumentIndex.create(tmp_path / "index", **grouped(**WEIGHTED | {"idf": "smooth"}))
    for act in (index.insert, index.insert_if_new):
        with pytest.raises(InvalidParameterError, match="idf smooth"):
            act("a", "x y z")
    # Nobody is locked out by that.
    DocumentIndex.open(index.folder).add(ROWS[:3], read=ReadOptions(id_column="id"))
    index.insert("a", "x y z")
    assert index.query("x y z") == [("a", 1.0)]
    index.close()
