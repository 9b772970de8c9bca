"""What is done to an index of documents: build, add, remove, compact, describe."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from neardup.documents.additions import add_documents, compact_index, remove_documents
from neardup.documents.index import DocumentHandle
from neardup.documents.scheme import DocumentScheme
from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.indexes.index import create_index
from neardup.jobs.document_options import ReadingOptions
from neardup.jobs.documents.result import DocumentRemovalResult
from neardup.jobs.index_results import AdditionResult, CompactionResult
from neardup.runtime.runner import Runner
from neardup.text.tokenizers import TokenFunction


def build(
    folder: Path,
    scheme: DocumentScheme,
    sources: Sequence[Source],
    reading: ReadingOptions,
    runner: Runner,
    *,
    tokenizer: str | Path | TokenFunction | None = None,
) -> AdditionResult:
    """Make an index of documents; ``tokenizer`` is the one of the scheme, if that is a file."""
    create_index(folder, scheme)
    return add(DocumentHandle(folder, tokenizer), sources, reading, runner)


def add(
    handle: DocumentHandle, sources: Sequence[Source], reading: ReadingOptions, runner: Runner
) -> AdditionResult:
    """Add documents, all of them or none."""
    start = time.perf_counter()
    with runner.stage("read") as note:
        addition = add_documents(handle, sources, reading, runner)
        note(documents=addition.n_documents, tokens=addition.n_tokens)
    seconds = time.perf_counter() - start
    return AdditionResult(**vars(addition), passed_over=passed_over(sources), seconds=seconds)


def remove(
    handle: DocumentHandle, ids: Iterable[str | int], runner: Runner
) -> DocumentRemovalResult:
    """Take documents out, all of them or none."""
    start = time.perf_counter()
    removal = remove_documents(handle, ids, runner)
    return DocumentRemovalResult(**vars(removal), seconds=time.perf_counter() - start)


def compact(handle: DocumentHandle, runner: Runner) -> CompactionResult:
    """Write an index anew as one segment, without what was removed."""
    start = time.perf_counter()
    with runner.stage("compact") as note:
        compaction = compact_index(handle, runner)
        note(segments=compaction.n_segments)
    return CompactionResult(**vars(compaction), seconds=time.perf_counter() - start)


def describe(handle: DocumentHandle, runner: Runner) -> dict[str, Any]:
    """Return what an index holds, in plain values; every byte of it is checked."""
    view = handle.latest(runner)
    view.check_all(runner)
    return view.describe(handle.folder)
