"""Pairs within blocks, and pairs one to one, against those of all pairs that are such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from tests.calls import grouped
from tests.examples import examples
from tests.oracles.linkage import block_of, match_greedily
from tests.strategies import small_texts

KINDS = {
    "jaccard": {"ngram": 1, "threshold": "0.4"},
    "containment": {"ngram": 1, "threshold": "0.5"},
    "overlap": {"measure": "overlap", "threshold": 1, "ngram": 1},
    "weighted": {"measure": "weighted-jaccard", "threshold": "0.3", "idf": "unary"},
    "edit": {"measure": "edit", "threshold": "0.4"},
    "edits": {"max_distance": 2},
    "minhash": {"method": "minhash", "threshold": "0.4", "ngram": 1, "bands": (64, 1)},
}
every_kind = pytest.mark.parametrize("kind", KINDS)

texts = st.one_of(small_texts, st.sampled_from(["", "a", "a b", "b a c", "a b c"]))
values = st.sampled_from([None, "", " ", "x", "y", "07", "7"])
rows = st.fixed_dictionaries({"text": texts, "city": values, "year": values})
collections = st.lists(rows, max_size=8).map(
    # A collection without any value is refused.
    lambda found: [{"text": "a b", "city": "x", "year": "y"}, *found]
)
columns = st.sampled_from([("city",), ("year",), ("city", "year")])


def found_pairs(left, right, **options):
    return neardup.find_pairs(left, right, **grouped(workers=1, **options)).pairs.to_pylist()


@every_kind
@examples(40)
@given(left=collections, right=st.none() | collections, columns=columns)
def test_blocking__all_pairs_within_blocks(kind, left, right, columns):
    """Also of the most similar pairs, which are those of all blocks together."""
    options = KINDS[kind]
    others = left if right is None else right

    def is_within(pair):
        block = block_of(left[int(pair["id_a"])], columns)
        return block is not None and block == block_of(others[int(pair["id_b"])], columns)

    expected = [pair for pair in found_pairs(left, right, **options) if is_within(pair)]
    assert found_pairs(left, right, **options, blocking=columns) == expected
    best = found_pairs(left, right, **options, top=3, blocking=columns)
    ranks = sorted(map(rank_of(kind), expected))
    assert sorted(map(rank_of(kind), best)) == ranks[:3]
    assert all(pair in expected for pair in best)


def rank_of(kind):
    """Return what pairs of a kind are ranked by, the best least."""
    if kind == "edits":
        return lambda pair: pair["distance"]
    if kind == "overlap":
        return lambda pair: -pair["overlap"]
    return lambda pair: -pair["similarity"]


@every_kind
@examples(40)
@given(left=collections, right=st.none() | collections)
def test_one_to_one__greedy_and_stable(kind, left, right):
    every = found_pairs(left, right, **KINDS[kind])
    result = neardup.find_pairs(left, right, **grouped(workers=1, one_to_one=True, **KINDS[kind]))
    found = result.pairs.to_pylist()
    shift = 0 if right is None else len(left)
    rank = rank_of(kind)

    def documents(pair):
        return int(pair["id_a"]), int(pair["id_b"]) + shift

    matched = match_greedily([(*documents(pair), rank(pair)) for pair in every])
    assert [pair for pair in every if documents(pair) in matched] == found
    assert result.summary["similar_pairs"] == len(every)
    assert result.summary["pairs"] == len(found)
    # Whoever is in a pair that was not chosen has a partner that is no less similar.
    own = {d: rank(pair) for pair in found for d in documents(pair)}
    assert len(own) == 2 * len(found)
    for pair in every:
        assert any(own.get(d, rank(pair) + 1) <= rank(pair) for d in documents(pair))
