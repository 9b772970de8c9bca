"""Values of columns of some documents, read again, and looked up by document number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.arrowcolumns import plain_array
from neardup.files.rows import RowBlock
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s

# Share of the memory for values, and bytes per file of them in a work folder.
_SHARE = 0.1
_FILE_BYTES = 64_000_000


@dataclass(frozen=True)
class Values:
    """Columns of some documents; ``documents`` are their ascending numbers.

    ``batches`` have the columns of their rows, in the order of the documents.
    """

    names: tuple[str, ...]
    documents: Int64s
    batches: SpilledBatches

    @cached_property
    def types(self) -> tuple[pa.DataType, ...]:
        """Type of each column: the common type of its values, else text."""
        found: dict[str, set[pa.DataType]] = {name: set() for name in self.names}
        for batch in self.batches:
            for field in batch.schema:
                found[field.name].add(field.type)
        return tuple(self._type_of(name, found[name]) for name in self.names)

    def _type_of(self, name: str, found: set[pa.DataType]) -> pa.DataType:
        kind = _common_type(found)
        if len(found) > 1:
            # Types may have a common type although values do not fit: large integers are not
            # floats.
            try:
                for batch in self.batches:
                    if name in batch.schema.names:
                        batch.column(name).cast(kind)
            except pa.ArrowInvalid:
                return pa.large_string()
        return kind

    def take(self, documents: Int64s) -> list[pa.Array]:
        """Return the values of some documents, in any order and more than once, by column."""
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
    """Read some columns of the wanted documents, in files if they do not fit.

    Only files with such a document are read. Dictionaries become their values, and nested values
    become JSON text.
    """
    batches = SpilledBatches(task, workspace, share=_SHARE, weight_of_file=_FILE_BYTES)
    if not names:
        # A collection that lacks all columns of the other one.
        return Values((), np.flatnonzero(is_wanted), batches)
    count = runner.counter("columns", int(is_wanted.sum()))

    def blocks() -> Iterator[tuple[RowBlock, Bools]]:
        for source, start, stop in catalogue.ranges():
            if is_wanted[start:stop].any():
                for block, rows in numbered_blocks(source, start, stop):
                    if is_wanted[rows].any():
                        yield block, is_wanted[rows]

    def read(item: tuple[RowBlock, Bools]) -> pa.RecordBatch:
        block, select = item
        table = block.some_columns(names, select)
        if not table.num_columns:
            # A batch without columns has no rows either.
            return pa.record_batch({names[0]: pa.nulls(int(select.sum()))})
        return pa.record_batch(
            {name: _flat(plain_array(table.column(name))) for name in table.column_names}
        )

    n_done = sum(1 for _ in batches)
    with batches:
        for number, batch in enumerate(runner.map(read, blocks())):
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


def _common_type(kinds: set[pa.DataType]) -> pa.DataType:
    schemas = [pa.schema([("value", kind)]) for kind in sorted(kinds, key=str)]
    if not schemas:
        return pa.large_string()
    try:
        kind = pa.unify_schemas(schemas, promote_options="permissive").field("value").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.large_string()
    return pa.large_string() if pa.types.is_null(kind) or pa.types.is_string(kind) else kind


def _taken(batch: pa.RecordBatch, name: str, kind: pa.DataType, rows: pa.Array) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(len(rows), kind)
    return batch.column(name).take(rows).cast(kind)
