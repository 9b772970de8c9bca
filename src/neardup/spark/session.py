"""The session that does the work: what it needs, and how much it has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from neardup.errors import EngineError, InvalidParameterError, MissingExtraError
from neardup.spark.cluster import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PURPOSE = "engine spark"
_LEAST_JAVA = 17
_LEAST_SPARK = 4
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

# Of an executor's memory, which is that of its Java process, tasks of ours take as much again.
_SHARE = 0.5


def current_session() -> SparkSession:
    """Return the session of this process, or begin one, as ``spark-submit`` has set it up."""
    try:
        import pyspark
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("spark", _PURPOSE) from None
    if int(pyspark.__version__.partition(".")[0]) < _LEAST_SPARK:
        message = (
            f"{_PURPOSE} needs PySpark {_LEAST_SPARK} or later, this is {pyspark.__version__}; "
            "pip install 'neardup[spark]'"
        )
        raise EngineError(message)
    # With a gateway somebody else has started Java.
    has_java = "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ
    if SparkContext._active_spark_context is None and not has_java:  # noqa: SLF001
        check_java()
    return SparkSession.builder.appName("neardup").getOrCreate()


def check_java() -> None:
    """See that there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=os.path.join(home, "bin")) if home else None  # noqa: PTH118
    program = program or shutil.which("java")
    where = "install one, or have JAVA_HOME name its folder"
    if program is None:
        message = f"{_PURPOSE} needs Java {_LEAST_JAVA} or later, and finds none; {where}"
        raise EngineError(message)
    told = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if found is None or int(found[1]) < _LEAST_JAVA:
        version = found[1] if found else "of no known version"
        message = f"{_PURPOSE} needs Java {_LEAST_JAVA} or later, {program} is {version}; {where}"
        raise EngineError(message)


def cluster_of(session: Any) -> Cluster:
    """Return the executors of a session."""
    context = getattr(session, "_sc", None)
    if context is None:
        kind = f"{type(session).__module__}.{type(session).__qualname__}"
        message = (
            f"session must be a SparkSession with a SparkContext, got {kind}; Spark Connect has "
            "none, run the program on the cluster with spark-submit"
        )
        raise InvalidParameterError(message, "session")
    return Cluster(context, max(1, context.defaultParallelism), _task_bytes(context))


def _task_bytes(context: Any) -> int:
    """Return the memory that one task may take beside Java."""
    configuration = context.getConf()
    is_local = context.master.startswith("local") and "cluster" not in context.master
    cores = (
        context.defaultParallelism
        if is_local
        else int(configuration.get("spark.executor.cores", "1"))
    )
    own = configuration.get("spark.executor.pyspark.memory")
    if own:
        return _bytes_of(own) // cores
    name = "spark.driver.memory" if is_local else "spark.executor.memory"
    return int(_bytes_of(configuration.get(name, "1g")) * _SHARE) // cores


def _bytes_of(size: str) -> int:
    """Return the bytes of a size as Spark writes it; without a unit it is in MiB."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    return int(found[1]) * _UNITS[found[2] or "m"] if found else _UNITS["g"]
