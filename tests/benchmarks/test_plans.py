"""Plans beside what jobs take: what is laid out, and one job from end to end."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks.plans.__main__ import JOBS, compare, is_off, lay_out


def row(told, taken):
    figures = {"memory": 200e6, "files": 0, "output": 50_000, "seconds": 2.0}
    return {
        "job": "cut",
        "collection": "letters",
        "input_bytes": 3e6,
        "memory": 16e6,
        "told": figures | told,
        "taken": figures | taken,
    }


def test_lay_out__marks_what_is_a_quarter_off():
    near = row({"memory": 249e6, "seconds": 1.51}, {"output": 90_000})
    assert not is_off("files", row({"files": None}, {}))
    far = row({"memory": 251e6, "seconds": 1.4, "files": 2e5}, {})
    assert not any(is_off(name, near) for name in near["told"])
    assert [is_off(name, far) for name in far["told"]] == [True, True, False, True]
    _, _, *lines = lay_out([near, far]).splitlines()
    assert lines[0] == ("| `cut` | letters | 3 | 16 | 249 | 200 | – | – | 0.05 | 0.09 | 1.5 | 2 |")
    assert "| **251** | 200 | **0.2** | – | 0.05 | 0.05 | **1.4** | 2 |" in lines[1]


@pytest.mark.slow
def test_compare__takes_what_a_job_takes(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"text": f"one {i} two {i % 7}"}) + "\n" for i in range(999))
    )
    neardup = (sys.executable, "-m", "neardup")
    for name in ("dedup", "pairs"):
        found = compare(JOBS[name], path, 10**9, neardup=neardup, workers=1)
        assert found["input_bytes"] == path.stat().st_size
        # A process begins with the peak of the one that started it, which is that of all tests.
        assert 100e6 < found["told"]["memory"] < 1.25 * found["taken"]["memory"]
        assert found["taken"]["output"] > 0
        assert found["told"]["files"] == found["taken"]["files"] == 0
