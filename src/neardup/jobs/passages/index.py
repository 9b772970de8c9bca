"""What is done to an index of passages: build, add, remove, compact, describe."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.indexes.index import create_index
from neardup.jobs.index_results import AdditionResult, CompactionResult, RemovalResult
from neardup.passages.additions import add_documents, compact_index, remove_documents
from neardup.passages.documents import ReadOptions
from neardup.passages.index import PassageHandle
from neardup.passages.scheme import PassageScheme
from neardup.runtime.runner import Runner
from neardup.text.tokenizers import TokenFunction


def build(
    folder: Path,
    scheme: PassageScheme,
    sources: Sequence[Source],
    read: ReadOptions,
    runner: Runner,
    *,
    tokenizer: str | Path | TokenFunction | None = None,
) -> AdditionResult:
    """Make an index of documents; ``tokenizer`` is the one of the scheme, if that is a file."""
    create_index(folder, scheme)
    return add(PassageHandle(folder, tokenizer), sources, read, runner)


def add(
    handle: PassageHandle, sources: Sequence[Source], read: ReadOptions, runner: Runner
) -> AdditionResult:
    """Add documents, all of them or none."""
    start = time.perf_counter()
    with runner.stage("read") as note:
        addition = add_documents(handle, sources, read, runner)
        note(documents=addition.n_documents, tokens=addition.n_tokens)
    seconds = time.perf_counter() - start
    return AdditionResult(**vars(addition), passed_over=passed_over(sources), seconds=seconds)


def remove(handle: PassageHandle, ids: Iterable[str | int], runner: Runner) -> RemovalResult:
    """Take documents out, all of them or none."""
    start = time.perf_counter()
    removal = remove_documents(handle, ids, runner)
    return RemovalResult(**vars(removal), seconds=time.perf_counter() - start)


def compact(handle: PassageHandle, runner: Runner) -> CompactionResult:
    """Write an index anew without what was removed."""
    start = time.perf_counter()
    with runner.stage("compact") as note:
        compaction = compact_index(handle, runner)
        note(segments=compaction.n_segments)
    return CompactionResult(**vars(compaction), seconds=time.perf_counter() - start)


def describe(handle: PassageHandle, runner: Runner) -> dict[str, Any]:
    """Return what an index holds, in plain values."""
    return handle.latest(runner).describe(handle.folder)
