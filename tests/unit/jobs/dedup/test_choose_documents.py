"""``choose`` and ``rethreshold``: which pairs they take, and for which documents."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from tests.calls import grouped
from tests.each import each_of

TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "the cat sat on a hat", "a dog"]
ROWS = [{"id": name, "text": text} for name, text in zip("abcd", TEXTS, strict=True)]


def pairs_of(rows=ROWS, **options):
    return neardup.find_pairs(rows, **grouped(**{"ngram": 1, "threshold": "0.5"} | options))


def told(result):
    return [(row["id"], row["kept_id"]) for row in result.removed.to_pylist()]


def similar(*pairs):
    rows = [{"id_a": a, "id_b": b, "similarity": score} for a, b, score in pairs]
    return pa.Table.from_pylist(rows)


@each_of("name", ["p.parquet", "p.csv", "p.jsonl", "p.arrow"])
def test_choose__files(name, tmp_path):
    pairs = pairs_of()
    path = tmp_path / name
    if name == "p.arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pairs.pairs.schema) as new:
            new.write_table(pairs.pairs)
    else:
        pairs.write(path)
    says_itself = name in ("p.parquet", "p.arrow")
    result = neardup.choose(str(path), ROWS, measure=None if says_itself else "jaccard")
    assert told(result) == [("b", "a"), ("c", "a")]
    assert result.summary["least_threshold_is_stated"] == says_itself
    assert result.summary["least_threshold"] == (0.5 if says_itself else 4 / 7)
    assert result.summary["threshold"] == result.summary["least_threshold"]
    assert result.summary["pairs"] == result.summary["pairs_at_threshold"] == 3
    if not says_itself:
        with pytest.raises(InvalidParameterError, match="does not say how similarities were"):
            neardup.choose(path, ROWS)


def test_choose__foreign_frames():
    """Pairs of any tool, in any order and direction, more than once."""
    table = similar(("c", "b", 0.9), ("b", "a", 0.95), ("a", "b", 0.95), ("d", "d", 1.0))
    result = neardup.choose(table, ROWS, measure="cosine")
    assert told(result) == [("b", "a")]
    assert told(neardup.choose(table, ROWS, measure="cosine", clusters="components")) == [
        ("b", "a"),
        ("c", "a"),
    ]
    # Only a may go for b.
    directed = neardup.choose(table, ROWS, measure="containment", keep="shortest")
    assert told(directed) == [("a", "b"), ("c", "b")]


def test_choose__what_is_not_known():
    pairs = pairs_of(threshold="0.7")
    result = neardup.choose(pairs, ROWS, clusters="components")
    assert result.removed.select(["id", "similarity", "exact_copy"]).to_pylist() == [
        {"id": "b", "similarity": 5 / 6, "exact_copy": None},
        # It is linked by b only.
        {"id": "c", "similarity": None, "exact_copy": None},
    ]
    assert result.summary["exact_copies"] is None
    assert result.summary["removed_beyond_survivors"] == 1
    assert repr(result) == "DeduplicationResult(4 documents: 2 kept, 2 removed)"


def test_choose__distances():
    pairs = neardup.find_pairs(["Miller", "Muller", "Moeller", "Mueller"], max_distance=1)
    assert told(neardup.choose(pairs)) == [("1", "0"), ("3", "2")]
    with pytest.raises(InvalidParameterError, match="are those within max_distance 1"):
        neardup.choose(pairs, threshold="0.9")
    by_similarity = neardup.find_pairs(TEXTS, measure="edit", threshold="0.7")
    assert told(neardup.choose(by_similarity, TEXTS, threshold="0.95")) == [("2", "1")]


def test_choose__rows_left_out():
    """What somebody has struck out is no pair, and nothing is known of what is below the rest."""
    table = pairs_of().pairs
    approved = table.filter(pc.greater(table["similarity"], 0.6))
    result = neardup.choose(approved, ROWS)
    assert told(result) == [("b", "a")]
    assert result.summary["least_threshold_is_stated"] is False
    assert result.summary["threshold"] == 5 / 7
    with pytest.raises(InvalidParameterError, match=r"0\.6 is below 0\.714286, the least simil"):
        neardup.choose(approved, ROWS, threshold="0.6")


@each_of(
    ("pairs", "options", "message"),
    [
        (pairs_of, {"threshold": "0.49"}, "threshold 0.49 is below 0.5, that of the pairs"),
        (pairs_of, {"measure": "dice"}, "pairs in the table are by jaccard, got measure dice"),
        (lambda: pairs_of(measure="overlap", threshold=2), {}, "pairs in the table are by overlap"),
        (pairs_of, {"threshold": 2}, "threshold must lie in (0, 1], got 2"),
        (pairs_of, {"keep": "last"}, "keep must be "),
    ],
)
def test_choose__refuses_options(pairs, options, message):
    with pytest.raises(InvalidParameterError) as caught:
        neardup.choose(pairs(), ROWS, **grouped(**options))
    assert str(caught.value).startswith(message)


@each_of(
    ("pairs", "message"),
    [
        (lambda: neardup.find_pairs(ROWS, ROWS), "pairs in the table are of two collections"),
        (lambda: pairs_of(top=2), "the table has the 2 most similar pairs only, not all"),
        (
            lambda: pairs_of([*ROWS, {"id": "e", "text": "more"}]),
            "pairs in the table were found among 5 documents, the input has 4",
        ),
        (
            lambda: similar(("a", "x", 0.9), ("y", "x", 0.9)),
            "the table names 2 documents that the input does not have, such as 'y'",
        ),
        (
            lambda: similar(("a", "x", 0.9)),
            "the table names a document that the input does not have: 'x'",
        ),
        (
            lambda: similar(("a", "b", 0.9), ("a", "c", 90.0)),
            "the table, row 2: similarity 90 is not between 0 and 1",
        ),
        (lambda: similar(("a", "b", None)), "the table, row 1: similarity nan is not between"),
        (lambda: similar(("a", "b", "much")), "the table: column 'similarity' holds values that"),
        (lambda: similar(("a", None, 0.9)), "the table: column 'id_b' holds null values, or nulls"),
        (lambda: similar((0.5, "b", 0.9)), "the table: column 'id_a' holds double values, or"),
        (
            lambda: similar(("a", "b", 0.9)).drop_columns("similarity"),
            "the table has no column 'similarity', or several",
        ),
        (lambda: 5, "expected a path, a list of strings or dictionaries, or an Arrow table"),
    ],
)
def test_choose__refuses_pairs(pairs, message):
    table = pairs()
    is_marked = isinstance(table, neardup.types.PairResult)
    with pytest.raises(InvalidInputError) as caught:
        neardup.choose(table, ROWS, measure=None if is_marked else "jaccard")
    assert str(caught.value).startswith(message)


def test_rethreshold__keeps_the_rule():
    before = neardup.deduplicate(
        ROWS,
        threshold="0.5",
        keep="shortest",
        clusters="components",
        text=neardup.TextOptions(ngram=1),
    )
    again = before.rethreshold("0.8", pairs_of())
    assert told(again) == [("a", "b")]
    assert (again.summary["keep"], again.summary["clusters"]) == ("shortest", "components")
    # And from that to any other that the pairs have.
    assert told(again.rethreshold("0.5", pairs_of())) == told(before)


@each_of(
    ("options", "pairs", "error", "message"),
    [
        (
            {"against": ["a dog"]},
            {},
            InvalidParameterError,
            "pairs do not say which documents are similar to those",
        ),
        (
            {"measure": "dice"},
            {},
            InvalidParameterError,
            "pairs in the table are by jaccard, got measure dice",
        ),
        (
            {},
            {"ngram": 2, "casefold": False},
            InvalidInputError,
            "pairs in the table are of other shingles: ngram 2, not 1; casefold False, not True; ",
        ),
        (
            {"measure": "weighted-jaccard"},
            {"measure": "weighted-jaccard", "tf": "log", "idf": "unary"},
            InvalidInputError,
            "pairs in the table are of other shingles: tf log, not raw; idf unary, not smooth; ",
        ),
    ],
)
def test_rethreshold__refuses(options, pairs, error, message):
    before = neardup.deduplicate(ROWS, **grouped(ngram=1, **options))
    with pytest.raises(error) as caught:
        before.rethreshold("0.8", pairs_of(**pairs))
    assert str(caught.value).startswith(message)
