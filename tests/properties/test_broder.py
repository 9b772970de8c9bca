from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.sketches import greedy
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.minhash import SuperShingleRule
from neardup.sketches.samples import (
    ModuloScheme,
    SmallestScheme,
    estimate_containment,
    estimate_resemblance,
)
from neardup.tables import SetSketches, ShingleLists
from tests.arrays import ragged, unragged
from tests.oracles import broder as oracle

words = st.integers(0, 2**64 - 1)
# Few different elements, so that sets overlap and lists repeat.
elements = st.one_of(st.integers(0, 60), words)
lists = st.lists(st.lists(elements, max_size=40), min_size=1, max_size=6)
smallest_schemes = st.builds(SmallestScheme, st.integers(1, 50), words)
modulo_schemes = st.builds(
    ModuloScheme, st.one_of(st.none(), st.integers(1, 12)), st.integers(1, 12), words
)
schemes = st.one_of(smallest_schemes, modulo_schemes)
thresholds = st.integers(1, 20).map(lambda n: Fraction(n, 20))


def sketch(lists, scheme, lead=0):
    return scheme.sample(ShingleLists(*ragged(lists, lead=lead)))


def rows_of(sketches):
    return list(
        zip(
            unragged(sketches.values, sketches.offsets),
            sketches.sizes.tolist(),
            sketches.moduli.tolist(),
            strict=True,
        )
    )


def expected_row(elements, scheme):
    permuted = oracle.permute(elements, scheme.seed)
    if isinstance(scheme, SmallestScheme):
        values = oracle.smallest(permuted, scheme.size)
        return values, len(values) if len(values) < scheme.size else -1, 1
    modulus = scheme.modulus or oracle.fitting_modulus(len(permuted), scheme.size)
    return oracle.multiples(permuted, modulus), len(permuted), modulus


def all_pairs(n):
    left, right = np.divmod(np.arange(n * n, dtype=np.int64), n)
    return left, right


@given(lists, schemes, st.integers(0, 3))
def test_sketch_sets__as_oracle(lists, scheme, lead):
    found = rows_of(sketch(lists, scheme, lead))
    assert found == [expected_row(elements, scheme) for elements in lists]


@given(st.lists(elements, max_size=40), schemes, st.randoms(use_true_random=False))
def test_sketch_sets__order_and_repeats_change_nothing(elements, scheme, generator):
    shuffled = elements * 2
    generator.shuffle(shuffled)
    one, other = rows_of(sketch([elements, shuffled], scheme))
    assert one == other


@given(st.sets(words, max_size=60), st.integers(1, 5), words)
def test_sketch_sets__next_modulus_by_keeping_multiples(elements, size, seed):
    bounded = rows_of(sketch([elements], ModuloScheme(None, size, seed)))[0]
    fixed = rows_of(sketch([elements], ModuloScheme(2 * bounded[2], seed=seed)))[0]
    assert fixed[0] == [value for value in bounded[0] if value % (2 * bounded[2]) == 0]
    n, modulus = len(elements), bounded[2]
    assert size * modulus <= n < 2 * size * modulus or (modulus == 1 and n < size)


@given(lists, schemes, st.integers(0, 6))
def test_join_rows__cut_in_two(lists, scheme, cut):
    parts = [sketch(part, scheme) for part in (lists[:cut], lists[cut:])]
    assert rows_of(scheme.join_rows(parts)) == rows_of(sketch(lists, scheme))


@given(lists, schemes)
def test_estimate_resemblance__as_oracle(lists, scheme):
    sketches = sketch(lists, scheme)
    left, right = all_pairs(len(lists))
    found = estimate_resemblance(sketches, sketches, left, right, scheme)
    permuted = [oracle.permute(elements, scheme.seed) for elements in lists]
    for k, (x, y) in enumerate(zip(left, right, strict=True)):
        a, b = permuted[x], permuted[y]
        is_whole = not a or not b
        if isinstance(scheme, SmallestScheme):
            is_whole |= len(a) < scheme.size and len(b) < scheme.size
            hits, n = oracle.resemblance_counts(a, b, size=scheme.size)
        else:
            # A sample that has come to be the whole set is known to be that.
            is_whole |= all(
                sketches.sizes[d] == sketches.offsets[d + 1] - sketches.offsets[d] for d in (x, y)
            )
            modulus = 1 if is_whole else int(max(sketches.moduli[x], sketches.moduli[y]))
            hits, n = oracle.resemblance_counts(a, b, modulus=modulus)
        check_estimate(found, k, hits, n, is_whole)
        if is_whole:
            truth = len(a & b) / len(a | b) if a | b else 0.0
            assert found.low[k] == found.values[k] == found.high[k] == truth
            assert found.errors[k] == 0
            assert found.is_usable()[k]


@given(lists, modulo_schemes)
def test_estimate_containment__as_oracle(lists, scheme):
    sketches = sketch(lists, scheme)
    left, right = all_pairs(len(lists))
    found = estimate_containment(sketches, sketches, left, right, scheme)
    permuted = [oracle.permute(elements, scheme.seed) for elements in lists]
    for k, (x, y) in enumerate(zip(left, right, strict=True)):
        a, b = permuted[x], permuted[y]
        is_whole = not a or not b
        is_whole |= all(
            sketches.sizes[d] == sketches.offsets[d + 1] - sketches.offsets[d] for d in (x, y)
        )
        modulus = 1 if is_whole else int(max(sketches.moduli[x], sketches.moduli[y]))
        hits, n = oracle.containment_counts(a, b, modulus)
        # All of A may be seen although not all of B is.
        is_whole |= n == len(a)
        check_estimate(found, k, hits, n, is_whole)
        if is_whole:
            assert found.low[k] == found.high[k] == (len(a & b) / len(a) if a else 0.0)


def check_estimate(found, k, hits, n, is_whole):
    assert found.n_samples[k] == n or is_whole
    if n:
        assert found.values[k] == hits / n
        assert 0 <= found.low[k] <= found.values[k] <= found.high[k] <= 1
        assert found.errors[k] >= 0
    elif not is_whole:
        assert np.isnan(found.values[k])
        assert np.isnan(found.errors[k])
        assert (found.low[k], found.high[k]) == (0, 1)
        assert not found.is_usable()[k]
    if not is_whole:
        assert found.low[k] < found.high[k]
        assert found.is_usable()[k] == (n >= 20)


@given(lists, lists, schemes)
def test_estimate_resemblance__two_tables_and_either_order(lists, others, scheme):
    one, other = sketch(lists, scheme), sketch(others, scheme, lead=2)
    together = scheme.join_rows([one, other])
    left, right = (
        places.astype(np.int64)
        for places in np.divmod(np.arange(len(lists) * len(others)), len(others))
    )
    found = estimate_resemblance(one, other, left, right, scheme)
    joined = estimate_resemblance(together, together, left, right + len(lists), scheme)
    turned = estimate_resemblance(other, one, right, left, scheme)
    for name in ("values", "errors", "low", "high", "n_samples"):
        np.testing.assert_array_equal(getattr(found, name), getattr(joined, name))
        np.testing.assert_array_equal(getattr(found, name), getattr(turned, name))


@given(
    st.lists(st.lists(st.integers(0, 25), max_size=25), max_size=9),
    st.one_of(
        st.builds(SmallestScheme, st.integers(1, 20), words),
        st.builds(ModuloScheme, st.sampled_from([None, 1, 2, 3]), st.integers(1, 8), words),
    ),
    thresholds,
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_cluster_greedily__as_oracle(lists, scheme, threshold, min_samples, block):
    """However few sketches go through at a time."""
    sketches = sketch(lists, scheme)
    with patch.multiple(greedy, _BLOCK=block, LEAST_SAMPLES=min_samples):
        found = cluster_greedily(sketches, scheme, threshold)
    expected = oracle.greedy_clusters(
        [(set(row), modulus, size == len(row)) for row, size, modulus in rows_of(sketches)],
        threshold,
        size=scheme.size if isinstance(scheme, SmallestScheme) else None,
        min_samples=min_samples,
    )
    assert found.representatives.tolist() == [cluster.representative for cluster in expected]
    assert len(found) == len(expected)
    members = {d: c for c, cluster in enumerate(expected) for d in cluster.members}
    assert found.clusters.tolist() == [members[d] for d in range(len(lists))]


@given(st.fractions(0, 1), st.integers(1, 8), st.integers(1, 20), st.data())
def test_super_shingle_rule__probability_by_enumeration(resemblance, groups, rows, data):
    least = data.draw(st.integers(1, groups))
    p = resemblance**rows
    expected = sum(
        p ** bin(agreeing).count("1") * (1 - p) ** (groups - bin(agreeing).count("1"))
        for agreeing in range(1 << groups)
        if bin(agreeing).count("1") >= least
    )
    rule = SuperShingleRule(groups, rows, least)
    assert rule.probability(float(resemblance)) == pytest.approx(float(expected), abs=1e-12)


def test_set_sketches__are_as_many_as_sizes():
    nothing = np.empty(0, np.int64)
    assert len(SetSketches(nothing.astype(np.uint64), np.zeros(1, np.int64), nothing, nothing)) == 0
