"""Rows of sources as documents for an index: read, looked at, signed and packed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from neardup.documents.batches import Contents, DocumentBatch, make_batch
from neardup.documents.queries import Queries, join_queries, make_queries, sets_of_texts
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import check_kept, reason_of
from neardup.errors import InvalidInputError
from neardup.files.ids import join_ids
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.plan import SLICE_BYTES, WEIGHTED_SLICE_BYTES
from neardup.tables import Bools, Int64s, Texts

# Names of columns that an index gives itself.
_OWN = ("id", "text")


@dataclass(frozen=True)
class ReadDocuments:
    """Documents of a block, in the order of their rows, which ``numbers`` are."""

    source: str
    numbers: Int64s
    batch: DocumentBatch
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


def read_documents(
    sources: Sequence[Source],
    columns: ColumnNames,
    scheme: DocumentScheme,
    reading: ReadingPass,
    *,
    skip_bad: bool = False,
) -> Iterator[ReadDocuments]:
    """Read all documents of sources, block by block, in threads.

    Raises
    ------
    InvalidInputError
        For a bad row, unless these are to be skipped, and for a column that is not there.
    ReadError
        If a file cannot be read.
    """

    def read(source: Source, block: RowBlock) -> ReadDocuments:
        return read_block(source, block, columns, scheme, skip_bad=skip_bad)

    for _, documents in reading.map(read, sources):
        yield documents


def read_block(
    source: Source,
    block: RowBlock,
    columns: ColumnNames,
    scheme: DocumentScheme,
    *,
    skip_bad: bool = False,
    select: Bools | None = None,
    queries: Queries | None = None,
) -> ReadDocuments:
    """Read the documents of a block, or of those rows that are selected.

    ``queries`` are what an index needs to know of them, where that has been worked out.

    Raises
    ------
    InvalidInputError
        As ``read_documents``.
    """
    parsed = block.parse(columns, select=select, skip_bad=skip_bad)
    numbers = block.numbers if select is None else block.numbers[select]
    more = user_columns(source, block, scheme.columns, select)
    texts, ids = parsed.text, parsed.id
    if texts.null_count:
        is_good = texts.is_valid()
        texts, numbers = texts.filter(is_good), numbers[is_good.to_numpy(zero_copy_only=False)]
        ids = None if ids is None else ids.filter(is_good)
        more = None if more is None else more.filter(is_good)
    ids = source.default_ids(numbers) if ids is None else ids
    contents = Contents(join_ids([ids]), texts.cast(pa.large_string()), more)
    if queries is None:
        queries = queries_of_texts(contents.texts, scheme, with_sets=not scheme.with_text)
    elif not scheme.with_text:
        sets = sets_of_texts(Texts.from_arrow(contents.texts), scheme)
        queries = replace(queries, sets=sets)
    batch = make_batch(contents, queries, scheme)
    skipped = [(source.name, row, reason) for row, reason in parsed.skipped]
    return ReadDocuments(source.name, numbers, batch, skipped)


def queries_of_texts(texts: pa.Array, scheme: DocumentScheme, *, with_sets: bool = True) -> Queries:
    """Work out what an index needs to know of texts, some at a time, as caches like it."""
    slice_bytes = WEIGHTED_SLICE_BYTES if scheme.weighted else SLICE_BYTES
    parts = [
        make_queries(scheme.shingles.tokenizer.hash_tokens(part), scheme, with_sets=with_sets)
        for part in Texts.from_arrow(texts).slices(slice_bytes)
    ]
    return parts[0] if len(parts) == 1 else join_queries(parts)


def user_columns(
    source: Source, block: RowBlock, names: Sequence[str], select: Bools | None
) -> pa.Table | None:
    """Return the columns of the user's that an index keeps, None if it keeps none.

    Raises
    ------
    InvalidInputError
        If one is not there, or of a type that cannot be kept.
    """
    if not names:
        return None
    table = block.to_table(select)
    for name in names:
        if name not in table.column_names:
            found = ", ".join(map(repr, table.column_names))
            message = f"there is no column {name!r}, which the index keeps; there are {found}"
            raise InvalidInputError(message, path=source.name)
        try:
            check_kept(table.select([name]))
        except pa.ArrowException as error:
            message = f"column {name!r} cannot be kept in an index: {reason_of(error)}"
            raise InvalidInputError(message, path=source.name) from None
    return table.select(list(names))
