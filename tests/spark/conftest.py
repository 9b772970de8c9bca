"""A Spark of its own for the tests: two executors with a core each, in processes of their own."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neardup.errors import NeardupError
from tests.spark.collection import make_collection

if TYPE_CHECKING:
    from tests.spark.in_process import InProcess

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here need Spark."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.spark)
            # Of PySpark itself, and of what it leaves open when it ends.
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with Spark in it, in which executors may write."""
    pyspark = pytest.importorskip("pyspark", reason="needs the extra spark")
    from neardup.engine.spark.cluster import check_java

    try:
        check_java()
    except NeardupError as error:
        pytest.skip(str(error))
    home = tmp_path_factory.mktemp("spark")
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    return home


@pytest.fixture(scope="session")
def session(spark_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give a session of two executors that have 1 GB each."""
    # Executors load our functions by name.
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    os.environ |= {
        "SPARK_HOME": str(spark_home),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(tmp_path_factory.mktemp("local")),
            "spark.task.maxFailures": "8",
            "spark.stage.maxConsecutiveAttempts": "8",
            "spark.deploy.maxExecutorRetries": "1000",
            "spark.excludeOnFailure.enabled": "false",
        }
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """Give a session that works in this process, for tests that need no Spark of their own."""
    pytest.importorskip("pyspark", reason="needs the extra spark")
    from neardup.engine.spark import cluster
    from tests.spark.in_process import InProcess

    monkeypatch.setattr(cluster.gc, "freeze", lambda: None)
    return InProcess()


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of files of several formats with copies and near copies among them."""
    return make_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even small files into several tasks of several blocks."""
    cut_small(monkeypatch, 60_000, 20_000)


def cut_small(monkeypatch: pytest.MonkeyPatch, of_task: int, of_block: int) -> None:
    """Cut files into tasks and blocks of so many bytes."""
    from neardup.engine.spark import cluster

    found = cluster._for_others

    def with_small_blocks(source: Any) -> Any:
        copied = found(source)
        for name in ("block_bytes", "_block_bytes"):
            if hasattr(copied, name):
                setattr(copied, name, of_block)
        return copied

    monkeypatch.setattr(cluster, "_LEAST_BYTES", of_task)
    monkeypatch.setattr(cluster, "_for_others", with_small_blocks)
