"""Batches, shuffles and arrays of a work folder: the same rows, however they are cut or stopped."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.runs.exchange import GrowingArray, Shuffle, SpilledBatches, load_or_compute
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

KEY = {"options": {"threshold": "0.8"}}

# Lists of rows; the values of a row tell it from all others.
cuttings = st.lists(st.integers(0, 5), max_size=12)
memories = st.integers(0, 3000)
weights = st.integers(1, 10)
# How many batches come before each stop.
stops = st.lists(st.integers(0, 8), max_size=3)


class StoppedError(Exception):
    pass


def batches_of(cutting):
    """Cut rows into batches, of which some have a column more than others."""
    batches, start = [], 0
    for number, size in enumerate(cutting):
        columns = {"row": np.arange(start, start + size), "text": [f"row {start}"] * size}
        if number % 3 == 2:
            columns["more"] = np.arange(size)
        batches.append(pa.RecordBatch.from_pydict(columns))
        start += size
    return batches


def open_workspace(parent, memory):
    return Workspace(memory, WorkFolder.open(parent, "out", KEY))


def spill(workspace, batches, weight, n_until_stop=None):
    """Append what is not there yet; return the list."""
    with SpilledBatches("list", workspace, share=0.5, weight_of_file=weight) as spilled:
        n_before = sum(1 for _ in spilled.with_facts())
        for number, batch in enumerate(batches[n_before:], n_before):
            if n_until_stop is not None and number - n_before == n_until_stop:
                raise StoppedError
            spilled.append(batch, {"number": number}, 1 + number % 4)
    return spilled


@given(cuttings, memories, weights, stops)
def test_spilled_batches__come_back_in_order(cutting, memory, weight, stops):
    batches, parent = batches_of(cutting), Path(tempfile.mkdtemp())
    try:
        for stop in stops:
            try:
                with open_workspace(parent, memory) as workspace:
                    spill(workspace, batches, weight, stop)
                    raise StoppedError
            except StoppedError:
                pass
        with open_workspace(parent, memory) as workspace:
            spilled = spill(workspace, batches, weight)
            assert [each["number"] for _, each in spilled.with_facts()] == list(range(len(batches)))
            assert list(spilled) == list(spilled) == batches
            size = sum(batch.get_total_buffer_size() for batch in batches)
            assert spilled.is_in_memory == (workspace.work.n_done == 0)
            assert spilled.is_in_memory or size > workspace.share(0.5)
        assert list(parent.iterdir()) == []
    finally:
        shutil.rmtree(parent)


def test_spilled_batches__stay_in_memory_without_a_folder():
    batches = batches_of([3, 0, 5])
    spilled = spill(IN_MEMORY, batches, 1)
    assert spilled.is_in_memory
    assert list(spilled) == batches


def shuffle_rows(workspace, cutting, n_partitions, options, n_until_stop=None):
    """Bring rows to their partitions, those that are not there yet; return the shuffle."""
    shuffle = Shuffle("rows", workspace, n_partitions, share=0.3, **options)
    done = Counter(shuffle.done())
    with shuffle:
        start = 0
        for number, size in enumerate(cutting):
            values = np.arange(start, start + size)
            start += size
            if done[number]:
                continue
            if n_until_stop == number:
                raise StoppedError
            partitions = values * 7919 % n_partitions
            order = np.argsort(partitions, kind="stable")
            batch = pa.RecordBatch.from_pydict({"row": values[order]})
            shuffle.add(batch, partitions[order], number, 1 + number % 4)
    return shuffle


@given(
    cuttings,
    memories,
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([None, "lz4"]),
    weights,
    stops,
)
def test_shuffle__gives_each_partition_its_rows(
    cutting, memory, n_partitions, in_memory, compression, weight, stops
):
    parent = Path(tempfile.mkdtemp())
    options = {
        "in_memory": in_memory, "compression": compression, "weight_of_file": weight,
    }  # fmt: skip
    try:
        for stop in stops:
            try:
                with open_workspace(parent, memory) as workspace:
                    shuffle_rows(workspace, cutting, n_partitions, options, stop)
                    raise StoppedError
            except StoppedError:
                pass
        with open_workspace(parent, memory) as workspace:
            shuffle = shuffle_rows(workspace, cutting, n_partitions, options)
            rows = np.arange(sum(cutting))
            numbers = np.bincount(rows * 7919 % n_partitions, minlength=n_partitions)
            assert ((shuffle.sizes() > 0) == (numbers > 0)).all()
            for partition in range(n_partitions):
                expected = rows[rows * 7919 % n_partitions == partition]
                found = [row for batch in shuffle.read(partition) for row in batch["row"].tolist()]
                assert sorted(found) == expected.tolist()
                # In the order in which batches came.
                batch_of = np.repeat(np.arange(len(cutting)), cutting)
                assert (np.diff(batch_of[np.array(found, np.int64)]) >= 0).all()
            assert in_memory == (workspace.work.n_done == 0) or not cutting
        assert list(parent.iterdir()) == []
    finally:
        shutil.rmtree(parent)


def test_shuffle__reads_columns_of_wanted_batches_alone(tmp_path):
    with open_workspace(tmp_path, 1) as workspace:
        shuffle = shuffle_rows(workspace, [2, 3, 4], 1, {"in_memory": False, "weight_of_file": 1})
        asked = []

        def is_wanted(batch):
            asked.append(batch["row"].tolist())
            return 3 in asked[-1]

        found = [batch["row"].tolist() for batch in shuffle.read(0, is_wanted)]
        assert (asked, found) == ([[0, 1], [2, 3, 4], [5, 6, 7, 8]], [[2, 3, 4]])


@given(
    st.lists(st.sampled_from(["?", "<i8", "<u8", "<f8"]), max_size=4),
    st.integers(0, 50),
    st.booleans(),
)
def test_kept_arrays__are_worked_out_once(dtypes, size, is_in_use):
    arrays = {f"a{i}": np.arange(size).astype(dtype) for i, dtype in enumerate(dtypes)}
    parent, calls = Path(tempfile.mkdtemp()), []

    def compute():
        calls.append(1)
        return arrays

    def run():
        try:
            with open_workspace(parent, 1) as workspace:
                if is_in_use and not workspace.work.is_done("before"):
                    with workspace.work.task("before"):
                        pass
                found = load_or_compute(workspace, "task", compute)
                raise StoppedError
        except StoppedError:
            return found

    try:
        for found in (run(), run()):
            assert list(found) == list(arrays)
            for name, array in arrays.items():
                assert found[name].dtype == array.dtype
                assert found[name].tolist() == array.tolist()
        assert len(calls) == (1 if is_in_use else 2)
    finally:
        shutil.rmtree(parent)


@given(st.lists(st.integers(0, 60), max_size=12), memories)
def test_growing_array__is_in_a_file_from_where_it_does_not_fit(sizes, memory):
    values = np.arange(sum(sizes), dtype=np.uint64)
    parent = Path(tempfile.mkdtemp())
    try:
        with open_workspace(parent, memory) as workspace:
            with GrowingArray("values", np.uint64, workspace, share=0.5) as growing:
                for part in np.split(values, np.cumsum(sizes[:-1])) if sizes else []:
                    growing.append(part)
            assert growing.array.tolist() == values.tolist()
            is_in_file = isinstance(growing.array, np.memmap)
            assert is_in_file == (values.nbytes > workspace.share(0.5))
            assert is_in_file == workspace.work.is_done("values")
    finally:
        shutil.rmtree(parent)
