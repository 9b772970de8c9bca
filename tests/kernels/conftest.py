"""Kernel tests run compiled, with bounds checked, and uncompiled; so their inputs are small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from neardup.kernels.sketch import weighted_minhash


@pytest.fixture(autouse=True)
def _products_may_wrap_around() -> Iterator[None]:
    """Uncompiled, NumPy warns where 64-bit products wrap around as they should."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture
def minute_r(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw for elements the least possible r, as no search would find one."""

    def draw(bases: Any, size: int, rates: Any, log_cs: Any, betas: Any) -> None:
        for i in range(size):
            rates[i], log_cs[i], betas[i] = 2.0**-52, -3.0, 0.25

    monkeypatch.setattr(weighted_minhash, "draw", draw)
