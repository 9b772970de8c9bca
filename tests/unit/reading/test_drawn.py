"""Runs of rows that stand for a collection."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.files.memory import MemorySource
from neardup.files.resolve import resolve_inputs
from neardup.reading.drawn import DrawnBlocks, DrawnTexts, draw_rows
from neardup.runs.runner import Runner
from neardup.stages.bench import runs_of_block


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


@example([900, 22], 0.6)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.floats(0.01, 0.9))
def test_runs__of_half_the_share_lie_within_the_others(sizes, share):
    """Whatever blocks there are: a last one may be short, and files of all sizes."""
    rows = draw_rows([MemorySource(pa.table({"text": ["x"] * n})) for n in sizes], Runner(1))
    of_block = runs_of_block(DrawnTexts(rows, 0), share / 2)
    whole, half = (rows.runs(part, of_block)[1] for part in (share, share / 2))
    assert len(whole) == len(half) >= len(sizes)
    assert (half <= whole).all()


def test_under_way__is_what_threads_have_at_the_same_time():
    rows = draw_rows(resolve_inputs([f"row {k}" for k in range(40)]), Runner(1))
    # Ten blocks like the largest one; a token takes as much as two bytes of text.
    drawn = DrawnBlocks(rows, 1000, 100, 500, 250)
    for workers, n_read, n_worked_on in [(1, 2, 1), (4, 8, 4), (6, 10, 6), (20, 10, 10)]:
        made = n_worked_on * (2 * 100 + 8 * 25)
        assert drawn.under_way(workers) == pytest.approx(n_read * 100 + made)
    assert drawn.under_way(1, texts=3, of_token=0, more=50) == pytest.approx(200 + 300 + 5)
    nothing = draw_rows(resolve_inputs([]), Runner(1))
    assert DrawnBlocks(nothing, 0, 0, 0, 0).under_way(4) == 0
