"""Tasks that die, alone or with their executor, and rows in any order: the same files."""

from __future__ import annotations

import sys

import pytest

from tests.spark.mishaps import STAGES, dies_once, replace_stage, shuffled, shuffled_behind_first
from tests.spark.runs import assert_same, run_spark, run_threads

OPTIONS = {"keep": "longest", "threshold": 0.6, "clusters": "components"}
pytestmark = pytest.mark.kills
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture(scope="module")
def expected(collection, tmp_path_factory):
    output = tmp_path_factory.mktemp("threads") / "out"
    return run_threads(str(collection / "own"), output, **OPTIONS)


@LINUX
@pytest.mark.parametrize("victim", ["worker", "executor"])
@pytest.mark.parametrize("stage", STAGES)
def test_killed(session, collection, tmp_path, monkeypatch, small_tasks, expected, stage, victim):
    mark = tmp_path / "was-killed"
    replace_stage(monkeypatch, stage, dies_once, str(mark), victim)
    output = run_spark(session, str(collection / "own"), tmp_path / "out", **OPTIONS)
    assert mark.exists()
    assert_same(output, expected)


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_in_any_order(session, collection, tmp_path, monkeypatch, small_tasks, expected, seed):
    replace_stage(monkeypatch, "engine.spark.engine._group_by_keys", shuffled, seed)
    replace_stage(
        monkeypatch, "engine.spark.engine._work_on_partition", shuffled_behind_first, seed
    )
    output = run_spark(session, str(collection / "own"), tmp_path / "out", **OPTIONS)
    assert_same(output, expected)
