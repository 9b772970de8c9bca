from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.join import edit_join_kernels as kernels
from neardup.matching import edit_join
from neardup.matching.measures import EditThreshold
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import TokenLists
from tests.arrays import ragged
from tests.examples import examples
from tests.oracles import edits
from tests.strategies import thresholds

# Few letters, so that q-grams repeat within and between strings.
strings = st.one_of(
    st.text("ab", max_size=12),
    st.text("abcd", max_size=16),
    st.sampled_from(["", "a", "aaaa", "aaaaaaaa", "abababab", "abcdabcd"]),
)


@st.composite
def edited_strings(draw):
    """Strings, and some of them again with a part cut out, put in, doubled, or moved."""
    chosen = draw(st.lists(strings, min_size=1, max_size=7))
    for _ in range(draw(st.integers(0, 5))):
        string = draw(st.sampled_from(chosen))
        start = draw(st.integers(0, len(string)))
        stop = draw(st.integers(start, min(start + 3, len(string))))
        new = draw(st.one_of(st.text("abc", max_size=3), st.just(string[start:stop] * 2)))
        chosen.append(string[:start] + new + string[stop:])
    return chosen


def joined(strings, threshold, *, sides=None, workers=1, **options):
    is_share = isinstance(threshold, Fraction)
    join = edit_join.EditJoin(
        TokenLists(*ragged([[ord(c) for c in string] for string in strings])),
        EditThreshold(None, threshold) if is_share else EditThreshold(threshold),
        **options,
    )
    sides = None if sides is None else np.array(sides, np.uint8)
    pairs, counts = join.run(sides, None, Runner(workers))
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


@examples(200)
@given(
    strings=edited_strings(),
    threshold=st.integers(0, 4) | thresholds,
    qgram=st.none() | st.integers(1, 9),
    algorithm=st.sampled_from(get_args(Algorithm)),
    data=st.data(),
)
def test_edit_join__as_oracle(strings, threshold, qgram, algorithm, data):
    n = len(strings)
    sides = data.draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    # Some of those that are looked up could as well be compared with all.
    compared = data.draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))

    def drop(first_partner, grams, groups, index):
        grams.probing[np.array(compared[: len(grams.probing)], bool)] = 0

    with pytest.MonkeyPatch.context() as patch:
        if compared is not None:
            patch.setattr(kernels, "drop_long_lookups", drop)
        found, counts = joined(strings, threshold, sides=sides, qgram=qgram, algorithm=algorithm)
    assert found == edits.join(strings, threshold, sides)
    assert counts.results == len(found) <= counts.verified
