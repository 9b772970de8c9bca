"""Every job of the table that has ``--engine spark``: the files that threads write."""

from __future__ import annotations

import pytest

import neardup.cli
from tests.runtimes import JOBS, answer_in, write_collections


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    write_collections(folder)
    return folder


@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if job.on_spark])
def test_same_bytes(session, collections, tmp_path, monkeypatch, name):
    """The command finds the session of the tests, which is open."""
    monkeypatch.chdir(collections)
    job = JOBS[name]
    for engine in ("threads", "spark"):
        output = tmp_path / engine
        output.mkdir()
        assert neardup.cli.run([*job.arguments(output), "--engine", engine]) == 0
    assert answer_in(tmp_path / "spark") == answer_in(tmp_path / "threads")
