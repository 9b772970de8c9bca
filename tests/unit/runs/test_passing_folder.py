"""What nobody reads after this process does not wait for the disk; what stays does."""

from __future__ import annotations

import os

import pytest

import neardup
from neardup.runs import disk
from neardup.runs.work import WorkFolder

TEXTS = [" ".join(f"w{i % 90}" for i in range(start, start + 80)) for start in (0, 20)]


@pytest.fixture
def synced(monkeypatch):
    """Count what is asked to reach the disk."""
    calls = []
    fsync = os.fsync
    monkeypatch.setattr("os.fsync", lambda file: (calls.append(file), fsync(file)))
    return calls


def test_align_and_cut__temporary_index_is_not_synced(synced):
    assert len(neardup.align(TEXTS[:1], TEXTS[1:]))
    assert neardup.cut(TEXTS, min_tokens=20).removed.num_rows
    assert synced == []


def test_index__that_stays_is_synced(synced, tmp_path):
    with WorkFolder.temporary(tmp_path).passing_folder() as folder:
        assert folder.is_dir()
        neardup.PassageIndex.create(tmp_path / "index").add(TEXTS)
    assert synced
    assert not folder.exists()
    assert not disk._PASSING
