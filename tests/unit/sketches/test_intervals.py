from __future__ import annotations

import numpy as np

from neardup.sketches.kind import wilson_intervals


def test_wilson_intervals__of_none_and_of_all():
    low, high = wilson_intervals(np.array([np.nan, 0.25]), np.array([0, np.inf]))
    assert low.tolist() == [0, 0.25]
    assert high.tolist() == [1, 0.25]
