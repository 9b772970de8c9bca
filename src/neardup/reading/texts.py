"""Texts and columns of documents, by id or number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.arrowcolumns import ColumnTypes, cast_column, one_array, plain_array
from neardup.files.documents import ReadingPass, as_text, choose_id_column, read_text_block
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import selected_blocks
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s

FoundT = TypeVar("FoundT")


# Texts of some documents, looked up by their ids in one pass over their files.


class FoundText(NamedTuple):
    """A document's text, source name and row."""

    text: str
    file: str
    row: int


def read_texts_by_id(
    sources: Sequence[Source],
    columns: ColumnNames,
    ids: Iterable[str | int],
    runner: Runner,
    *,
    skip_bad: bool = False,
) -> dict[str, FoundText]:
    """Read the texts of the documents that have these ids.

    One pass, which ends when all ids have been found. ``columns`` are those of the job that made
    the ids. Texts are by ids as strings, because numbers and equal strings are the same id; the
    first one of several documents with the same id counts.
    """
    columns = choose_id_column(columns, sources)

    def find(source: Source, block: RowBlock, wanted: pa.Array) -> list[tuple[str, FoundText]]:
        rows = read_text_block(source, block, columns, skip_bad=skip_bad)
        ids = as_text(rows.ids)
        here = np.flatnonzero(pc.is_in(ids, wanted).to_numpy(zero_copy_only=False))
        some = pa.array(here)
        return [
            (key, FoundText(text, source.name, row))
            for key, text, row in zip(
                ids.take(some).to_pylist(),
                rows.texts.take(some).to_pylist(),
                rows.numbers[here].tolist(),
                strict=True,
            )
        ]

    return _read_by_id(sources, ids, runner, find)


def read_rows_by_id(
    sources: Sequence[Source],
    columns: ColumnNames,
    ids: Iterable[str | int],
    runner: Runner,
    *,
    names: Sequence[str] | None = None,
    skip_bad: bool = False,
) -> dict[str, dict[str, Any]]:
    """Read columns by id, None for all, like ``read_texts_by_id`` without texts."""
    columns = choose_id_column(columns, sources)

    def find(source: Source, block: RowBlock, wanted: pa.Array) -> list[tuple[str, dict[str, Any]]]:
        are_bad = np.zeros(len(block), np.bool_)
        if skip_bad:
            _, are_bad = block.readable_columns(columns.names)
        good = np.flatnonzero(~are_bad)
        if columns.id is None:
            ids = as_text(source.default_ids(block.numbers[good]))
        else:
            table = block.some_columns([columns.id], ~are_bad)
            if columns.id not in table.column_names:
                return []
            ids = as_text(table[columns.id].combine_chunks())
        here = np.flatnonzero(pc.is_in(ids, wanted).to_numpy(zero_copy_only=False))
        if not len(here):
            return []
        select = np.zeros(len(block), np.bool_)
        select[good[here]] = True
        rows = block.to_table(select) if names is None else block.some_columns(names, select)
        return list(zip(ids.take(pa.array(here)).to_pylist(), rows.to_pylist(), strict=True))

    return _read_by_id(sources, ids, runner, find)


def _read_by_id(
    sources: Sequence[Source],
    ids: Iterable[str | int],
    runner: Runner,
    find: Callable[[Source, RowBlock, pa.Array], list[tuple[str, FoundT]]],
) -> dict[str, FoundT]:
    """Return each id's first row, reading until all are found."""
    wanted = pa.array(sorted({str(each) for each in ids}), pa.large_string())
    rows: dict[str, FoundT] = {}

    def find_wanted(source: Source, block: RowBlock) -> list[tuple[str, FoundT]]:
        return find(source, block, wanted)

    if len(wanted):
        for _, found in ReadingPass("texts", sources, runner).map(find_wanted, sources):
            for key, row in found:
                rows.setdefault(key, row)
            if len(rows) == len(wanted):
                break
    return rows


# Values of columns of some documents, looked up by document number.

# Share of the memory for values, and bytes per file of them in a work folder.
_SHARE = 0.1
_FILE_BYTES = 64_000_000


@dataclass(frozen=True)
class Values:
    """Columns of documents with ascending numbers, in batches of this order."""

    names: tuple[str, ...]
    documents: Int64s
    batches: SpilledBatches

    @cached_property
    def types(self) -> tuple[pa.DataType, ...]:
        """Common type of each column's values, else text."""
        found = ColumnTypes()
        for batch in self.batches:
            found.add(pa.Table.from_batches([batch]))
        types = dict(zip(found.schema.names, found.schema.types, strict=True))
        kinds = [types.get(name, pa.null()) for name in self.names]
        are_texts = [pa.types.is_null(kind) or pa.types.is_string(kind) for kind in kinds]
        return tuple(
            pa.large_string() if is_text else kind
            for kind, is_text in zip(kinds, are_texts, strict=True)
        )

    def take(self, documents: Int64s) -> list[pa.Array]:
        """Return columns of documents, in any order, possibly repeated."""
        places = np.searchsorted(self.documents, documents)
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        parts: list[list[pa.Array]] = [[] for _ in self.names]
        first = 0
        for batch in self.batches:
            start, stop = np.searchsorted(ordered, [first, first + len(batch)])
            if stop > start:
                rows = pa.array(ordered[start:stop] - first)
                for part, name, kind in zip(parts, self.names, self.types, strict=True):
                    part.append(_taken(batch, name, kind, rows))
            first += len(batch)
        back: Int64s = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return [
            pa.concat_arrays([pa.array([], kind), *part]).take(pa.array(back))
            for part, kind in zip(parts, self.types, strict=True)
        ]


def read_values(
    catalogue: Catalogue,
    is_wanted: Bools,
    names: Sequence[str],
    task: str,
    workspace: Workspace,
    runner: Runner,
) -> Values:
    """Read columns of wanted documents, in files if large.

    Only files with such a document are read. Dictionaries become their values, and nested values
    become JSON text.
    """
    batches = SpilledBatches(task, workspace, share=_SHARE, weight_of_file=_FILE_BYTES)
    if not names:
        # A collection that lacks all columns of the other one.
        return Values((), np.flatnonzero(is_wanted), batches)
    count = runner.counter("columns", int(is_wanted.sum()))

    def read(item: tuple[Source, RowBlock, slice]) -> pa.RecordBatch:
        _, block, rows = item
        select = is_wanted[rows]
        table = block.some_columns(names, select)
        if not table.num_columns:
            # A batch without columns has no rows either.
            return pa.record_batch({names[0]: pa.nulls(int(select.sum()))})
        return pa.record_batch(
            {name: _flat(plain_array(table.column(name))) for name in table.column_names}
        )

    n_done = sum(1 for _ in batches)
    with batches:
        for number, batch in enumerate(runner.map(read, selected_blocks(catalogue, is_wanted))):
            if number >= n_done:
                batches.append(batch, None, batch.nbytes)
            count(len(batch))
    return Values(tuple(names), np.flatnonzero(is_wanted), batches)


def _flat(values: pa.Array) -> pa.Array:
    if not pa.types.is_nested(values.type):
        return values
    return pa.array([_spelled(value) for value in values.to_pylist()], pa.large_string())


def _spelled(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _taken(batch: pa.RecordBatch, name: str, kind: pa.DataType, rows: pa.Array) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(len(rows), kind)
    column = pa.chunked_array([batch.column(name).take(rows)])
    return one_array(cast_column(column, pa.field(name, kind)))
