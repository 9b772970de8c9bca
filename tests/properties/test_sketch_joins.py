"""Joins of sketches against looking at all pairs."""

from __future__ import annotations

import random
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ResultLimitError
from neardup.matching import join as pieces
from neardup.matching.measures import Jaccard
from neardup.runs.runner import Runner
from neardup.sketches.minhash import join_signatures
from neardup.sketches.samples import ModuloScheme, SmallestScheme, join_modulo, join_smallest
from neardup.tables import SetSketches, ShingleLists, Signatures
from tests.arrays import ragged
from tests.each import each_of
from tests.oracles import broder as oracle

workers = st.integers(1, 3)


def spread(values):
    """Few different values, the extremes of 32 bits among them."""
    return np.array(values, np.uint32) * np.uint32(0x55555555)


@st.composite
def signature_joins(draw):
    """Rows that are often alike, which of them are of empty sets, and a threshold."""
    num_perm = draw(st.integers(1, 64))
    generator = draw(st.randoms(use_true_random=False))
    n = draw(st.integers(0, 10))
    rows = []
    for _ in range(n):
        base = generator.choice(rows) if rows else [0] * num_perm
        share = generator.random()
        rows.append([generator.randrange(4) if generator.random() < share else x for x in base])
    sizes = [generator.choice((0, 1, 9, 9, 9)) for _ in range(n)]
    numerator = draw(st.integers(1, num_perm))
    # Ties, just above and just below one, and anything else.
    threshold = draw(
        st.sampled_from(
            [
                Fraction(numerator, num_perm),
                Fraction(numerator, num_perm) - Fraction(1, 10**9),
                min(Fraction(1), Fraction(numerator, num_perm) + Fraction(1, 10**9)),
            ]
        )
        | st.fractions(Fraction(1, 1000), 1)
    )
    return num_perm, rows, sizes, threshold


def agreeing(num_perm, rows, sizes, threshold, n_left):
    return [
        (x, y, equal)
        for x in range(len(rows))
        for y in range(x + 1, len(rows))
        if sizes[x] and sizes[y] and (n_left is None or x < n_left <= y)
        for equal in [sum(a == b for a, b in zip(rows[x], rows[y], strict=True))]
        if Fraction(equal, num_perm) >= threshold
    ]


def signatures_of(num_perm, rows, sizes):
    values = spread(rows).reshape(len(rows), num_perm)
    return Signatures(values, np.array(sizes, np.int64))


@given(signature_joins(), workers, st.data())
def test_join_signatures__as_oracle(join, workers, data):
    num_perm, rows, sizes, threshold = join
    n_left = data.draw(st.none() | st.integers(0, len(rows)))
    found = join_signatures(
        signatures_of(num_perm, rows, sizes), threshold, n_left=n_left, runner=Runner(workers)
    )
    triples = zip(found.left.tolist(), found.right.tolist(), found.scores.tolist(), strict=True)
    assert list(triples) == agreeing(num_perm, rows, sizes, threshold, n_left)


@given(signature_joins(), workers, st.integers(1, 4))
def test_join_signatures__in_pieces(join, workers, piece):
    num_perm, rows, sizes, threshold = join
    seen = []
    runner = Runner(workers, lambda stage, done, _: seen.append(done) if stage == "join" else None)
    with patch.object(pieces, "_PIECE", piece), patch.object(pieces, "_FIRST_PAIRS", 1):
        found = join_signatures(signatures_of(num_perm, rows, sizes), threshold, runner=runner)
    triples = zip(found.left.tolist(), found.right.tolist(), found.scores.tolist(), strict=True)
    assert list(triples) == agreeing(num_perm, rows, sizes, threshold, None)
    n_filled = sum(size > 0 for size in sizes)
    assert seen == sorted({*range(piece, n_filled, piece), n_filled} - {0})


@pytest.mark.slow
@each_of("equal", range(1, 129))
def test_join_signatures__ties_of_128(equal):
    """A pair is found at its own share, at every one, and not above it."""
    rows = np.zeros((2, 128), np.uint32)
    # Differences all over the positions, so that no two are in one band if they need not be.
    rows[1, np.argsort((np.arange(128) * 37) % 128)[equal:]] = 1
    signatures = Signatures(rows, np.ones(2, np.int64))
    share = Fraction(equal, 128)
    assert join_signatures(signatures, share, runner=Runner(1)).scores.tolist() == [equal]
    above = min(share + Fraction(1, 10**9), Fraction(1))
    assert len(join_signatures(signatures, above, runner=Runner(1))) == (equal == 128)


def test_join_signatures__limit():
    signatures = Signatures(np.zeros((4, 8), np.uint32), np.ones(4, np.int64))
    assert len(join_signatures(signatures, Fraction(1), limit=6, runner=Runner(1))) == 6
    with pytest.raises(ResultLimitError, match=r"\b5 pairs.*at least 6"):
        join_signatures(signatures, Fraction(1), limit=5, runner=Runner(1))


def random_sets(generator, n):
    """Sets that are often alike, of sizes within a few doublings."""
    sets = []
    for _ in range(n):
        universe = generator.choice((6, 20, 60))
        elements = set(generator.choices(range(universe), k=generator.randrange(2 * universe)))
        if sets and generator.random() < 0.6:
            elements = set(generator.choice(sets)) ^ set(generator.choices(range(60), k=2))
        sets.append(elements)
    return [sorted(elements) for elements in sets]


SCHEMES = [
    *(SmallestScheme(size, size) for size in (1, 2, 5, 10, 20, 40)),
    *(ModuloScheme(modulus, seed=modulus) for modulus in (1, 2, 3, 6)),
    *(ModuloScheme(size=size, seed=size) for size in (1, 2, 5, 10)),
]


def estimates_of(rows, scheme, n_left):
    """The estimated resemblance of all pairs, as fractions; None where there is no sample."""
    found = {}
    for x, (values, modulus, is_whole) in enumerate(rows):
        for y, (others, other_modulus, other_is_whole) in enumerate(rows[:x]):
            if n_left is not None and not y < n_left <= x:
                continue
            exact = is_whole and other_is_whole
            coarser = 1 if exact else max(modulus, other_modulus)
            union = sorted(v for v in values | others if v % coarser == 0)
            if isinstance(scheme, SmallestScheme) and not exact:
                union = union[: scheme.size]
            common = len(set(union) & values & others)
            found[y, x] = Fraction(common, len(union)) if union else None
    return found


def check_join(sketches, rows, scheme, threshold, n_left, workers):
    if isinstance(scheme, SmallestScheme):
        left, right = join_smallest(sketches, threshold, n_left=n_left, runner=Runner(workers))
    else:
        measure = Jaccard(threshold)
        left, right = join_modulo(sketches, measure, n_left=n_left, runner=Runner(workers))
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    assert found == sorted(set(found))
    exact = estimates_of(rows, scheme, n_left)
    assert set(found) <= set(exact)
    reaching = {pair for pair, share in exact.items() if share is not None and share >= threshold}
    assert reaching <= set(found)
    if isinstance(scheme, ModuloScheme) and scheme.modulus is not None:
        assert reaching == set(found)


@pytest.mark.slow
@each_of("n_workers", [1, 3])
@each_of("scheme", SCHEMES, ids=lambda s: f"{s.describe()}")
def test_join_samples__misses_none(scheme, n_workers):
    generator = random.Random(scheme.seed)
    for trial in range(18):
        lists = random_sets(generator, trial % 9)
        n_left = generator.choice((None, None, len(lists) // 2, len(lists) // 3))
        sketches = scheme.sample(ShingleLists(*ragged(lists)))
        rows = []
        moduli, sizes = sketches.moduli.tolist(), sketches.sizes.tolist()
        for elements, modulus, size in zip(lists, moduli, sizes, strict=True):
            permuted = oracle.permute(elements, scheme.seed)
            values = set(oracle.multiples(permuted, modulus))
            if isinstance(scheme, SmallestScheme):
                values = set(oracle.smallest(permuted, scheme.size))
            rows.append((values, modulus, len(values) == size))
        # Each tie, and a threshold in between.
        shares = {share for share in estimates_of(rows, scheme, n_left).values() if share}
        for threshold in (*shares, Fraction(generator.randint(1, 40), 40)):
            check_join(sketches, rows, scheme, threshold, n_left, n_workers)


@st.composite
def level_collections(draw):
    """Whole and partial samples of many moduli that share values of all of them."""
    generator = draw(st.randoms(use_true_random=False))
    rows = []
    for _ in range(draw(st.integers(2, 7))):
        modulus = 1 << generator.randrange(4)
        pool = [v for v in range(8, 200, 2) if v % modulus == 0]
        values = set(generator.choices(pool[:12], k=generator.randrange(9)))
        rows.append((values, modulus, modulus == 1 or generator.random() < 0.5))
    return rows


@given(level_collections(), st.data(), workers)
def test_join_samples__of_any_moduli(rows, data, workers):
    """A sketch of a larger modulus may hold a whole set, if all of it are its multiples."""
    scheme, n_left = ModuloScheme(size=1), data.draw(st.none() | st.integers(0, len(rows)))
    values, offsets = ragged([sorted(values) for values, _, _ in rows])
    sizes = [len(values) + (not is_whole) * 5 for values, _, is_whole in rows]
    sketches = SetSketches(
        values, offsets, np.array(sizes), np.array([modulus for _, modulus, _ in rows])
    )
    shares = [s for s in estimates_of(rows, scheme, n_left).values() if s]
    threshold = data.draw(st.sampled_from([Fraction(1, 2), *shares]))
    check_join(sketches, rows, scheme, threshold, n_left, workers)
