"""What is done to an index of either kind: build, add, remove, compact, describe."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from neardup.files.inputs import passed_over
from neardup.files.rows import ColumnNames, Source
from neardup.reading.where import describe_filtered
from neardup.results import SkippedRow, describe_ids, describe_skipped
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.hints import hints_of_letters, hints_of_short

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.documents.reading import DeniedDocument
    from neardup.outputs.summary_records import Filtered, Hint


@dataclass(frozen=True, repr=False)
class AdditionResult:
    """What was added to an index.

    ``n_empty`` of the documents have no token, and are never found; nor are ``n_short``, which have
    fewer than the ``min_tokens`` of an index of passages (None for other kinds). ``skipped`` rows
    (file, row, reason) were left out; ``passed_over`` counts files of folders that were not read,
    by ending; ``filtered`` is the condition ``where``, if there was one, and how many rows did not
    meet it. ``hints`` are about the first documents of an index: where what it was made with does
    not suit them. ``denied`` lists the documents that were left out because they are, or by
    estimate are like, what was removed from the index and denied.
    """

    n_documents: int
    n_tokens: int
    n_empty: int
    n_short: int | None = None
    skipped: list[SkippedRow] = field(default_factory=list)
    passed_over: dict[str, int] = field(default_factory=dict)
    filtered: Filtered | None = None
    seconds: float = 0.0
    _columns: ColumnNames = field(default_factory=ColumnNames)
    hints: list[Hint] = field(default_factory=list)
    denied: list[DeniedDocument] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, skipped rows, files passed over and seconds, as plain values."""
        short = {} if self.n_short is None else {"short_documents": self.n_short}
        return {
            "documents": self.n_documents,
            "tokens": self.n_tokens,
            "empty_documents": self.n_empty,
            **short,
            **describe_ids(self._columns),
            **describe_skipped(self.skipped),
            **(self.filtered or {}),
            **({"denied": [each._asdict() for each in self.denied]} if self.denied else {}),
            "passed_over": self.passed_over,
            "hints": self.hints,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"AdditionResult({counted(self.n_documents, 'document')}: "
            f"{counted(self.n_tokens, 'token')})"
        )


@dataclass(frozen=True, repr=False)
class RemovalResult:
    """What was taken out of an index: ``n_removed`` documents, so that ``n_documents`` are left."""

    n_removed: int
    n_documents: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "removed": self.n_removed,
            "documents": self.n_documents,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return f"RemovalResult({_removed(self)} left)"


def _removed(result: RemovalResult) -> str:
    return f"{counted(result.n_removed, 'document')} removed: {result.n_documents:,}"


@dataclass(frozen=True, repr=False, kw_only=True)
class DocumentRemovalResult(RemovalResult):
    """What was taken out of an index of documents, with what had gone for that.

    ``orphans`` lists documents that are not in the index because they went for one that was taken
    out now: ``id``, ``kept_id`` and ``similarity``. Who wants them has to add them again, unless
    they were denied: ``n_denied`` documents, those of them that have tokens, are left out from now
    on.
    """

    orphans: pa.Table
    n_denied: int = 0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, orphans and seconds, as plain values."""
        return {
            **super().summary,
            "denied": self.n_denied,
            "orphans": self.orphans.to_pylist(),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"DocumentRemovalResult({_removed(self)} left, {counted(len(self.orphans), 'orphan')})"
        )


@dataclass(frozen=True, repr=False)
class CompactionResult:
    """What an index is once it was written anew.

    It has ``n_segments`` segments with ``n_documents`` documents, and takes ``n_freed_bytes`` bytes
    less than before.
    """

    n_segments: int
    n_documents: int
    n_freed_bytes: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "segments": self.n_segments,
            "documents": self.n_documents,
            "freed_bytes": self.n_freed_bytes,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"CompactionResult({counted(self.n_documents, 'document')}: "
            f"{counted(self.n_segments, 'segment')}, "
            f"{self.n_freed_bytes:,} bytes freed)"
        )


if TYPE_CHECKING:
    from neardup.index.changes import Addition, Compaction, Reading, Removal
    from neardup.index.handle import IndexHandle
    from neardup.index.index import Scheme

    Handle = IndexHandle[Any, Any, Any]


class _Changes(Protocol):
    """What a kind of index has for its changes: ``neardup.KIND.additions``."""

    def add_documents(
        self, handle: Handle, sources: Sequence[Source], how: Reading, runner: Runner
    ) -> Addition: ...

    def remove_documents(
        self, handle: Handle, ids: Iterable[str | int], runner: Runner, *, deny: bool
    ) -> Removal: ...

    def compact_index(self, handle: Handle, runner: Runner) -> Compaction: ...


def _changes_of(handle: Handle) -> _Changes:
    return cast(_Changes, import_module(f"neardup.{handle.kind}.additions"))


def build(
    handle: Handle,
    scheme: Scheme,
    sources: Sequence[Source],
    how: Reading,
    runner: Runner,
) -> AdditionResult:
    """Make an index of documents, where the handle will have it."""
    from neardup.index.store import create_index

    create_index(handle.folder, scheme.describe())
    result = add(handle, sources, how, runner)
    # Its folder may be moved to its place.
    handle.database.close()
    return result


def add(
    handle: Handle,
    sources: Sequence[Source],
    how: Reading,
    runner: Runner,
) -> AdditionResult:
    """Add documents, all of them or none."""
    start = time.perf_counter()
    with runner.stage("read") as note:
        added = _changes_of(handle).add_documents(handle, sources, how, runner)
        note(documents=added.n_documents, tokens=added.n_tokens)
    return AdditionResult(
        added.n_documents,
        added.n_tokens,
        added.n_empty,
        added.n_short if handle.kind == "passages" else None,
        added.skipped,
        passed_over(sources),
        describe_filtered(sources),
        time.perf_counter() - start,
        added.columns,
        _hints(handle.kind, added, sources) if added.was_empty else [],
        added.denied,
    )


def _hints(kind: str, added: Addition, sources: Sequence[Source]) -> list[Hint]:
    """Make the hints about the first documents of an index."""
    shingles = added.scheme.shingles
    if kind == "documents":
        return hints_of_short(added.n_documents, added.n_short, shingles, is_of_index=True)
    return hints_of_letters(shingles, sources, added.columns, is_of_index=True)


def remove(
    handle: Handle, ids: Iterable[str | int], runner: Runner, *, deny: bool = False
) -> RemovalResult:
    """Take documents out, all of them or none; of documents, with the orphans.

    ``deny``: they are left out where they come again.
    """
    start = time.perf_counter()
    removal = _changes_of(handle).remove_documents(handle, ids, runner, deny=deny)
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
    handle.database.check()
    described: dict[str, Any] = view.describe(handle.folder)
    return described
