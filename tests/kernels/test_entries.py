from __future__ import annotations

import random
from itertools import pairwise

import numpy as np

from neardup.documents.document_segment import bounds_of_pages
from neardup.kernels.arrays import sealed
from neardup.kernels.bucket import bucket_kernels
from neardup.kernels.bucket.bucket_kernels import PAGE
from tests.arrays import as_uint64
from tests.each import each_of

LARGEST = 2**32 - 1


def make(lists):
    """Lay lists of (key, number) out; gives entries, their lists and the bounds of pages."""
    values = [sorted(key << 32 | number for key, number in pairs) for pairs in lists]
    flat = as_uint64(value for own in values for value in own)
    starts = np.cumsum([0, *map(len, values)]).astype(np.int64)
    page_starts, bounds = bounds_of_pages(starts)
    fences = flat[bounds[:-1]] if len(flat) else flat
    return flat, sealed(bucket_kernels.Lists(starts, page_starts, fences)), bounds


def find(made, keys, wanted, *, is_checked=None, room=10_000, room_found=100_000):
    """Look keys up; gives pairs, the pages that are unchecked, and how many there are of both."""
    flat, lists, bounds = made
    keys = np.array(keys, np.uint32).reshape(len(wanted), -1)
    unchecked = np.full(room, -9, np.int64)
    found = np.full(room_found, 77, np.uint64)
    if is_checked is None:
        is_checked = np.ones(len(bounds) - 1, np.bool_)
    # In any order of the slots.
    order = np.random.default_rng(len(flat)).permutation(keys.size)
    owners, numbers = order // keys.shape[1], order % keys.shape[1]
    is_wanted = np.array(wanted)[owners]
    slots = sealed(
        bucket_kernels.Slots(
            keys.reshape(-1)[order][is_wanted], numbers[is_wanted], owners[is_wanted]
        )
    )
    n_found, n_unchecked = bucket_kernels.find_entries(
        slots, lists, flat, bounds, is_checked, found, unchecked
    )
    assert (found[n_found:] == 77).all()
    assert (unchecked[n_unchecked:] == -9).all()
    pairs = sorted((int(value) >> 32, int(value) & LARGEST) for value in found[:n_found])
    return pairs, unchecked[:n_unchecked].tolist(), n_found, n_unchecked


def by_definition(lists, keys, wanted):
    return sorted(
        (query, number)
        for query, own in enumerate(keys)
        if wanted[query]
        for pairs, key in zip(lists, own, strict=True)
        for found, number in pairs
        if found == key
    )


def random_lists(generator):
    """Give lists, some empty, some with a key that fills pages, some with the extreme keys."""
    lists = []
    for _ in range(generator.randint(1, 4)):
        size = generator.choice([0, 1, 7, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
        few = [*generator.sample(range(LARGEST), 3), 0, LARGEST]
        lists.append(
            [
                (
                    generator.choice(few) if generator.random() < 0.5
                    else generator.getrandbits(32),
                    number,
                )
                for number in range(size)
            ]
        )  # fmt: skip
    return lists


@each_of("seed", range(12))
def test_find__by_definition(seed):
    generator = random.Random(seed)
    lists = random_lists(generator)
    made = make(lists)
    n = 15
    wanted = [generator.random() < 0.8 for _ in range(n)]
    keys = [
        [
            generator.choice([0, LARGEST, generator.getrandbits(32), *[key for key, _ in pairs]])
            for pairs in lists
        ]
        for _ in range(n)
    ]
    pairs, _, _, n_unchecked = find(made, keys, wanted)
    assert pairs == by_definition(lists, keys, wanted)
    assert n_unchecked == 0
    # Of an index that is not checked yet it touches nothing, but names what it would.
    nothing = np.zeros(len(made[2]) - 1, np.bool_)
    none, pages, n_found, _ = find(made, keys, wanted, is_checked=nothing)
    assert (none, n_found) == ([], 0)
    # What it names is enough.
    nothing[pages] = True
    assert find(made, keys, wanted, is_checked=nothing)[0] == pairs
    # Few pages are looked at: those that have the key, and the one before.
    flat, _, bounds = made
    may_have = {
        page
        for page, (start, stop) in enumerate(pairwise(bounds.tolist()))
        for own, ok in zip(keys, wanted, strict=True)
        if ok and any(int(flat[start]) >> 32 <= key for key in own) and stop > start
    }
    assert set(pages) <= may_have


def test_find__a_key_in_many_pages():
    """It begins within a page, fills the next ones, and ends within the last one."""
    before = [(3, n) for n in range(PAGE // 2)]
    many = [(5, n) for n in range(3 * PAGE)]
    after = [(9, n) for n in range(PAGE)]
    made = make([before + many + after])
    assert find(made, [[5]], [True])[0] == [(0, n) for n in range(3 * PAGE)]
    nothing = np.zeros(len(made[2]) - 1, np.bool_)
    assert set(find(made, [[5]], [True], is_checked=nothing)[1]) == {0, 1, 2, 3}
    # A key at the start of a page may begin in the one before.
    made = make([[(1, n) for n in range(PAGE)] + [(2, 0)]])
    assert set(find(made, [[2]], [True], is_checked=np.zeros(2, np.bool_))[1]) == {0, 1}


def test_find__beyond_the_room():
    """All are counted; as many are listed as there is room for, and nothing behind."""
    made = make([[(1, n) for n in range(10 * PAGE)]])
    is_checked = np.zeros(10, np.bool_)
    is_checked[3] = True
    _, unchecked, _, n_unchecked = find(made, [[1], [1]], [True, True], is_checked=is_checked)
    assert n_unchecked == 18
    assert unchecked == [0, 1, 2, 4, 5, 6, 7, 8, 9] * 2
    _, unchecked, _, n_unchecked = find(made, [[1]], [True], is_checked=is_checked, room=4)
    assert (n_unchecked, unchecked) == (9, [0, 1, 2, 4])
    pairs, _, n_found, _ = find(made, [[1]], [True], room_found=7)
    assert (n_found, len(pairs)) == (10 * PAGE, 7)
