from __future__ import annotations

import random
from functools import reduce
from itertools import combinations
from operator import xor

import numpy as np

from neardup.kernels.join import edit_join as kernels
from tests.arrays import ragged, random_words
from tests.kernels.edit_strings import random_strings, token_lists
from tests.oracles import edits
from tests.oracles.shingles import shingle_tuples


def parities_of(strings):
    tokens = token_lists(strings)
    parities = np.zeros((len(strings), 2), np.uint64)
    kernels.string_parities(tokens.values, tokens.offsets, parities)
    return [tuple(row) for row in parities.tolist()]


def test_string_parities__odd_counts():
    """A bit for each token, and one for each adjacent two; those that come twice cancel."""
    generator = random.Random(1)
    assert parities_of([""]) == [(0, 0)]
    for string in random_strings(generator, 40):
        ones = parities_of(string)
        pairs = parities_of(shingle_tuples(string, 2) if len(string) > 1 else [])
        assert all(a.bit_count() == 1 and b == 0 for a, b in ones)
        assert all(b.bit_count() == 1 for _, b in pairs)
        found = parities_of([string])[0]
        assert found[0] == reduce(xor, [a for a, _ in ones], 0)
        assert found[1] == reduce(xor, [b for _, b in pairs], 0)


def test_string_parities__tell_tokens_and_their_order_apart():
    tokens = random_words(random.Random(2), 40)
    values, offsets = ragged([[token] for token in tokens])
    parities = np.zeros((len(tokens), 2), np.uint64)
    kernels.string_parities(values, offsets, parities)
    assert len(set(parities[:, 0].tolist())) > len(set(tokens)) // 4
    forth, back = (np.zeros((30, 2), np.uint64) for _ in range(2))
    twos = [tokens[i : i + 2] for i in range(30)]
    kernels.string_parities(*ragged(twos), forth)
    kernels.string_parities(*ragged([two[::-1] for two in twos]), back)
    assert np.array_equal(forth[:, 0], back[:, 0])
    assert not np.array_equal(forth[:, 1], back[:, 1])


def test_string_parities__each_edit_turns_no_more_bits_than_promised():
    """Two of tokens and four of twos; an insertion or a deletion one less of both."""
    turned = {"insertion": set(), "substitution": set()}
    generator = random.Random(3)
    strings = ["", "a", "ab", "aaaa", *random_strings(generator, 8, longest=7)]
    for string in strings:
        new = [string[:i] + c + string[i:] for i in range(len(string) + 1) for c in "abz"]
        changed = [string[:i] + c + string[i + 1 :] for i in range(len(string)) for c in "abz"]
        for kind, others in (("insertion", new), ("substitution", changed)):
            before, *after = parities_of([string, *others])
            for row in after:
                turned[kind].add(tuple((row[i] ^ before[i]).bit_count() for i in (0, 1)))
    assert max(one for one, _ in turned["insertion"]) == 1
    assert max(two for _, two in turned["insertion"]) == 3
    assert max(one for one, _ in turned["substitution"]) == 2
    assert max(two for _, two in turned["substitution"]) == 4


def test_string_parities__of_strings_within_a_distance():
    """The parity filter alone loses no pair."""
    generator = random.Random(4)
    for _ in range(25):
        strings = sorted(filter(None, random_strings(generator, 8)), key=len)
        parities = np.array(parities_of(strings), np.uint64).reshape(-1, 2)
        for y, x in combinations(range(len(strings)), 2):
            distance = edits.distance(strings[x], strings[y])
            longer = len(strings[x]) - len(strings[y])
            differ = [int(parities[x, i] ^ parities[y, i]).bit_count() for i in (0, 1)]
            assert differ[0] <= 2 * distance - longer
            assert differ[1] <= 4 * distance - longer
