"""Kernel tests run compiled, with bounds checked, and uncompiled; so their inputs are small."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _products_may_wrap_around() -> Iterator[None]:
    """Uncompiled, NumPy warns where 64-bit products wrap around as they should."""
    with np.errstate(over="ignore"):
        yield
