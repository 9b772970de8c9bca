"""What is done to an index of either kind: build, add, remove, compact, describe."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from neardup.files.inputs import passed_over
from neardup.files.rows import Source
from neardup.jobs.index_results import (
    AdditionResult,
    CompactionResult,
    DocumentRemovalResult,
    RemovalResult,
)
from neardup.runs.runner import Runner

if TYPE_CHECKING:
    from neardup.indexes.changes import Addition, Compaction, Reading, Removal
    from neardup.indexes.index import IndexHandle, Scheme

    Handle = IndexHandle[Any, Any, Any]


class _Changes(Protocol):
    """What a kind of index has for its changes: ``neardup.KIND.additions``."""

    def add_documents(
        self, handle: Handle, sources: Sequence[Source], how: Reading, runner: Runner
    ) -> Addition: ...

    def remove_documents(
        self, handle: Handle, ids: Iterable[str | int], runner: Runner
    ) -> Removal: ...

    def compact_index(self, handle: Handle, runner: Runner) -> Compaction: ...


def _changes_of(handle: Handle) -> _Changes:
    return cast(_Changes, import_module(f"neardup.{handle.kind}.additions"))


def build(
    handle: Handle, scheme: Scheme, sources: Sequence[Source], how: Reading, runner: Runner
) -> AdditionResult:
    """Make an index of documents, where the handle will have it."""
    from neardup.indexes.index import create_index

    create_index(handle.folder, scheme)
    return add(handle, sources, how, runner)


def add(handle: Handle, sources: Sequence[Source], how: Reading, runner: Runner) -> AdditionResult:
    """Add documents, all of them or none."""
    start = time.perf_counter()
    with runner.stage("read") as note:
        addition = _changes_of(handle).add_documents(handle, sources, how, runner)
        note(documents=addition.n_documents, tokens=addition.n_tokens)
    seconds = time.perf_counter() - start
    return AdditionResult(**vars(addition), passed_over=passed_over(sources), seconds=seconds)


def remove(handle: Handle, ids: Iterable[str | int], runner: Runner) -> RemovalResult:
    """Take documents out, all of them or none; of documents, with the orphans."""
    start = time.perf_counter()
    removal = _changes_of(handle).remove_documents(handle, ids, runner)
    result = DocumentRemovalResult if handle.kind == "documents" else RemovalResult
    return result(**vars(removal), seconds=time.perf_counter() - start)


def compact(handle: Handle, runner: Runner) -> CompactionResult:
    """Write an index anew without what was removed."""
    start = time.perf_counter()
    with runner.stage("compact") as note:
        compaction = _changes_of(handle).compact_index(handle, runner)
        note(segments=compaction.n_segments)
    return CompactionResult(**vars(compaction), seconds=time.perf_counter() - start)


def describe(handle: Handle, runner: Runner) -> dict[str, Any]:
    """Return what an index holds, in plain values; every byte of it is checked."""
    view = handle.latest(runner)
    view.check_all(runner)
    described: dict[str, Any] = view.describe(handle.folder)
    return described
