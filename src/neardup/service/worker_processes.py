"""Worker processes for heavy operations, killed at the deadline.

Kernels compare repetitive texts for minutes, and a thread cannot be ended. anyio, which comes with
Starlette, has a pool of processes that are killed when the caller is cancelled.
"""

from __future__ import annotations

import os
import resource
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.ipc
from anyio import BrokenWorkerProcess, CapacityLimiter, to_process

from neardup.errors import InvalidParameterError, NeardupError, NeardupHint
from neardup.jobs.align import align
from neardup.jobs.compare import compare
from neardup.jobs.index.passage_index import PassageIndex
from neardup.lazy import hide_pandas
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.service import messages as m
from neardup.service.requests import Problem
from neardup.service.served_index import WorkError, open_once

ARROW = "application/vnd.apache.arrow.stream"
MEMORY_BYTES = 1 << 29
"""Memory that an operation may use beside the memory of its idle process."""
_SECONDS_BETWEEN_LOOKS = 1.0


async def run_in_process(
    work: Callable[..., bytes], *arguments: Any, limiter: CapacityLimiter
) -> bytes:
    """Return the result of a function from a worker process.

    If the caller is cancelled, the process is killed. Its temporary files are deleted either way.
    """
    with tempfile.TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder:
        task = partial(_call, os.getpid(), folder, work, arguments)
        try:
            return await to_process.run_sync(task, cancellable=True, limiter=limiter)
        except MemoryError:
            message = (
                f"the operation needs more than {MEMORY_BYTES >> 20} MB of memory; send less at a "
                "time, or ask for fewer results"
            )
            raise Problem(413, message, "InvalidInputError") from None
        except BrokenWorkerProcess as error:
            raise WorkError("BrokenWorkerProcess", []) from error


def _call(
    parent: int, folder: str, work: Callable[..., bytes], arguments: tuple[Any, ...]
) -> bytes:
    _prepare(parent)
    tempfile.tempdir = folder
    _limit_memory()
    try:
        return work(*arguments)
    except NeardupError:
        raise
    except MemoryError:
        # An index may be in the middle of a change of its caches.
        open_once.cache_clear()
        raise MemoryError from None
    except Exception as error:
        raise WorkError.of(error) from None


@cache
def _prepare(parent: int) -> None:
    """Ignore terminal signals, and end with the parent."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    warnings.simplefilter("ignore", NeardupHint)
    hide_pandas()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent ends, even inside kernels."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _limit_memory() -> None:
    """Limit memory beyond the present amount, without mapped files."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    used = int(status.partition("VmData:")[2].split()[0]) * 1024
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY_BYTES, hard))


def prepare(folder: Path, tokenizer: Any) -> bytes:
    """Load the code and the index that later calls need."""
    open_once(folder, tokenizer)
    return b""


_ONE_THREAD = RunOptions(workers=1)


def search(asked: m.Search, folder: Path, tokenizer: Any, media: str) -> bytes:
    """Return the answer to a search of many texts."""
    index: Any = open_once(folder, tokenizer)
    options = _given(asked, "queries", "limit")
    of_passages = {"recall", "with_text"}
    of_documents = {"with_columns"}
    unknown, kind = of_passages, "documents"
    if isinstance(index, PassageIndex):
        unknown, kind = of_documents, "passages"
    if wrong := sorted(unknown & options.keys()):
        message = f"{wrong[0]} has no effect in an index of {kind}; leave it out"
        raise InvalidParameterError(message)
    rows, read = _rows(asked.queries)
    result = index.search(rows, **options, read=read, run=_ONE_THREAD)
    return _answer(result.table, result.summary, asked.limit, media)


def align_texts(asked: m.Alignment, folder: Path, tokenizer: Any, media: str) -> bytes:
    """Return the passages that texts share with an index."""
    options = _given(asked, "documents", "limit")
    rows, read = _rows(asked.documents)
    index = open_once(folder, tokenizer)
    result = align(rows, index, **options, read=read, run=_ONE_THREAD)
    return _answer(result.table, result.summary, asked.limit, media)


def compare_texts(asked: m.Comparison) -> bytes:
    """Compare two texts, as ``neardup compare --json`` does."""
    options = _given(asked, "a", "b")
    text = {name: options.pop(name) for name in TextOptions.known if name in options}
    result = compare(asked.a, asked.b, **options, text=TextOptions(**text))
    return msgspec.json.encode(result.to_dict())


def _given(asked: msgspec.Struct, *without: str) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    fields = {field.name: field.default for field in msgspec.structs.fields(asked)}
    return {
        name: getattr(asked, name)
        for name, default in fields.items()
        if name not in without and getattr(asked, name) != default
    }


def _rows(texts: list[str | m.NamedText]) -> tuple[list[Any], ReadOptions | None]:
    """Return texts with ids, and their plan of reading."""
    if all(isinstance(text, str) for text in texts):
        return texts, None
    rows = [
        {"id": number, "text": text} if isinstance(text, str) else msgspec.to_builtins(text)
        for number, text in enumerate(texts)
    ]
    return rows, ReadOptions(id_column="id")


def _answer(table: pa.Table, summary: Mapping[str, Any], limit: int | None, media: str) -> bytes:
    n_rows, rows = len(table), table.slice(0, limit)
    if media != ARROW:
        answer = {"n_rows": n_rows, "rows": rows.to_pylist(), "summary": summary}
        return msgspec.json.encode(answer)
    described = msgspec.json.encode({"n_rows": n_rows, "summary": summary})
    rows = rows.replace_schema_metadata({"neardup": described})
    sink = pa.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    found: bytes = sink.getvalue().to_pybytes()
    return found
