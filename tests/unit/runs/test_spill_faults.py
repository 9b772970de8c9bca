"""Disks that are full, or damaged, while rows are spilled: one clear error, and nothing is left."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from neardup.errors import ReadError, WriteError
from neardup.runs.exchange import Shuffle, SpilledBatches, load_or_compute
from neardup.runs.work import WorkFolder, Workspace

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
BATCH = pa.RecordBatch.from_pydict({"row": np.arange(10_000)})


@pytest.fixture
def workspace(tmp_path):
    with Workspace(1, WorkFolder.open(tmp_path, "out", {"version": "1"})) as opened:
        with opened.work.task("before"):
            pass
        yield opened


def spill(workspace):
    with SpilledBatches("list", workspace, share=1, weight_of_file=2) as spilled:
        for _ in range(4):
            spilled.append(BATCH, None, 1)
    return list(spilled)


def shuffle(workspace):
    options = {"in_memory": False, "share": 1, "weight_of_file": 2}
    with Shuffle("rows", workspace, 1, **options) as rows:
        for _ in range(4):
            rows.add(BATCH, np.zeros(len(BATCH), np.int64), None, 1)
    return list(rows.read(0))


def shuffle_at_the_end(workspace):
    """What waits in memory is written when all rows are there."""
    plenty = Workspace(1 << 40, workspace.work)
    with Shuffle("rows", plenty, 1, in_memory=False, share=1) as rows:
        rows.add(BATCH, np.zeros(len(BATCH), np.int64))
    return list(rows.read(0))


def leftovers(workspace):
    return [path.name for path in workspace.work.folder.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize(
    ("write", "n_before"),
    [(spill, 0), (spill, 1), (shuffle, 0), (shuffle, 1), (shuffle_at_the_end, 0)],
)
def test_disk_full__says_so_and_leaves_no_part(workspace, write, n_before):
    real, opened = pa.OSFile, []

    def open_file(path, mode):
        opened.append(path)
        # So that there is something to remove.
        Path(path).touch()
        return real(path if len(opened) <= n_before else "/dev/full", mode)

    expected = write(Workspace(1, WorkFolder.temporary(workspace.work.folder.parent)))
    with patch("pyarrow.OSFile", open_file), pytest.raises(WriteError) as caught:
        write(workspace)
    assert f" {workspace.work.folder}: No space left on device; " in str(caught.value)
    assert leftovers(workspace) == []
    assert workspace.work.n_done == 1 + n_before
    assert write(workspace)[-1] == expected[-1]


def test_disk_full__arrays(workspace):
    arrays, real = {"a": np.arange(5)}, Path.open

    def open_full(path, *mode, **options):
        path.touch()
        return real(Path("/dev/full") if path.suffix == ".part" else path, *mode, **options)

    with patch.object(Path, "open", open_full), pytest.raises(WriteError, match="No space left"):
        load_or_compute(workspace, "task", lambda: arrays)
    assert leftovers(workspace) == []
    assert load_or_compute(workspace, "task", lambda: arrays) == arrays
    assert workspace.work.is_done("task")


def test_damaged_files__are_read_errors(workspace):
    spilled = SpilledBatches("list", workspace, share=1, weight_of_file=1)
    with spilled:
        spilled.append(BATCH, None, 1)
    path = workspace.work.path("list-00000", "rows")
    data = path.read_bytes()
    for damaged in (data[:100], bytes(len(data)), b"x" * len(data), data[: len(data) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ReadError, match=r"again|be read"):
            list(spilled)
    path.unlink()
    with pytest.raises(ReadError, match="gone"):
        list(spilled)


def test_damaged_arrays__are_read_errors(workspace, tmp_path):
    load_or_compute(workspace, "task", lambda: {"a": np.arange(5)})
    path = workspace.work.path("task", "a")
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(ReadError, match="cannot be read"):
        load_or_compute(workspace, "task", lambda: {"a": np.arange(5)})
