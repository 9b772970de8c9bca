"""Pairs of records of several fields, against looking at all pairs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.jobs.pairs import by_fields, field_blocks
from tests.examples import examples
from tests.oracles.fields import pairs_by_fields
from tests.oracles.linkage import block_of
from tests.spilling import spilling

texts = st.sampled_from([None, "", "a", "a b", "b a", "a b c", "c", "b c d", "a b c d", "d E"])
goods = st.sampled_from([None, "", "tv", "tv 42", "tv 40 tv", "TV 42 lg", "tv lg", "lg 40 a b c d"])
names = st.sampled_from([None, "", " ", "x", "X", " x ", "yy", "xy", "yyx"])
numbers = st.sampled_from([None, "", "1", "1.0", "2", "-2", "0", "10", "9.5", "100", "n/a"])
rows = st.fixed_dictionaries(
    {
        "title": texts,
        "more": texts,
        "goods": goods,
        "maker": names,
        "name": names,
        "price": numbers,
    }
)
collections = st.lists(rows, max_size=9).map(
    # A collection without rows has no columns.
    lambda found: [*found, dict.fromkeys(KINDS, "")]
)
weights = st.sampled_from(["0.5", "0.3", "0.2", "1", "0.05", "3", "0.125"])
KINDS = {
    "title": "text",
    "more": "text",
    "goods": "rare",
    "maker": "exact",
    "name": "edit",
    "price": "number",
}
chosen = st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=6, unique=True)


@examples(400)
@given(
    left=collections,
    right=st.none() | collections,
    names=chosen,
    data=st.data(),
    measure=st.sampled_from(["jaccard", "dice", "max-containment"]),
    threshold=st.sampled_from(["0.2", "0.5", "0.6", "0.75", "0.8", "0.9", "1"]),
    blocking=st.sampled_from([None, "maker"]),
    is_renamed=st.booleans(),
)
def test_fields__all_pairs_at_the_threshold(
    left, right, names, data, measure, threshold, blocking, is_renamed
):
    """Exactly, with records that lack values, and what each field gave; also within blocks.

    Columns of the other collection may be called otherwise, or as the other ones here.
    """
    fields = [(name, data.draw(weights), KINDS[name]) for name in names]
    if blocking:
        left = [{**left[0], "maker": "x"}, *left]
        right = right and [{**right[0], "maker": "x"}, *right]
    others = left if right is None else right
    expected = pairs_by_fields(
        [(name, Fraction(weight), kind) for name, weight, kind in fields],
        measure,
        Fraction(threshold),
        left,
        right,
    )
    if blocking:
        expected = {
            (i, j): found
            for (i, j), found in expected.items()
            if (block := block_of(left[i], [blocking])) and block == block_of(others[j], [blocking])
        }
    others_called, spelled = dict(zip(KINDS, KINDS, strict=True)), list(names)
    if is_renamed and right is not None:
        others_called = {"title": "more", "more": "title", "price": "a=:b", "name": "a==b"}
        called = {name: others_called.get(name, name) for name in names}
        spelled = [
            name if other == name else f"{name}={other.replace('=', '==')}"
            for name, other in called.items()
        ]
        right = [{others_called.get(name, name): row[name] for name in row} for row in right]
    result = neardup.find_pairs(
        left,
        right,
        fields=[":".join((each, *rest)) for each, (_, *rest) in zip(spelled, fields, strict=True)],
        measure=measure,
        threshold=threshold,
        blocking=blocking,
        workers=1,
    )
    found = {
        (int(row["id_a"]), int(row["id_b"])): [
            row["similarity"],
            *(row[f"similarity_{name}"] for name in names),
        ]
        for row in result.pairs.to_pylist()
    }
    assert list(found) == sorted(expected)
    for pair, values in found.items():
        for value, exact in zip(values, expected[pair], strict=True):
            assert (value is None) == (exact is None)
            assert value is None or abs(value - float(exact)) < 1e-12
        assert values[0] >= float(threshold)
        assert (values[0] == 1) == (expected[pair][0] == 1)
    lacks = {each["column"]: each["pairs_without"] for each in result.summary["fields"]}
    assert lacks == {
        name: sum(row[f"similarity_{name}"] is None for row in result.pairs.to_pylist())
        for name in names
    }


@examples(200)
@given(
    left=collections,
    right=st.none() | collections,
    names=chosen,
    data=st.data(),
    threshold=st.sampled_from(["0.2", "0.6", "0.8"]),
    blocking=st.sampled_from([None, "maker"]),
    most=st.none() | st.integers(1, 20),
    memory=st.sampled_from([1, 3000, 20_000, 1_000_000]),
)
def test_fields__whatever_the_memory(left, right, names, data, threshold, blocking, most, memory):
    """Rows and summary are the same, however many blocks there are and whatever is near in them."""
    if blocking:
        left = [{**left[0], "maker": "x"}, *left]
        right = right and [{**right[0], "maker": "x"}, *right]
    options = {
        "fields": [f"{name}:{data.draw(weights)}:{KINDS[name]}" for name in names],
        "threshold": threshold,
        "blocking": blocking,
        "top": most,
        "workers": 1,
    }
    whole = neardup.find_pairs(left, right, **options)
    with spilling(memory), pytest.MonkeyPatch.context() as patch:
        patch.setattr(field_blocks, "_FEW_PAIRS", 4)
        # Two pairs of values may be near in a field.
        patch.setattr(field_blocks, "_PAIR", max(1, memory // 2))
        parted = neardup.find_pairs(left, right, memory="1GB", **options)
    assert parted.pairs.to_pylist() == whole.pairs.to_pylist()
    own = {"seconds", "filters", "peak_memory_bytes"}
    one, other = (
        {k: v for k, v in each.summary.items() if k not in own} for each in (whole, parted)
    )
    assert one == other


@examples(300)
@given(
    left=collections,
    right=st.none() | collections,
    names=chosen,
    data=st.data(),
    threshold=st.sampled_from([None, "0.3", "0.8"]),
    most=st.integers(1, 30),
    held=st.sampled_from([1, 1 << 17]),
)
def test_fields__the_most_similar_pairs(left, right, names, data, threshold, most, held):
    """Exactly, ties in the order of the input, whether thresholds fall or all pairs are compared.

    However few pairs are held while others are looked at.
    """
    fields = [(name, data.draw(weights), KINDS[name]) for name in names]
    expected = pairs_by_fields(
        [(name, Fraction(weight), kind) for name, weight, kind in fields],
        "jaccard",
        Fraction(threshold or "0.000001"),
        left,
        right,
    )
    ranked = sorted(expected, key=lambda pair: (-expected[pair][0], pair))[:most]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_fields, "_AT_ONCE", held)
        patch.setattr(field_blocks, "_FEW_IN_ALL", held)
        result = neardup.find_pairs(
            left,
            right,
            fields=[":".join(field) for field in fields],
            threshold=threshold,
            top=most,
            workers=1,
        )
    rows = result.pairs.to_pylist()
    assert [(int(row["id_a"]), int(row["id_b"])) for row in rows] == ranked
    for row, pair in zip(rows, ranked, strict=True):
        assert abs(row["similarity"] - float(expected[pair][0])) < 1e-12
    similarities = [row["similarity"] for row in rows]
    assert similarities == sorted(similarities, reverse=True)
