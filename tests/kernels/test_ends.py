from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.chains import common_extent
from tests.oracles import chains as oracle

texts = st.lists(st.integers(0, 5), max_size=9)


weights = st.lists(st.integers(0, 4), min_size=6, max_size=6)


@given(query=texts, document=texts, weights=weights, p=st.integers(1, 3), q=st.integers(3, 5))
def test_common_extent__oracle(query, document, weights, p, q):
    counts = np.full((2, 6), -9, np.int64)
    best = np.full(3, -9, np.int64)
    first, second = (np.array(text, np.int64) for text in (query, document))
    common_extent(first, second, np.array(weights, np.int64), p, q, counts[0], counts[1], best)
    known = dict(enumerate(weights))
    assert tuple(best.tolist()) == oracle.common_extent(query, document, p, q, known)
