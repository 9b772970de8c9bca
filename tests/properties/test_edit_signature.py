"""Laws of edit signatures and of what is worked out from them."""

from __future__ import annotations

import random
from itertools import pairwise
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.sketches import edit
from neardup.sketches.edit import EditScheme, edit_estimates, edit_signatures, signature_distances
from neardup.tables import EditSignatures
from tests.arrays import make_texts
from tests.oracles import edit_signature as oracle
from tests.oracles.edits import distance
from tests.strategies import any_text

schemes = st.builds(
    EditScheme, compression=st.integers(1, 6), seed=st.sampled_from([0, 42, 2**64 - 1])
)
symbol_lists = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=4)


def sign(strings, scheme, neighbourhood):
    """Give the symbols of each text."""
    with patch.object(edit, "NEIGHBOURHOOD", neighbourhood):
        signatures = edit_signatures(make_texts(strings, lead="x"), scheme)
    assert len(signatures) == len(strings)
    assert signatures.lengths.tolist() == list(map(len, strings))
    symbols = signatures.symbols.tolist()
    return [symbols[start:stop] for start, stop in pairwise(signatures.offsets)]


def table(lists):
    symbols = np.array([symbol for values in lists for symbol in values], np.uint32)
    offsets = np.cumsum([0, *map(len, lists)])
    return EditSignatures(symbols, offsets, np.zeros(len(lists), np.int64))


def all_pairs(n):
    left, right = np.indices((n, n))
    return left.ravel(), right.ravel()


@given(st.lists(any_text, max_size=4), schemes, st.integers(1, 9))
def test_edit_signatures__as_oracle(strings, scheme, neighbourhood):
    for text, symbols in zip(strings, sign(strings, scheme, neighbourhood), strict=True):
        expected = oracle.sign(text, scheme.compression, neighbourhood, seed=scheme.seed)
        assert symbols == [symbol for _, symbol in expected]


def test_edit_signatures__more_symbols_than_expected():
    """A text that repeats one window has a symbol at each, or none; room is made as needed."""
    sizes = [5000, 3000, 4000, 2000]
    strings = [letter * size for letter, size in zip("abcd", sizes, strict=True)]
    first = "".join(random.Random(1).choices("efghij", k=200))
    most = 0
    for seed in range(40):
        before, *found = sign([first, *strings], EditScheme(20, seed), 3)
        assert before == [symbol for _, symbol in oracle.sign(first, 20, 3, seed=seed)]
        for symbols, size in zip(found, sizes, strict=True):
            assert symbols in ([], symbols[:1] * (size - 2))
        most = max(most, sum(map(len, found)))
    assert most > 4000


@given(symbol_lists)
def test_signature_distances__as_oracle(lists):
    left, right = all_pairs(len(lists))
    found = signature_distances(table(lists), left, right)
    expected = [distance(lists[a], lists[b]) for a, b in zip(left, right, strict=True)]
    assert found.tolist() == expected


def test_signature_distances__symbols_of_all_sizes():
    """Around surrogates, and where 20 bits no longer tell symbols apart."""
    values = [0, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xF7FF, 0x10F7FF, 0x10F800, 2**32 - 1]
    left, right = all_pairs(len(values))
    found = signature_distances(table([[value] for value in values]), left, right)
    expected = [
        values[a] % 0x10F800 != values[b] % 0x10F800 for a, b in zip(left, right, strict=True)
    ]
    assert found.tolist() == expected


@given(st.integers(0, 2**32))
def test_edit_estimates__bounds_and_symmetry(seed):
    generator = random.Random(seed)
    base = "".join(generator.choices("abcdefgh", k=generator.randrange(60, 300)))
    strings = [base, *(edited(generator, base) for _ in range(3)), "".join(reversed(base)), ""]
    signatures = edit_signatures(make_texts(strings), EditScheme(compression=4))
    left, right = all_pairs(len(strings))
    found = edit_estimates(signatures, left, right)
    lengths = np.array([len(text) for text in strings])
    gap = np.abs(lengths[left] - lengths[right])
    longer = np.maximum(lengths[left], lengths[right])
    assert (gap <= found.low).all()
    assert (found.low <= found.high).all()
    assert (found.high <= longer).all()
    sizes = np.diff(signatures.offsets)
    usable = np.minimum(sizes[left], sizes[right]) >= 20
    assert (found.is_usable == usable).all()
    assert (found.low[~usable] == gap[~usable]).all()
    assert (found.high[~usable] == longer[~usable]).all()
    for column in (found.distances, found.significances):
        assert (np.isnan(column) == ~usable).all()
    assert (found.low[usable] <= found.distances[usable]).all()
    assert (found.distances[usable] <= found.high[usable]).all()
    same = usable & (left == right)
    assert (found.distances[same] < 1).all()
    assert (found.low[same] == 0).all()
    back = edit_estimates(signatures, right, left)
    assert np.array_equal(found.distances, back.distances, equal_nan=True)
    # Pairs do not depend on those beside them.
    alone = edit_estimates(signatures, left[7:8], right[7:8])
    assert np.array_equal(alone.distances, found.distances[7:8], equal_nan=True)
    assert np.array_equal(alone.significances, found.significances[7:8], equal_nan=True)


def edited(generator, text):
    characters = list(text)
    for _ in range(generator.randrange(12)):
        place = generator.randrange(len(characters))
        characters[place : place + generator.randrange(9)] = generator.choices(
            "abcdefgh", k=generator.randrange(9)
        )
    return "".join(characters)
