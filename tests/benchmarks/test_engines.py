"""Processor time of processes by what they are, and what it is held to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.scale import engines
from benchmarks.scale.engines import HEADER, Case, role_of
from benchmarks.scale.measure import Watch
from tests.each import each_of

BUSY = "import time\nwhile time.process_time() < 0.7: pass"


@pytest.mark.slow
@each_of(
    ("command", "role"),
    [
        (
            "java -cp jars/* org.apache.spark.executor.CoarseGrainedExecutorBackend",
            "Java of executors",
        ),
        ("java -cp jars/* org.apache.spark.deploy.SparkSubmit pyspark-shell", "Java of the driver"),
        ("python -m pyspark.daemon pyspark.worker", "Python of executors"),
        ("python -m neardup dedup in.jsonl -o out", "driver"),
        ("bash spark-class", "other"),
    ],
)
def test_role(command, role):
    assert role_of(command) == role


@pytest.mark.slow
@each_of(("spark", "reached"), [(19.0, True), (19.1, False)])
def test_case__is_held_to_twice_the_time_of_threads_beyond_the_start(spark, reached):
    case = Case("dedup", 10**7, 2.0, {"driver": 1.0, "Java of executors": spark - 1}, 9.0, True)
    row = dict(zip(HEADER, case.row, strict=True))
    assert (row["reached"], row["Spark"], row["driver"], row["other"]) == (reached, spark, 1.0, 0.0)
    assert row["times threads, beyond 15 s"] == pytest.approx((spark - 15) / 2)


@pytest.mark.slow
def test_watch__tells_time_by_role():
    with Watch({}) as watch:
        for name in ("one", "two", "one"):
            subprocess.run([sys.executable, "-c", BUSY, name], check=True)
    seconds = watch.cpu_by(lambda command: command.split()[-1])
    assert set(seconds) == {"one", "two"}
    assert 0.6 < seconds["two"] < seconds["one"]
    assert watch.cpu == pytest.approx(sum(seconds.values()))


@pytest.mark.slow
def test_files__but_for_what_a_run_takes(tmp_path):
    for name in ("kept/a.jsonl", "summary.json"):
        path = tmp_path / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    assert engines.files_of(tmp_path) == {"out/kept/a.jsonl": b"kept/a.jsonl"}
