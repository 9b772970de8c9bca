"""Decided by pairs as if texts had been compared again."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.calls import grouped
from tests.examples import examples
from tests.oracles import pair_choice
from tests.oracles.measures import MEASURES
from tests.oracles.tokens import Options, tokenize
from tests.strategies import small_texts

SCHEMA = pa.schema([("id", "string"), ("text", "string"), ("score", "int64")])
KEEP = ["first", "longest", "shortest", "max:score", "min:score", "priority:score=2,0"]
THRESHOLDS = ["0.25", "0.5", "0.6", "0.75", "0.8", "1"]

texts = st.lists(
    st.one_of(small_texts, st.sampled_from(["", "a", "A b.", "a b c d e a b c d"])),
    min_size=1,
    max_size=12,
)


def make_rows(strings):
    return [
        {"id": f"d{i}", "text": text, "score": (7 * i) % 4 if i % 5 else None}
        for i, text in enumerate(strings)
    ]


def removed(result):
    return {row["id"]: (row["kept_id"], row["similarity"]) for row in result.removed.to_pylist()}


def copies_of_removed(compared, rows):
    """Documents of equal tokens of which none stays."""
    gone = {row["id"] for row in compared.removed.to_pylist()}
    tokens = {row["id"]: tokenize(row["text"], "words", Options()) for row in rows}
    return {i for i in gone if sum(tokens[i] == tokens[other] for other in gone) > 1}


@given(
    texts,
    st.sampled_from(MEASURES),
    st.tuples(st.sampled_from(THRESHOLDS), st.sampled_from(THRESHOLDS)).map(sorted),
    st.integers(1, 3),
    st.sampled_from(KEEP),
    st.sampled_from(["survivors", "components"]),
    st.sampled_from(["exact", "minhash"]),
)
@examples(200)
def test_choose__as_deduplicate(strings, measure, thresholds, ngram, keep, clusters, method):
    least, threshold = thresholds
    rows = make_rows(strings)
    table = pa.Table.from_pylist(rows, SCHEMA)
    shingles = {"measure": measure, "ngram": ngram, "method": method}
    if method == "minhash":
        # Few enough bands to miss some pairs, the same for both.
        shingles |= {"bands": (3, 2)}
    pairs = neardup.find_pairs(table, **grouped(workers=1, threshold=least, **shingles))
    rule = {"threshold": threshold, "keep": keep, "clusters": clusters}
    chosen = neardup.choose(pairs, table, **grouped(workers=1, **rule))
    compared = neardup.deduplicate(table, **grouped(workers=1, **shingles, **rule))
    assert chosen.kept.equals(compared.kept)
    found, expected = removed(chosen), removed(compared)
    assert found.keys() == expected.keys()
    # A copy of a document that goes need not go for the same one.
    for identifier in found.keys() - copies_of_removed(compared, rows):
        (kept_id, similarity), expected_pair = found[identifier], expected[identifier]
        assert kept_id == expected_pair[0]
        if clusters == "survivors":
            assert similarity == expected_pair[1]
        else:
            assert similarity in (None, expected_pair[1])


@given(texts, st.sampled_from(MEASURES), st.sampled_from(THRESHOLDS), st.sampled_from(KEEP))
@examples(60)
def test_choose__as_oracle(strings, measure, threshold, keep):
    """Exact copies included: each document goes for the most similar one that stays."""
    rows = make_rows(strings)
    table = pa.Table.from_pylist(rows, SCHEMA)
    pairs = neardup.find_pairs(
        table,
        measure=measure,
        threshold="0.25",
        text=neardup.TextOptions(ngram=1),
        run=neardup.RunOptions(workers=1),
    )
    chosen = neardup.choose(
        pairs, table, threshold=threshold, keep=keep, run=neardup.RunOptions(workers=1)
    )
    order = [row["id"] for row in ranked(rows, keep)]
    numbered = [
        (order.index(row["id_a"]), order.index(row["id_b"]), row["similarity"])
        for row in pairs.pairs.to_pylist()
    ]
    is_directed = measure == "containment"
    expected = pair_choice.choose(numbered, len(rows), float(threshold), is_directed=is_directed)
    assert removed(chosen) == {
        order[d]: (order[keeper], similarity)
        for d, (keeper, similarity) in enumerate(expected)
        if keeper >= 0
    }


def ranked(rows, keep):
    def last_if_none(row, value):
        return (row["score"] is None, value)

    keys = {
        "first": lambda row: 0,
        "longest": lambda row: -len(row["text"]),
        "shortest": lambda row: len(row["text"]),
        "max:score": lambda row: last_if_none(row, -(row["score"] or 0)),
        "min:score": lambda row: last_if_none(row, row["score"] or 0),
        "priority:score=2,0": lambda row: {2: 0, 0: 1, None: 3}.get(row["score"], 2),
    }
    return sorted(rows, key=keys[keep])


@pytest.mark.parametrize("clusters", ["survivors", "components"])
@given(texts, st.sampled_from([m for m in MEASURES if m != "containment"]))
@examples(60)
def test_choose__without_data(clusters, strings, measure):
    """Of documents that the pairs name, in an order by which the same ones stay."""
    table = pa.Table.from_pylist(make_rows(strings), SCHEMA)
    pairs = neardup.find_pairs(
        table,
        measure=measure,
        threshold="0.5",
        text=neardup.TextOptions(ngram=1),
        run=neardup.RunOptions(workers=1),
    )
    alone = neardup.choose(pairs, clusters=clusters, run=neardup.RunOptions(workers=1))
    assert removed(alone) == removed(
        neardup.choose(pairs, table, clusters=clusters, run=neardup.RunOptions(workers=1))
    )
    named = {row[name] for row in pairs.pairs.to_pylist() for name in ("id_a", "id_b")}
    kept = {row["id"] for row in alone.kept.to_pylist()}
    assert kept == named - removed(alone).keys()


@given(texts, st.sampled_from(MEASURES), st.sampled_from(KEEP))
@examples(60)
def test_rethreshold__as_choose(strings, measure, keep):
    table = pa.Table.from_pylist(make_rows(strings), SCHEMA)
    options = {"measure": measure, "ngram": 2, "workers": 1}
    pairs = neardup.find_pairs(table, **grouped(threshold="0.5", **options))
    before = neardup.deduplicate(
        table, **grouped(threshold="0.9", keep=keep, method="exact", **options)
    )
    for threshold in ("0.5", "0.75", "1"):
        again = before.rethreshold(threshold, pairs)
        chosen = neardup.choose(
            pairs, table, threshold=threshold, keep=keep, run=neardup.RunOptions(workers=1)
        )
        assert again.kept.equals(chosen.kept)
        assert again.removed.equals(chosen.removed)
        assert again.clusters.equals(chosen.clusters)
