"""What is missing for Spark is named before any work; memory is read as Spark writes it."""

from __future__ import annotations

import re
import stat
import sys
from types import SimpleNamespace

import pytest

from neardup.engine.spark.cluster import check_java, cluster_of, current_cluster
from neardup.errors import EngineError, InvalidParameterError, MissingExtraError
from neardup.version import pip_install
from tests.each import each_of


def make_java(folder, says: str):
    """Write a program that says its version on standard error, as Java does."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin/java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        ('openjdk version "17.0.15" 2025-04-15', None),
        ('openjdk version "21" 2023-09-19', None),
        ('openjdk version "11.0.2" 2019-01-15', "11"),
        ('java version "1.8.0_202"', "8"),
        ("nonsense", "none"),
    ],
)
def test_check_java(tmp_path, monkeypatch, says, problem):
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "jdk", says)))
    if problem is None:
        check_java()
        return
    with pytest.raises(EngineError, match=rf"Java 17\b.* {problem}\b.*JAVA_HOME"):
        check_java()


def test_check_java__none(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"Java 17\b.*\bnone\b"):
        check_java()


def test_current_cluster__without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=re.escape(pip_install("spark"))):
        current_cluster()


def test_current_cluster__spark_connect(monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(EngineError, match="SPARK_REMOTE"):
        current_cluster()


@pytest.mark.parametrize("found", [None, "local", object()])
def test_cluster_of__no_session(found):
    with pytest.raises(InvalidParameterError, match="SparkSession") as caught:
        cluster_of(found)
    assert caught.value.parameters == ("session",)


@each_of(
    ("master", "settings", "expected"),
    [
        ("yarn", {}, 1 << 29),
        ("yarn", {"spark.executor.memory": "8g", "spark.executor.cores": "4"}, 1 << 30),
        ("yarn", {"spark.executor.pyspark.memory": "3g", "spark.executor.cores": "3"}, 1 << 30),
        ("yarn", {"spark.executor.memory": "2048"}, 1 << 30),
        ("local-cluster[2,1,1024]", {"spark.executor.memory": "1024m"}, 1 << 29),
        ("local[4]", {"spark.driver.memory": "4g"}, 1 << 29),
    ],
)
def test_cluster_of__memory_of_a_task(master, settings, expected):
    context = SimpleNamespace(
        master=master, defaultParallelism=4, getConf=lambda: SimpleNamespace(get=settings.get)
    )
    cluster = cluster_of(SimpleNamespace(_sc=context))
    assert (cluster.slots, cluster.task_bytes) == (4, expected)
