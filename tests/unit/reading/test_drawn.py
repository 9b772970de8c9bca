"""Runs of rows that stand for a collection."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.resolve import resolve_inputs
from neardup.reading.drawn import draw_rows
from neardup.runs.runner import Runner


@given(st.integers(1, 40), st.floats(0.01, 1), st.integers(1, 9))
def test_runs__are_evenly_spread(n, share, of_block):
    rows = draw_rows(resolve_inputs([f"row {k}" for k in range(n)]), Runner(1))
    sources, lengths = rows.runs(share, of_block)
    numbers = np.concatenate([block.numbers for source in sources for block in source.blocks()])
    assert len(numbers) == lengths.sum()
    assert abs(len(numbers) - n * share) <= 1
    assert (np.diff(numbers) > 0).all()
    first = numbers.min()
    # Each run begins where a part of the block does, as many as there are runs.
    starts = np.arange(of_block) * n // of_block
    expected = [s + k for s, size in zip(starts, lengths, strict=True) for k in range(size)]
    assert (numbers - numbers.min()).tolist() == (np.array(expected) - expected[0]).tolist()
    assert first >= 0
