"""Documents of a deduplication, their order and what became of them, wherever texts are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.documents.other import DocumentIndexSource, index_among, own_tokenizer
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.matching.keep import KeepPolicy, join_order_columns, parse_keep
from neardup.options.option import no_effect
from neardup.outputs.table_rows import ForwardRows, TableRows
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.sign import text_lengths
from neardup.runs.runner import Runner
from neardup.stages.options import input_options_of
from neardup.stages.output import DedupOutput, Side, other_rows
from neardup.stages.places import COLUMNS as PLACE_COLUMNS
from neardup.stages.places import DocumentPlaces
from neardup.tables import Bools, Int64s
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True)
class OrderKeys:
    """By what some documents are ordered.

    ``numbers`` are their places in the input; those of a collection compared against are negative,
    because all of it comes first. ``lengths``, in characters, and ``column``, the values of what
    the policy looks at, are there where it needs them.
    """

    numbers: Int64s
    lengths: Int64s | None = None
    column: pa.Array | None = None

    def take(self, rows: Int64s) -> OrderKeys:
        """Return the keys of some of the documents."""
        return OrderKeys(
            self.numbers[rows],
            None if self.lengths is None else self.lengths[rows],
            None if self.column is None else self.column.take(rows),
        )


def come_first(policy: KeepPolicy, others: OrderKeys, own: OrderKeys) -> Bools:
    """Return which documents come before one in keep order.

    Parameters
    ----------
    policy
        The keep policy.
    others
        Keys of documents, in input order.
    own
        Keys of one document, which is none of them.
    """
    if own.numbers[0] < 0 or policy.rule == "first" or (others.numbers < 0).all():
        before: Bools = others.numbers < own.numbers[0]
        return before
    n_before = int(np.searchsorted(others.numbers, own.numbers[0]))
    rows = np.arange(len(others.numbers))
    parts = (others.take(rows[:n_before]), own, others.take(rows[n_before:]))
    order = policy.order(len(rows) + 1, *_joined(policy, parts))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return np.delete(ranks < ranks[n_before], n_before)


def deciding_key(policy: KeepPolicy, one: OrderKeys, other: OrderKeys) -> KeepPolicy | None:
    """Return the first key by which two documents differ, each given alone.

    None where all are equal, so that the input order decides, and for a document of a collection
    compared against, which comes first in any case.
    """
    if policy.rule == "first" or one.numbers[0] < 0 or other.numbers[0] < 0:
        return None
    ranks = policy.ranks(*_joined(policy, (one, other)))
    return next((key for key, (a, b) in zip(policy.keys, ranks, strict=True) if a != b), None)


def _joined(
    policy: KeepPolicy, parts: Sequence[OrderKeys]
) -> tuple[Int64s | None, pa.Array | None]:
    """Return lengths and columns of documents one behind the other, where the policy needs them."""
    lengths = column = None
    if policy.by_length:
        lengths = np.concatenate([part.lengths for part in parts if part.lengths is not None])
    if policy.columns:
        values = [part.column for part in parts if part.column is not None]
        column = join_order_columns(values, policy.columns)
    return lengths, column


# In front of an id of the other collection that the first one has, too.
AGAINST = "against/"


def ids_in_other(identifier: object) -> tuple[str, ...]:
    """Return the ids that a document of the other collection may have there, by its id in a table.

    The id itself is the likelier one: a collection may have ids that begin so, such as those of
    files in a folder of this name.
    """
    full = str(identifier)
    own = full.removeprefix(AGAINST)
    return (full,) if own == full else (full, own)


Where = Literal["kept", "removed", "against"]

# Where those are, as tables call it, that an index denies.
DENIED = ("denied-exact", "denied-estimated")

# By where the document is that one went for: why its text cannot be had.
NO_TEXT = {
    "index": "the text is in the index, which cannot be read where it was named beside files",
    **dict.fromkeys(DENIED, "an index keeps no text of what was removed and denied"),
}

# The collection, input or against, and the file and row there, or the id as text.
Place = tuple[str | int | None, ...]


@dataclass(frozen=True)
class Document:
    """A document and what became of it.

    ``number`` is its place in the input; those of a collection compared against are negative. A
    removed one went for the document with the id ``keeper``, which is in ``keeper_in``: the
    ``input`` or ``against``, or denied by an index; ``similarity`` and ``exact_copy`` are as the
    run has noted them. ``row`` counts from 1 and is None, as ``file`` is, in an index.
    """

    number: int
    id: Any
    side: Where
    file: str | None
    row: int | None
    keeper: Any = None
    keeper_in: str | None = None
    keeper_file: str | None = None
    keeper_row: int | None = None
    similarity: float | None = None
    exact_copy: bool | None = None

    @property
    def place(self) -> Place:
        """What tells it from all others, of either collection."""
        where = "against" if self.side == "against" else "input"
        return _place(where, self.id, self.file, self.row)

    @property
    def keeper_place(self) -> Place | None:
        """The place of the document that it went for, None if it stays."""
        if self.keeper is None:
            return None
        return _place(self.keeper_in, self.keeper, self.keeper_file, self.keeper_row)


def _place(where: str | None, identifier: Any, file: str | None, row: int | None) -> Place:
    """Return a place by the row of a file; where there is none, as in an index, by the id."""
    return (where, str(identifier)) if file is None else (where, file, row)


@dataclass(frozen=True)
class Batch:
    """Some documents in input order: their texts, and values of the columns that rank them.

    ``describe`` returns the document in a row of the batch.
    """

    numbers: Int64s
    texts: pa.Array
    column: pa.Array | None
    describe: Callable[[int], Document]

    def keys(self, *, by_length: bool) -> OrderKeys:
        """Return by what the documents are ordered."""
        lengths = text_lengths(self.texts) if by_length else None
        return OrderKeys(self.numbers, lengths, self.column)

    @property
    def text(self) -> str:
        """The text of the first document; bytes are shown as text."""
        return _as_shown(self.texts[0].as_py())

    def all_texts(self) -> list[str]:
        """Return the texts of all documents; bytes are shown as text."""
        return [_as_shown(text) for text in self.texts.to_pylist()]

    def take(self, row: int) -> Batch:
        """Return one of the documents, which shares no memory with the others."""
        import pyarrow as pa

        describe, rows = self.describe, pa.array([row])
        return Batch(
            self.numbers[[row]],
            self.texts.take(rows),
            None if self.column is None else self.column.take(rows),
            lambda _: describe(row),
        )


def _as_shown(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


class Documents(ABC):
    """Documents that can be read, all of them or some.

    ``frequencies`` are those of an index that weighs shingles, None of all others.
    """

    frequencies: DocumentFrequencies | None = None

    @abstractmethod
    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, which ascend, some at a time."""

    @abstractmethod
    def stay(self, numbers: Int64s) -> Bools:
        """Return which of some documents stay."""


class DecidedDocuments(Documents):
    """What a deduplication decided, and the texts about which it did.

    Parameters
    ----------
    summary
        What ``summary.json`` holds.
    removed, clusters
        Its tables, of which ``clusters`` has a row for each document in input order.

    Notes
    -----
    Tables are read some rows at a time; memory what ``DocumentPlaces`` takes.
    """

    def __init__(self, summary: Mapping[str, Any], removed: TableRows, clusters: TableRows) -> None:
        self.summary, self.removed, self.clusters = summary, removed, clusters

    def __len__(self) -> int:
        return len(self.clusters)

    def stay(self, numbers: Int64s) -> Bools:
        """Return which of some documents stay."""
        return ~self.places.went(numbers)

    @cached_property
    def places(self) -> DocumentPlaces:
        """Where all documents stand, and which of them went."""
        return DocumentPlaces(self.clusters.batches(*PLACE_COLUMNS))

    def find(self, identifier: object) -> int | None:
        """Return the number of the document of an id, None if there is none."""
        return next(_rows_with(self.clusters, "id", identifier), None)

    def describe(self, number: int) -> Document:
        """Return a document by its number."""
        row = _row(self.clusters, number)
        if not row["is_duplicate"]:
            return Document(number, row["id"], "kept", row["file"], row["row"])
        gone = _row(self.removed, int(self.places.n_gone_before(np.array([number]))[0]))
        return Document(
            number,
            row["id"],
            "removed",
            row["file"],
            row["row"],
            gone["kept_id"],
            gone["kept_in"],
            gone["kept_file"],
            gone["kept_row"],
            gone["similarity"],
            gone["exact_copy"],
        )

    def gone_for(self, identifier: object) -> Int64s:
        """Return the numbers of the documents that went for the one of an id."""
        rows = np.fromiter(_rows_with(self.removed, "kept_id", identifier), np.int64)
        return self.places.gone(rows)

    def one(self, number: int) -> Batch:
        """Return a document with its text."""
        return next(self.batches(np.array([number])))

    def cluster_of(self, number: int) -> tuple[int, int]:
        """Return the number of a document's cluster, and how many documents are in it."""
        row = _row(self.clusters, number)
        return row["cluster_id"], row["cluster_size"]

    def members_of(self, cluster: int) -> Int64s:
        """Return the numbers of all documents of a cluster."""
        return np.fromiter(_rows_with(self.clusters, "cluster_id", cluster), np.int64)

    def similar_ids(self, identifier: object, count: int = 3) -> list[str]:
        """Return the ids that are spelled most like one."""
        from rapidfuzz import process

        wanted = str(identifier)
        best: list[tuple[str, float, int]] = []
        for batch in self.clusters.batches("id"):
            names = [str(each) for each in batch["id"].to_pylist()]
            best += process.extract(wanted, names, limit=count, score_cutoff=60)
            best = sorted(best, key=lambda found: -found[1])[:count]
        return [name for name, _, _ in best]


def _row(rows: TableRows, place: int) -> dict[str, Any]:
    found = rows.forward().take(np.array([place])).to_pylist()
    if not found:
        message = (
            "removed.parquet and clusters.parquet do not have the same removed documents; they "
            "have been changed since: run `neardup dedup` again"
        )
        raise InvalidInputError(message)
    row: dict[str, Any] = found[0]
    return row


def _rows_with(rows: TableRows, column: str, value: object) -> Iterator[int]:
    """Yield the places of the rows that have a value in a column, as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, first = pa.scalar(str(value), pa.large_string()), 0
    for batch in rows.batches(column):
        is_wanted = pc.equal(batch[column].cast(pa.large_string()), wanted)
        yield from (first + np.flatnonzero(is_wanted.to_numpy())).tolist()
        first += len(batch)


def find_keeper(against: Documents, gone: Document) -> Batch | None:
    """Find the document of another collection that one went for; None if it is not there.

    It is known by file and row, and in an index by its id.
    """
    names = ids_in_other(gone.keeper)
    for batch in against.batches():
        for row in range(len(batch.numbers)):
            found = batch.describe(row)
            if gone.keeper_file is None:
                is_wanted = str(found.id) in names
            else:
                is_wanted = (found.file, found.row) == (gone.keeper_file, gone.keeper_row)
            if is_wanted:
                return batch.take(row)
    return None


# Numbers of documents of another collection begin here, so that all of them are negative.
_FIRST_OF_OTHER = -(2**62)


class ResultDocuments(DecidedDocuments):
    """Documents that are read from where they were.

    Parameters
    ----------
    documents
        The collection.
    summary, removed, clusters
        As of ``DecidedDocuments``.
    order
        The columns by which documents were ranked.
    """

    def __init__(
        self,
        documents: Catalogue,
        summary: Mapping[str, Any],
        removed: TableRows,
        clusters: TableRows,
        order: tuple[str, ...],
    ) -> None:
        super().__init__(summary, removed, clusters)
        self._catalogue = documents
        self._columns = replace(documents.columns.only_text(), order=order)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, some at a time."""
        is_document = self._catalogue.is_document
        wanted = is_document.copy()
        if numbers is not None:
            wanted[:] = False
            wanted[np.flatnonzero(is_document)[numbers]] = True
        ranks = np.cumsum(is_document) - 1
        for source, start, stop in self._catalogue.ranges():
            if not wanted[start:stop].any():
                continue
            for block, rows in numbered_blocks(source, start, stop):
                if wanted[rows].any():
                    found = ranks[rows][wanted[rows]]
                    yield read_batch(block, self._columns, wanted[rows], found, self)


class AgainstDocuments(Documents):
    """Documents of the collection that others were compared against, all of which stay.

    Parameters
    ----------
    sources
        What is read.
    columns
        Where texts and ids are.
    skip_bad
        Whether bad rows are left out.
    """

    def __init__(
        self, sources: Sequence[Source], columns: ColumnNames, *, skip_bad: bool = False
    ) -> None:
        self._sources, self._columns, self._skip_bad = sources, columns, skip_bad

    def stay(self, numbers: Int64s) -> Bools:
        """Return that all of them stay."""
        return np.ones(len(numbers), np.bool_)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, some at a time; numbers are not looked for."""
        first = _FIRST_OF_OTHER
        for source in self._sources:
            for block in source.blocks():
                parsed = block.parse(self._columns, skip_bad=self._skip_bad)
                is_good = parsed.text.is_valid().to_numpy(zero_copy_only=False)
                ids = source.default_ids(block.numbers) if parsed.id is None else parsed.id
                rows = np.flatnonzero(is_good)
                yield Batch(
                    np.arange(first, first + len(rows)),
                    parsed.text.take(rows),
                    None,
                    _Described(first, ids.take(rows), source, block.numbers[rows]),
                )
                first += len(rows)


class _Described:
    """Describes documents of the other collection by their rows in a batch."""

    def __init__(self, first: int, ids: pa.Array, source: Source, rows: Int64s) -> None:
        self._first, self._ids, self._rows = first, ids, rows
        self._file = source.name if source.has_lasting_rows else None

    def __call__(self, row: int) -> Document:
        number = int(self._rows[row]) if self._file is not None else None
        return Document(self._first + row, self._ids[row].as_py(), "against", self._file, number)


def read_batch(
    block: RowBlock,
    columns: ColumnNames,
    wanted: Bools,
    numbers: Int64s,
    documents: DecidedDocuments,
) -> Batch:
    """Read some documents of a block, which have these numbers."""
    parsed = block.parse(columns, select=wanted)
    return Batch(
        numbers, parsed.text, parsed.order, lambda row: documents.describe(int(numbers[row]))
    )


# Documents of a deduplication whose output is in a folder, read again to be explained.


class FolderDocuments(DecidedDocuments):
    """Documents that are read from where a deduplication has written them."""

    def __init__(self, output: DedupOutput) -> None:
        super().__init__(output.summary, output.removed, output.clusters)
        self._output = output
        self._order = parse_keep(output.summary["keep"]).columns

    @property
    def places(self) -> DocumentPlaces:
        """Where all documents stand, and which of them went."""
        return self._output.documents

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, some at a time.

        They come file by file, those that stay before those that went.
        """
        sides: tuple[Side, Side] = ("kept", "removed")
        # Ids of either side are read along with its texts.
        ids = {side: self.clusters.forward("id") for side in sides}
        wanted_in = None if numbers is None else self.places.files_of(numbers)
        for number, file in enumerate(self.places.files):
            wanted = None
            if numbers is not None and wanted_in is not None:
                wanted = numbers[wanted_in == number]
                if not len(wanted):
                    continue
            for side in sides:
                yield from self._read(side, number, file, wanted, ids[side])

    def _read(
        self, side: Side, number: int, file: str, wanted: Int64s | None, ids: ForwardRows
    ) -> Iterator[Batch]:
        """Read the wanted documents of one side of a file, or all of it."""
        went = side == "removed"
        if wanted is not None:
            wanted = wanted[self.places.went(wanted) == went]
            places = self.places.n_same_before(wanted)
        pieces = self.places.of_side(went=went, file=number)
        left = next(pieces, np.empty(0, np.int64))
        if not len(left if wanted is None else wanted):
            return
        source, columns = self._output.source(side, file)
        columns = replace(columns, order=self._order)
        start = 0
        for block in source.blocks():
            stop = start + len(block)
            while len(left) < len(block) and (more := next(pieces, None)) is not None:
                left = np.concatenate([left, more])
            if len(block) > len(left):
                raise other_rows(source)
            here, left = left[: len(block)], left[len(block) :]
            select = np.ones(len(block), np.bool_)
            if wanted is not None:
                select[:] = False
                select[places[(places >= start) & (places < stop)] - start] = True
            if select.any():
                yield self._batch(block, select, here[select], columns, source, ids)
            start = stop
            if wanted is not None and start > places[-1]:
                return
        if len(left) or next(pieces, None) is not None:
            raise other_rows(source)

    def _batch(
        self,
        block: RowBlock,
        select: Bools,
        numbers: Int64s,
        columns: ColumnNames,
        source: Source,
        ids: ForwardRows,
    ) -> Batch:
        parsed = block.parse(columns, select=select)
        if parsed.id is not None:
            expected = ids.take(numbers)["id"].combine_chunks()
            if not as_text(parsed.id).equals(as_text(expected)):
                raise other_rows(source)
        return Batch(
            numbers, parsed.text, parsed.order, lambda row: self.describe(int(numbers[row]))
        )


def open_against(
    summary: Mapping[str, Any],
    against: Sequence[str],
    text_column: str | Sequence[str] | None = None,
    id_column: str | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
) -> AgainstDocuments | None:
    """Open what documents were compared against, as it was read then; None if nothing is named.

    Parameters
    ----------
    summary
        Of the deduplication.
    against
        Files, or the folder of an index.
    text_column, id_column
        Columns, where they are others now.
    tokenizer
        That of an index, if it was a file.
    """
    if not against:
        for name, value in (
            ("against_text_column", text_column),
            ("against_id_column", id_column),
        ):
            if value is not None:
                raise no_effect(name, "without against", "give against", "against")
        return None
    if not summary.get("against_documents"):
        message = "the documents were compared with no others; leave against out"
        raise InvalidParameterError(message, "against")
    named = [Path(each) for each in against]
    handle = index_among(named, own_tokenizer(tokenizer))
    if handle is not None:
        index = handle.view(Runner(1))
        weighted = index.scheme.weighted
        found = AgainstDocuments(
            [DocumentIndexSource(index, handle.folder)], ColumnNames("text", "id")
        )
        found.frequencies = None if weighted is None else weighted.frequencies
        return found
    described = summary["reading"]
    texts = text_column or described.get("against_text_column") or described["text_column"]
    columns = ColumnNames(
        texts if isinstance(texts, str) else tuple(texts),
        id_column or summary.get("against_id_column"),
    )
    return _read(summary, against, columns)


def _read(
    summary: Mapping[str, Any], paths: Sequence[str], columns: ColumnNames
) -> AgainstDocuments:
    sources = resolve_paths(paths, input_options_of(summary["reading"]))
    skip_bad = bool(summary["skipped_rows"] or summary.get("against_skipped_rows"))
    return AgainstDocuments(sources, columns, skip_bad=skip_bad)
