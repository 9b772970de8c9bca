"""Tables of pairs that were found before: read, checked, and their ids as numbers of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text, join_ids
from neardup.files.passes import ReadingPass
from neardup.files.problems import option_name
from neardup.files.rows import RowBlock, Source
from neardup.jobs.dedup.numbered_pairs import NumberedPairs
from neardup.jobs.stages.pair_ids import (
    ID_COLUMNS,
    READING_PAIRS,
    AboutPairs,
    check_columns,
    read_about,
    read_ids,
)
from neardup.outputs.summary_file import resolve_tables
from neardup.reading.catalogue import Catalogue
from neardup.runtime.runner import Runner
from neardup.storage.ids import IdTable
from neardup.tables import Floats, Int64s

_SIMILARITY = "similarity"


@dataclass(frozen=True)
class PairTable:
    """Pairs of documents by their ids, read some at a time.

    ``name`` is how messages call it; ``about`` is None where it does not say which pairs it has.
    """

    name: str
    sources: Sequence[Source]
    about: AboutPairs | None

    def ids(self, runner: Runner) -> pa.Array:
        """Return the ids of all documents: first those of ``id_a``, then the others of ``id_b``.

        Each in the order of the table. In a table of `neardup pairs` a document that has a later
        partner is so in front of those that have none, and in input order among its like.
        """

        def read(_: Source, block: RowBlock) -> list[pa.Array]:
            table = self._checked(block)
            return [read_ids(table, name, self.name).unique() for name in ID_COLUMNS]

        reading = ReadingPass(READING_PAIRS, self.sources, runner)
        found = [parts for _, parts in reading.map(read, self.sources)]
        return join_ids([parts[column] for column in range(2) for parts in found]).unique()

    def numbered(self, documents: Catalogue, runner: Runner) -> NumberedPairs:
        """Read all pairs, ids as numbers of documents."""
        # A skipped row has no id.
        rows = np.append(np.flatnonzero(documents.is_document), -1).astype(np.int32)
        known = IdTable(as_text(documents.document_ids().take(pa.array(rows[:-1]))))

        def read(_: Source, block: RowBlock) -> tuple[NumberedPairs, list[pa.Array]]:
            table = self._checked(block)
            similarities = self._similarities(table, block.numbers)
            # The first one's ids come in runs: each is looked up once.
            encoded = [
                as_text(read_ids(table, name, self.name)).dictionary_encode() for name in ID_COLUMNS
            ]
            found = [known.find(column.dictionary) for column in encoded]
            left, right = (
                rows[places][column.indices.to_numpy()]
                for column, places in zip(encoded, found, strict=True)
            )
            unknown = [
                column.dictionary.filter(pa.array(places < 0))
                for column, places in zip(encoded, found, strict=True)
            ]
            return NumberedPairs(left, right, similarities), unknown

        reading = ReadingPass(READING_PAIRS, self.sources, runner)
        parts = [part for _, part in reading.map(read, self.sources)]
        unknown = [ids for _, of_part in parts for ids in of_part if len(ids)]
        if unknown:
            self._refuse(pa.concat_arrays(unknown).unique())
        return NumberedPairs.of_all([pairs for pairs, _ in parts])

    def _refuse(self, unknown: pa.Array) -> None:
        one, many = "a document", f"{len(unknown):,} documents"
        message = (
            f"{self.name} names {one if len(unknown) == 1 else many} that the input does not have"
            f"{':' if len(unknown) == 1 else ', such as'} {unknown[0].as_py()!r}; give the same "
            f"input and {option_name('id_column')} as when the pairs were found"
        )
        raise InvalidInputError(message)

    def _checked(self, block: RowBlock) -> pa.Table:
        table = block.to_table()
        check_columns(table, (*ID_COLUMNS, _SIMILARITY), self.name)
        return table

    def _similarities(self, table: pa.Table, numbers: Int64s) -> Floats:
        try:
            column = table[_SIMILARITY].cast(pa.float64())
        except pa.ArrowException:
            message = f"{self.name}: column {_SIMILARITY!r} holds values that are no numbers"
            raise InvalidInputError(message) from None
        values: Floats = pc.fill_null(column, np.nan).to_numpy()
        is_good = (values >= 0) & (values <= 1)
        if not is_good.all():
            bad = int(np.argmin(is_good))
            message = (
                f"{self.name}, row {numbers[bad]}: similarity {values[bad]:g} is not between 0 "
                "and 1; give pairs with similarities, not with counts, percentages or distances"
            )
            raise InvalidInputError(message)
        return values


def open_pair_table(pairs: Any, *, trust: bool = False) -> PairTable:
    """Find a table of pairs: a file, its URL, a result of ``find_pairs``, or what speaks Arrow."""
    is_named = isinstance(pairs, str | Path)
    sources = resolve_tables(pairs, trust=trust)
    about = None
    if len(sources) == 1:
        about = read_about(sources[0].schema_metadata())
    return PairTable(str(pairs) if is_named else "the table", sources, about)
