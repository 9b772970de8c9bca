"""The surviving documents of a collection, as results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engine.engine import Change, Engine
from neardup.engine.threads import ThreadEngine
from neardup.errors import InvalidParameterError
from neardup.files.destinations import check_apart, new_output, target_of
from neardup.files.documents import as_text, common_id_type
from neardup.files.inputs import origins_of
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.writers import check_conversion
from neardup.options.choices import OutputFormat
from neardup.options.groups import FolderOptions, ShingleOptions
from neardup.outputs.output_tables import write_parquet, write_summary
from neardup.reading.catalogue import Catalogue, IdLookup
from neardup.reading.passes import read_kept, sides_of
from neardup.reading.sign import ReadingPlan, list_block
from neardup.results import Result
from neardup.runs.progress import Progress
from neardup.runs.runner import Runner, peak_memory_bytes
from neardup.runs.work import IN_MEMORY
from neardup.tables import Assignment, Bools, Int64s
from neardup.text.shingles import shingle_scheme


def list_documents(
    engine: Engine, sources: Sequence[Source], columns: ColumnNames, *, skip_bad: bool
) -> Catalogue:
    """List documents and ids."""
    # Texts are not split into tokens.
    scheme = shingle_scheme(ShingleOptions())
    plan = ReadingPlan(columns, scheme, skip_bad=skip_bad)
    return engine.read([(sources, plan)], list_block).catalogues[0]


def as_list_of_ids(ids: Iterable[str | int]) -> list[str | int]:
    """Return ids as a list."""
    if isinstance(ids, str | int):
        message = f"ids must be a list of ids, got {ids!r}; write [{ids!r}]"
        raise InvalidParameterError(message)
    if not isinstance(ids, Iterable):
        message = f"ids must be a list of ids, got {type(ids).__name__}"
        raise InvalidParameterError(message)
    return list(ids)


# Rows of a table that are made at a time.
ROWS_AT_ONCE = 1 << 16


# Columns of ``skipped`` and ``skipped.parquet``.
_SKIPPED_COLUMNS = ("file", "row", "reason")


class Selection(Result):
    """Kept and removed documents of a collection, without bad rows.

    Documents may have been compared with an ``other`` collection. As an Arrow stream it is the rows
    that stay.
    """

    def __init__(
        self,
        documents: Catalogue,
        stays: Bools,
        summary: dict[str, Any],
        other: Catalogue | None = None,
    ) -> None:
        self._documents = documents
        self._other = Catalogue.of_none() if other is None else other
        self._stays = stays
        self.summary = summary
        self._change: Change | None = None

    # The engine that writes the rows; without one, as for copies, threads of this process do.
    _engine: Engine | None = None

    def __getstate__(self) -> dict[str, Any]:
        change = None if self._change is None else replace(self._change, rows=None)
        return vars(self) | {"_engine": None, "_change": change}

    @property
    @abstractmethod
    def removed(self) -> pa.Table:
        """One row per removed document."""

    @abstractmethod
    def _tables(self) -> dict[str, pa.RecordBatchReader]:
        """Return tables by file name, with rows made on reading."""

    def _sides(self) -> dict[str, Bools]:
        return sides_of(self._documents, self._stays)

    @cached_property
    def _own_ids(self) -> IdLookup:
        return IdLookup(self._documents)

    def _changed(self, block: RowBlock, rows: slice) -> RowBlock:
        change = self._change
        return block if change is None else change.apply(change.gathered, block, rows)

    @property
    def skipped(self) -> pa.Table:
        """Bad rows skipped by ``on_error="skip"``: file, row, reason."""
        types = pa.string(), pa.int64(), pa.string()
        columns = list(zip(*self._documents.skipped, strict=True)) or [()] * len(types)
        arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
        return pa.table(arrays, names=_SKIPPED_COLUMNS)

    @cached_property
    def kept(self) -> pa.Table:
        """Surviving rows in input order, read again from the input."""
        return read_kept(self._documents, self._stays, self._changed)

    @property
    def table(self) -> pa.Table:
        """The rows that stay."""
        return self.kept

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        format: OutputFormat = "same",  # noqa: A002 - the name of the option everywhere
        progress: Progress | None = None,
    ) -> None:
        """Write kept and removed rows, tables and the summary.

        Skipped bad rows are copied unchanged, whatever the format, to ``skipped/``, and are listed
        in ``skipped.parquet``. A local folder appears when it is complete, or not at all; one at a
        URL is complete when ``_SUCCESS`` is in it.

        Parameters
        ----------
        path
            A folder, or the URL of one.
        overwrite
            Replace the folder if it exists.
        format
            ``same``: rows are copied unchanged. ``jsonl`` or ``parquet``: converted. ``none``: only
            tables and summary, no rows; ``drop`` can remove the documents later, but ``explain``
            and ``report`` need the rows.
        progress
            As for ``deduplicate``; the stage is ``write``, and its work is rows.

        Raises
        ------
        OutputExistsError
            If the folder exists and ``overwrite`` is not set, or if it holds an input.
        WriteError
            If writing fails; partial output is removed as far as possible.
        """
        FolderOptions.known["format"].checked(format)
        has_rows = format != "none"
        if format in ("jsonl", "parquet"):
            check_conversion(self._documents.sources, format)
        folder = target_of(path)
        check_apart(folder, origins_of(self._documents.sources, self._other.sources))
        with (
            Runner(self.summary["workers"], progress) as runner,
            new_output(folder, overwrite=overwrite) as new,
        ):
            digests: dict[str, str] = {}

            def write_others() -> None:
                tables = self._tables()
                if self._documents.skips_bad:
                    tables["skipped.parquet"] = self.skipped.to_reader()
                for name, rows in tables.items():
                    digests[name] = write_parquet(rows, rows.schema, new / name)

            with runner.stage("write") as note:
                if has_rows:
                    engine = self._engine or ThreadEngine(runner, IN_MEMORY)
                    sides, change = self._sides(), self._change
                    engine.write(self._documents, sides, new, format, runner, write_others, change)
                else:
                    write_others()
                note(rows=len(self._stays) if has_rows else 0, folder=folder)
            complete_summary(self.summary, runner)
            self.summary["output_format"] = format if has_rows else None
            write_summary(new, self.summary, digests)


# Access for other packages, not for users.


def collections_of(result: Selection) -> tuple[Catalogue, Catalogue]:
    """Return the documents of the input and the reference collection."""
    return result._documents, result._other  # noqa: SLF001 - of this module


def tables_of(result: Selection) -> dict[str, pa.RecordBatchReader]:
    """Return the tables by file name, with rows made on reading."""
    return result._tables()  # noqa: SLF001 - of this module


def write_rows_by(result: Selection, engine: Engine) -> None:
    """Let an engine write a result's rows."""
    result._engine = engine  # noqa: SLF001 - of this module


def complete_summary(summary: dict[str, Any], runner: Runner) -> None:
    """Add the seconds of stages, and update peak memory."""
    summary["seconds"] = {**summary.get("seconds", {}), **runner.seconds}
    summary["peak_memory_bytes"] = peak_memory_bytes()


def in_batches(
    rows_of: Callable[[Int64s], pa.Table], documents: Int64s | Bools, *, wanted: bool = True
) -> pa.RecordBatchReader:
    """Return wanted documents as a stream of batches."""

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(documents), ROWS_AT_ONCE):
            some = documents[start : start + ROWS_AT_ONCE]
            if some.dtype == bool:
                some = start + np.flatnonzero(some == wanted)
            numbers = some.astype(np.int64, copy=False)
            yield from rows_of(numbers).to_batches()

    return pa.RecordBatchReader.from_batches(rows_of(np.empty(0, np.int64)).schema, batches())


class KeeperIds:
    """Ids of keepers, of either collection.

    Keepers are numbered with the documents of ``other`` first. An id of the other collection that
    the first one also has gets the prefix ``against/``, unless ``shares_ids``: equal ids in both
    mean the same document. Ids are text if one has the prefix, or if types differ.
    """

    def __init__(
        self, own: Catalogue, other: Catalogue, keepers: Int64s, *, shares_ids: bool = False
    ) -> None:
        self._numbers = np.unique(keepers[keepers >= 0])
        n_of_other = int(np.searchsorted(self._numbers, len(other)))
        own_ids = IdLookup(own).take(self._numbers[n_of_other:] - len(other))
        other_ids = IdLookup(other).take(self._numbers[:n_of_other])
        types = [each.id_type for each in (own, other) if len(each)]
        prefixed = None if shares_ids else _with_prefix(other_ids, own)
        if prefixed is not None:
            other_ids, types = prefixed, [pa.large_string()]
        self.type = common_id_type(types)
        self._ids = pa.concat_arrays([other_ids.cast(self.type), own_ids.cast(self.type)])

    def take(self, keepers: Int64s) -> pa.Array:
        """Return the ids of keepers."""
        return self._ids.take(pa.array(np.searchsorted(self._numbers, keepers)))


def _with_prefix(ids: pa.Array, own: Catalogue) -> pa.Array | None:
    """Return prefixed ids, None if no prefix is needed."""
    names = as_text(ids)
    taken = [names.slice(0, 0)]
    if len(names):
        taken += (
            known.filter(pc.is_in(known, value_set=names))
            for _, part in own.id_slices()
            for known in [as_text(part)]
        )
    is_taken = pc.is_in(names, value_set=pa.concat_arrays(taken))
    if not pc.any(is_taken).as_py():
        return None
    prefix, nothing = pa.array(["against/", ""], pa.large_string())
    prefixed = pc.binary_join_element_wise(prefix, names, nothing)
    return pc.if_else(is_taken, prefixed, names)


# Files that a summary lists individually; the others are summed.
_LISTED = 100


@dataclass(frozen=True)
class FileRanges:
    """Files of consecutive documents, each beginning at its ``starts``.

    ``starts`` has one more item, the end of the last file. Documents before the first have no file.
    """

    names: Sequence[str]
    starts: Int64s

    @classmethod
    def of(cls, documents: Catalogue) -> FileRanges:
        """Return a collection's files, none for documents of an index."""
        sources = documents.sources
        if not sources or not all(source.has_lasting_rows for source in sources):
            return cls([], np.array([len(documents)], np.int64))
        return cls([source.name for source in sources], documents.source_starts)

    def count(self, mask: Bools) -> Int64s:
        """Count marked documents per file, then documents without file."""
        counts = [int(np.count_nonzero(mask[a:b])) for a, b in pairwise(self.starts.tolist())]
        return np.array([*counts, np.count_nonzero(mask[: self.starts[0]])], np.int64)


def count_documents(
    files: FileRanges,
    is_document: Bools,
    stays: Bools,
    removed_as: Mapping[str, Bools] | None = None,
) -> dict[str, Any]:
    """Count the input, kept and removed documents per file.

    ``removed_as`` are masks for further counts by name. Returns the ``counts`` of files, of more
    than a hundred those from which most went, and the sums of the ``others``, None without others.
    """
    counts = {
        "documents_in": files.count(is_document),
        "documents_kept": files.count(is_document & stays),
        "documents_removed": files.count(~stays),
    }
    counts |= {name: files.count(is_such) for name, is_such in (removed_as or {}).items()}
    is_there = counts["documents_in"] > 0
    is_there[:-1] = True
    by_importance = np.lexsort((-counts["documents_in"], -counts["documents_removed"], ~is_there))
    there = by_importance[: int(is_there.sum())]
    listed, rest = np.sort(there[:_LISTED]).tolist(), there[_LISTED:]
    names = [*files.names, None]
    sums = {name: int(each[rest].sum()) for name, each in counts.items()}
    return {
        "counts": [
            {"file": names[i]} | {name: int(each[i]) for name, each in counts.items()}
            for i in listed
        ],
        "others": {"groups": len(rest)} | sums if len(rest) else None,
    }


def count_by_file(own: Catalogue, other: Catalogue, assignment: Assignment) -> dict[str, Any]:
    """Count documents by file, with ``other`` numbered first."""
    for_other = assignment.keepers < len(other)
    removed_as = {
        "removed_for_against": for_other & ~assignment.stays,
        "exact_copies": assignment.exact,
    }
    return count_documents(FileRanges.of(own), own.is_document, assignment.stays, removed_as)
