"""The Spark session of a job: requirements, slots and memory."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from neardup.engine.spark.cluster import Cluster
from neardup.errors import EngineError, InvalidParameterError, MissingExtraError
from neardup.options.groups import ReadingOptions
from neardup.version import pip_install

if TYPE_CHECKING:
    from pyspark import SparkContext

    from neardup.engine.spark.work import SharedWork

# Documentation of the session argument in public functions.
SESSION = "A ``SparkSession``; its executors need the same version of neardup."
SHARED_FILES = (
    "A path, glob or URL as a string, or a list of ``pathlib.Path``; files that all executors "
    "reach under the same paths."
)
ON_DRIVER = {
    "tokenizer": {
        "python": "As for the job in threads; a function has to be one that Spark can send to its "
        "executors."
    },
    "memory": {
        "python": "Most memory that the driver uses for what it keeps of documents, in bytes or as "
        "a size such as ``4GB``; None is 60 % of what is free. What does not fit goes to files."
    },
    "work": {
        "python": "Folder for these files, on the driver; None is where the system has temporary "
        "files."
    },
}


def check_reads_text(options: ReadingOptions) -> None:
    """Raise if documents are bytes instead of text."""
    if options.reads_bytes:
        message = (
            "input_format bytes goes with engine threads; choose that, for executors exchange texts"
        )
        raise InvalidParameterError(message, "input_format", "engine")


_PURPOSE = "engine spark"
_LEAST_JAVA = 17
_LEAST_SPARK = 4
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

_NO_CONNECT = "Spark Connect has none, run the program on the cluster with spark-submit"

# Share of an executor's Java memory that our tasks may use in addition to it.
_SHARE = 0.5

# Options of a Java process that starts here, before the user's options. Java only passes bytes on:
# its second compiler would take half the time of a run of some GB, and save little.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"


def check_pyspark() -> None:
    """Check that a supported PySpark is installed."""
    try:
        import pyspark
    except ImportError:
        raise MissingExtraError("spark", _PURPOSE) from None
    if int(pyspark.__version__.partition(".")[0]) < _LEAST_SPARK:
        message = (
            f"{_PURPOSE} needs PySpark {_LEAST_SPARK} or later, this is {pyspark.__version__}; "
            f"{pip_install('spark')}"
        )
        raise EngineError(message)


def current_cluster(work: SharedWork | None = None) -> Cluster:
    """Return the executors of this process, or start them as configured by ``spark-submit``.

    ``work`` is the folder or URL for their results, if any.
    """
    check_pyspark()
    from pyspark import SparkConf, SparkContext

    if "SPARK_REMOTE" in os.environ:
        message = f"{_PURPOSE} needs a SparkContext, and SPARK_REMOTE is set; {_NO_CONNECT}"
        raise EngineError(message)
    configuration = SparkConf().setAppName("neardup")
    # With a gateway, another program has started Java.
    if SparkContext._active_spark_context is None and "PYSPARK_GATEWAY_PORT" not in os.environ:  # noqa: SLF001
        check_java()
        for process in ("driver", "executor"):
            configuration.set(f"spark.{process}.defaultJavaOptions", _JAVA_OPTIONS)
    is_new = SparkContext._active_spark_context is None  # noqa: SLF001
    # A session would load all of Spark's table support.
    context = SparkContext.getOrCreate(configuration)
    if is_new:
        atexit.register(_end, context)
        logging.getLogger().addFilter(_is_not_of_interrupt)
    return _cluster(context).keeping(work)


def _is_not_of_interrupt(record: logging.LogRecord) -> bool:
    """Return whether a log record is not the trace that Py4J logs after Ctrl-C."""
    return os.path.basename(os.path.dirname(record.pathname)) != "py4j"  # noqa: PTH119, PTH120


def _end(context: SparkContext) -> None:
    """Stop our Spark context before Java ends, which would log pages of lost connections."""
    with contextlib.suppress(Exception):
        context.setLogLevel("OFF")
        context.stop()


def check_java() -> None:
    """Check that a Java version is installed that Spark supports."""
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
        message = f"session must be a SparkSession with a SparkContext, got {kind}; {_NO_CONNECT}"
        raise InvalidParameterError(message, "session")
    return _cluster(context)


def _cluster(context: SparkContext) -> Cluster:
    # On this machine, PySpark would take the first python3 on the path.
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    return Cluster(context, max(1, context.defaultParallelism), _task_bytes(context))


def _task_bytes(context: Any) -> int:
    """Return the memory that one task may take in addition to Java."""
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
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    return int(found[1]) * _UNITS[found[2] or "m"] if found else _UNITS["g"]
