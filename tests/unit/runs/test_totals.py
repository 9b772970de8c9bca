"""Totals by key, in memory and in files, as adding one row after the other has them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.runs import totals
from neardup.runs.totals import Totals
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

KINDS = {"n": np.add, "first": np.minimum, "last": np.maximum}
KEYS = st.tuples(st.sampled_from([0, 1, 2**64 - 1]), st.integers(0, 3))
BATCHES = st.lists(st.lists(st.tuples(KEYS, st.integers(-9, 9)), max_size=9), max_size=9)


def totals_of(batches, workspace, n_rows=1):
    """Return totals by key, and in how many parts they came."""
    with Totals("some", workspace, 2, KINDS, n_rows=n_rows) as found:
        for batch in batches:
            keys = np.array([key for key, _ in batch], np.uint64).reshape(-1, 2)
            values = np.array([value for _, value in batch], np.int64)
            found.add((keys[:, 0], keys[:, 1]), n=values, first=values, last=values)
        read, n_parts = {}, 0
        for keys, values in found.read():
            n_parts += 1
            rows = zip(*(column.tolist() for column in (*keys, *values.values())), strict=True)
            for first, second, *of_key in rows:
                assert (first, second) not in read
                read[first, second] = tuple(of_key)
    return read, n_parts


def expected(batches):
    values = defaultdict(list)
    for batch in batches:
        for key, value in batch:
            values[key].append(value)
    return {key: (sum(each), min(each), max(each)) for key, each in values.items()}


@given(BATCHES)
def test_totals__in_memory(batches):
    assert totals_of(batches, IN_MEMORY)[0] == expected(batches)


@pytest.mark.parametrize("memory", [1, 2000, 100_000])
def test_totals__in_files(tmp_path, memory, monkeypatch):
    monkeypatch.setattr(totals, "_LEAST", 3)
    rng = np.random.default_rng(memory)
    batches = [
        [((int(a), int(b)), int(n)) for a, b, n in rng.integers(0, 9, (rng.integers(0, 30), 3))]
        for _ in range(20)
    ]
    with Workspace(memory, WorkFolder.temporary(tmp_path)) as workspace:
        found, n_parts = totals_of(batches, workspace, n_rows=20)
        assert (workspace.work.n_done > 0) == (memory < 100_000)
    assert found == expected(batches)
    assert (n_parts > 1) == (memory < 100_000)
    assert not list(tmp_path.iterdir())


@given(BATCHES)
def test_totals__keys_of_one_hash(batches):
    """Keys are told apart by what they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(totals, "mix_words", lambda words: np.zeros_like(words))
        assert totals_of(batches, IN_MEMORY)[0] == expected(batches)


def test_totals__keys_that_are_read_together(tmp_path):
    rng = np.random.default_rng(4)
    keys = rng.integers(0, [20, 1 << 60], (3000, 2)).astype(np.uint64)
    with (
        Workspace(3000, WorkFolder.temporary(tmp_path)) as workspace,
        Totals("some", workspace, 2, {"n": np.add}, n_rows=3000, n_together=1) as found,
    ):
        for start in range(0, 3000, 100):
            part = keys[start : start + 100]
            found.add((part[:, 0], part[:, 1]), n=np.ones(len(part), np.int64))
        parts = [set(each[0].tolist()) for each, _ in found.read()]
    assert len(parts) > 1
    assert sorted(first for part in parts for first in part) == list(range(20))
