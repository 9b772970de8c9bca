from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.minhash import band_keys
from tests.each import each_of


@each_of(("bands", "rows"), [(0, 1), (1, 0), (5, 4), (17, 1)])
def test_band_keys__out_of_range(bands, rows):
    with pytest.raises(InvalidParameterError):
        band_keys(np.zeros((1, 16), np.uint32), bands, rows)
