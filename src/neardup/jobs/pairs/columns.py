"""Columns of the input beside the ids of pairs: which there are, and their values of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.rows import ColumnNames, Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.signed_batches import numbers_of
from neardup.reading.values import Values, columns_there, read_values, where_to_have
from neardup.runtime.runner import Runner
from neardup.storage.workspace import Workspace
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ColumnsOfPairs:
    """Values of the documents a and of the documents b, side by side.

    ``names`` are those asked for; a side lacks a column that no file of its collection has.
    """

    names: tuple[str, ...]
    left: Values
    right: Values

    def fields(self) -> dict[str, pa.DataType]:
        """Return the columns with their types."""
        found = {}
        for name in self.names:
            for values, end in ((self.left, "a"), (self.right, "b")):
                if name in values.names:
                    found[f"{name}_{end}"] = values.types[values.names.index(name)]
        return found

    def take(self, left: Int64s, right: Int64s) -> list[pa.Array]:
        """Return the columns of some pairs, given the numbers of their documents."""
        columns = []
        sides = [
            (values, values.take(documents))
            for values, documents in ((self.left, left), (self.right, right))
        ]
        for name in self.names:
            for values, found in sides:
                if name in values.names:
                    columns.append(found[values.names.index(name)])
        return columns


def check_columns(
    names: Sequence[str],
    collections: Sequence[Sequence[Source]],
    read: Sequence[ColumnNames],
) -> list[tuple[str, ...]]:
    """Return which of some columns each collection has.

    Raises
    ------
    InvalidParameterError
        If one would have the name of a column that there is anyway.
    InvalidInputError
        If no collection has it.
    """
    if "id" in names:
        message = (
            "with_columns names 'id', of which id_a and id_b would be, as the ids of a pair are "
            "called; leave it out" + ("" if read[0].id == "id" else ", or name it with id_column")
        )
        raise InvalidParameterError(message, "with_columns", "id_column")
    there = [columns_there(sources, names) for sources in collections]
    for name in names:
        if not any(name in found for found in there):
            raise _no_column(name, collections)
    return there


def _no_column(name: str, collections: Sequence[Sequence[Source]]) -> InvalidInputError:
    sources = [source for sources in collections for source in sources]
    listed = [found for source in sources[:1] if (found := source.column_names())]
    columns = f"; columns are {', '.join(map(repr, listed[0]))}" if listed else ""
    message = (
        f"no column {name!r}, which with_columns (--columns) names{columns}{where_to_have(sources)}"
    )
    return InvalidInputError(message, path=sources[0].origin if sources else None)


def read_columns(
    runs: Iterable[pa.RecordBatch],
    catalogues: Sequence[Catalogue],
    names: Sequence[str],
    there: Sequence[tuple[str, ...]],
    workspace: Workspace,
    runner: Runner,
) -> ColumnsOfPairs:
    """Read the columns of all documents that are in a pair, those that each collection has.

    Memory that of the values, as far as the workspace allows, and 9 bytes a document in a pair.
    """
    values = read_wanted(runs, catalogues, there, workspace, runner, "columns")
    return ColumnsOfPairs(tuple(names), values[0], values[-1])


def read_wanted(
    runs: Iterable[pa.RecordBatch],
    catalogues: Sequence[Catalogue],
    names: Sequence[Sequence[str]],
    workspace: Workspace,
    runner: Runner,
    task: str,
) -> list[Values]:
    """Read some columns of each collection, of the documents that are in a pair."""
    is_wanted = np.zeros(sum(map(len, catalogues)), np.bool_)
    for run in runs:
        for side in ("left", "right"):
            is_wanted[numbers_of(run, side)] = True
    parts = np.split(is_wanted, np.cumsum([len(each) for each in catalogues])[:-1])
    return [
        read_values(catalogue, part, own, f"{task}-{number}", workspace, runner)
        for number, (catalogue, part, own) in enumerate(zip(catalogues, parts, names, strict=True))
    ]
