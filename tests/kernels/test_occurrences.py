from __future__ import annotations

import numpy as np

from neardup.kernels.passage.windows import group_occurrences
from tests.arrays import JUNK, ragged
from tests.each import each_of
from tests.oracles import windows as oracle


def grouped(texts):
    """Give (number of each token, [(hash, positions)]) of each text."""
    values, offsets = ragged(texts)
    n, longest = len(values), max(map(len, texts), default=0)
    slots = np.full(1 << max(1, (2 * longest - 1).bit_length()), 7, np.int32)
    numbers, positions = np.full(n, -7, np.int32), np.full(n, -7, np.int32)
    type_offsets = np.full(len(offsets), -7, np.int64)
    hashes, starts = np.full(n, JUNK, np.uint64), np.full(n + 1, -7, np.int64)
    n_types = group_occurrences(
        values, offsets, slots, numbers, type_offsets, hashes, starts, positions
    )
    assert type_offsets[0] == 0
    assert type_offsets[-1] == n_types
    assert starts[n_types] == n or not texts
    found = []
    for text, first in enumerate(type_offsets[:-1].tolist()):
        types = range(first, int(type_offsets[text + 1]))
        places = [positions[starts[k] : starts[k + 1]].tolist() for k in types]
        rows = list(zip(hashes[first : types.stop].tolist(), places, strict=True))
        found.append((numbers[offsets[text] : offsets[text + 1]].tolist(), rows))
    return found


def expected_groups(texts):
    groups = []
    for text in texts:
        places = oracle.positions_of(text)
        numbers = [list(places).index(token) for token in text]
        groups.append((numbers, [(t, [i + 1 for i in where]) for t, where in places.items()]))
    return groups


@each_of("n", [1, 2, 3, 4, 5, 31, 32, 33, 200])
def test_group_occurrences__hashes_that_want_the_same_slot(n):
    """All lower bits are equal, in the fullest table there can be."""
    text = [k << 40 | 0xFF for k in range(n)]
    texts = [text, text[::-1], [], text * 2, text[:1]]
    assert grouped(texts) == expected_groups(texts)
