"""Catalogue of documents: positions, ids and keep order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.documents import check_unique, common_id_type
from neardup.files.rows import DEFAULT_ID, ColumnNames, Source, columns_of_order, order_of
from neardup.reading.sign import ReadingPlan, numbers_of
from neardup.runs.exchange import SpilledBatches
from neardup.tables import Bools, Int8s, Int64s, offsets_of

# Default ids that are made at a time.
_IDS_AT_A_TIME = 1 << 20


class IdColumn:
    """Ids of one type, in mapped files or memory. Copies are in memory."""

    def __init__(self, kind: pa.DataType, read: Callable[[], Iterable[pa.Array]]) -> None:
        self.kind, self._read = kind, read

    @classmethod
    def of(cls, ids: pa.Array) -> IdColumn:
        """Return ids that are in memory."""
        return cls(ids.type, lambda: [ids])

    def __iter__(self) -> Iterator[pa.Array]:
        for ids in self._read():
            is_null = ids.null_count == len(ids)
            yield pa.nulls(len(ids), self.kind) if is_null else ids.cast(self.kind)

    def __reduce__(self) -> tuple[Callable[[pa.Array], IdColumn], tuple[pa.Array]]:
        return IdColumn.of, (pa.concat_arrays([pa.array([], self.kind), *self]),)


@dataclass
class Catalogue:
    """The documents of some sources, in input order.

    ``numbers`` are row numbers within the sources, ``source_starts`` (n_sources + 1) the first
    document of each source, after documents without a source; ``columns`` are the columns that were
    read. ``n_tokens`` has ``BAD`` for a skipped row, and one byte per row if tokens are not
    counted. ``ids`` is None if no column has them. With ``skips_bad``, bad rows are listed in
    ``skipped`` (source, row, reason); otherwise there are none.
    """

    sources: Sequence[Source]
    columns: ColumnNames
    source_starts: Int64s
    numbers: Int64s
    n_tokens: Int64s | Int8s
    lengths: Int64s | None
    ids: IdColumn | None
    order: pa.Array | None
    text_bytes: int
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    skips_bad: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def of_none(cls) -> Catalogue:
        """Return a collection without documents."""
        from neardup.files.memory import MemorySource

        ids = pa.array([], pa.large_string())
        return cls(
            sources=[MemorySource(pa.table({DEFAULT_ID: ids}))],
            columns=ColumnNames(id=DEFAULT_ID),
            source_starts=np.zeros(2, np.int64),
            numbers=np.empty(0, np.int64),
            n_tokens=np.empty(0, np.int8),
            lengths=None,
            ids=IdColumn.of(ids),
            order=None,
            text_bytes=0,
        )

    def after_index_documents(self, ids: pa.Array) -> Catalogue:
        """Return these documents after documents known by ids only."""
        n = len(ids)
        kind = common_id_type(
            kind for kind, size in ((ids.type, n), (self.id_type, len(self))) if size
        )
        nothing: Int64s = np.zeros(n, np.int64)
        return replace(
            self,
            source_starts=self.source_starts + n,
            numbers=np.concatenate([nothing, self.numbers]),
            n_tokens=np.concatenate([nothing, self.n_tokens]),
            lengths=None,
            ids=IdColumn(kind, lambda: chain([ids], (each for _, each in self.id_slices()))),
            order=None,
        )

    @property
    def is_document(self) -> Bools:
        """Mask of documents, without skipped rows."""
        return self.n_tokens >= 0

    def count_empty(self) -> int:
        """Count the documents without tokens."""
        return int((self.n_tokens == 0).sum())

    def count_short(self, ngram: int) -> int:
        """Count the documents with fewer tokens than a shingle."""
        return int(((self.n_tokens > 0) & (self.n_tokens < ngram)).sum())

    @property
    def id_type(self) -> pa.DataType:
        """Type of the ids."""
        if self.ids is not None:
            return self.ids.kind
        return common_id_type(source.default_ids(self.numbers[:0]).type for source in self.sources)

    def id_slices(self) -> Iterator[tuple[int, pa.Array]]:
        """Yield slices of ids, given or default, with their first document numbers."""
        first = 0
        for ids in self.ids if self.ids is not None else self._default_ids():
            yield first, ids
            first += len(ids)

    def default_ids(self, documents: Int64s) -> pa.Array:
        """Return default ids of documents, whose numbers ascend."""
        parts = [pa.array([], self.id_type)]
        bounds = np.searchsorted(documents, self.source_starts)
        for source in np.flatnonzero(np.diff(bounds)).tolist():
            numbers = self.numbers[documents[bounds[source] : bounds[source + 1]]]
            parts.append(self.sources[source].default_ids(numbers))
        return pa.concat_arrays(parts)

    def _default_ids(self) -> Iterator[pa.Array]:
        for source, start, stop in self.ranges():
            for first in range(start, stop, _IDS_AT_A_TIME):
                yield source.default_ids(self.numbers[first : min(first + _IDS_AT_A_TIME, stop)])

    def document_files(self, documents: Int64s) -> pa.Array:
        """Return the documents' source names, null without a source."""
        indices = np.searchsorted(self.source_starts, documents, side="right") - 1
        names = pa.array([source.name for source in self.sources], pa.string())
        return names.take(pa.array(indices, mask=indices < 0))

    def lasting_places(self, documents: Int64s) -> tuple[pa.Array, pa.Array]:
        """Return source names and rows, null for index documents, whose rows change."""
        if not all(source.has_lasting_rows for source in self.sources) or not self.sources:
            return pa.nulls(len(documents), pa.string()), pa.nulls(len(documents), pa.int64())
        is_of_none = documents < self.source_starts[0]
        return self.document_files(documents), pa.array(self.numbers[documents], mask=is_of_none)

    def ranges(self) -> Iterator[tuple[Source, int, int]]:
        """Yield each source with its range of document numbers."""
        for i, source in enumerate(self.sources):
            yield source, int(self.source_starts[i]), int(self.source_starts[i + 1])

    def place(self, document: int) -> tuple[str, int]:
        """Return the source name and row of a document."""
        source = int(np.searchsorted(self.source_starts, document, side="right")) - 1
        return self.sources[source].name, int(self.numbers[document])


def make_catalogue(
    sources: Sequence[Source], plan: ReadingPlan, signed: SpilledBatches
) -> Catalogue:
    """Make a collection's catalogue, and check its ids."""
    columns = plan.columns
    counts: Int64s = np.zeros(len(sources), np.int64)
    numbers, n_tokens, lengths, order = [], [], [], []
    skipped, text_bytes, id_types = [], 0, set()
    for batch, facts in signed.with_facts():
        source = facts["source"]
        counts[source] += len(batch)
        # Copies, because a column may be mapped from a file.
        numbers.append(numbers_of(batch, "numbers").copy())
        n_tokens.append(numbers_of(batch, "n_tokens").copy())
        if plan.with_lengths:
            lengths.append(numbers_of(batch, "lengths").copy())
        if columns.orders:
            order.append(pa.concat_arrays([batch.column("order")]))
        if columns.id and batch.column("ids").null_count < len(batch):
            id_types.add(batch.column("ids").type)
        skipped += [(sources[source].name, row, reason) for row, reason in facts["skipped"]]
        text_bytes += facts["text_bytes"]

    def read_ids() -> Iterator[pa.Array]:
        return (batch.column("ids") for batch in signed)

    catalogue = Catalogue(
        sources=sources,
        columns=columns,
        source_starts=offsets_of(counts),
        numbers=np.concatenate([np.empty(0, np.int64), *numbers]),
        n_tokens=np.concatenate([np.empty(0, np.int8), *n_tokens]),
        lengths=np.concatenate([np.empty(0, np.int64), *lengths]) if plan.with_lengths else None,
        ids=IdColumn(common_id_type(id_types), read_ids) if columns.id else None,
        order=join_order_columns(order, columns.orders) if columns.orders else None,
        text_bytes=text_bytes,
        skipped=skipped,
        skips_bad=plan.skip_bad,
    )
    if catalogue.ids is not None:
        check_unique(catalogue.ids, catalogue.place, columns)
    return catalogue


class IdLookup:
    """Find ids of documents with ascending numbers.

    A call with earlier documents starts from the first document again. Memory: a slice of the ids,
    and the requested ones.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._slices: Iterator[tuple[int, pa.Array]] = iter(())
        self._first, self._ids = 0, pa.array([], catalogue.id_type)

    def __reduce__(self) -> tuple[type[IdLookup], tuple[Catalogue]]:
        """Pickle without the position, which is in a generator."""
        return IdLookup, (self._catalogue,)

    def take(self, documents: Int64s) -> pa.Array:
        """Return the ids of some documents, whose numbers ascend."""
        if self._catalogue.ids is None:
            return self._catalogue.default_ids(documents)
        parts = [self._ids.slice(0, 0)]
        if len(documents) and documents[0] < self._first:
            self._first, self._ids, self._slices = 0, self._ids.slice(0, 0), iter(())
        if not len(self._ids):
            self._slices = self._catalogue.id_slices()
        start = 0
        while start < len(documents):
            end = self._first + len(self._ids)
            stop = start + int(np.searchsorted(documents[start:], end))
            if stop > start:
                parts.append(self._ids.take(pa.array(documents[start:stop] - self._first)))
            start = stop
            if start < len(documents):
                self._first, self._ids = next(self._slices)
        return pa.concat_arrays(parts)


_USAGE = "first, longest, shortest, max:COLUMN, min:COLUMN or priority:COLUMN=A,B,C"


@dataclass(frozen=True)
class KeepKey:
    """A key of the keep order.

    ``rule`` is ``first``, ``longest`` or ``shortest`` (in characters), ``max`` or ``min`` (of a
    column), or ``priority`` (a column's values in the order of ``values``, others after them).
    Nulls come last.
    """

    rule: str
    column: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeepPolicy:
    """Keep order of similar documents, whose first document stays.

    Ties of a key go by the next one, and at last by input order. With ``keeps_none`` not even the
    first of equal documents stays.
    """

    keys: tuple[KeepKey, ...]
    keeps_none: bool = False

    @property
    def is_by_input(self) -> bool:
        """Return whether the order is that of the input."""
        return self.keys[0].rule == "first"

    @property
    def by_length(self) -> bool:
        """Return whether the policy needs the lengths of texts."""
        return any(key.rule in ("longest", "shortest") for key in self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the distinct columns of the policy's keys in order."""
        return tuple(dict.fromkeys(key.column for key in self.keys if key.column is not None))

    def order(self, n_documents: int, lengths: Int64s | None, column: pa.Array | None) -> Int64s:
        """Return documents in keep order, given the columns as of ``order_of``."""
        if self.is_by_input:
            return np.arange(n_documents, dtype=np.int64)
        columns = dict(zip(self.columns, columns_of_order(column, len(self.columns)), strict=True))
        ranks = [_ranks_by(key, lengths, columns) for key in self.keys]
        # Stable, both of them, so that ties keep their input order. The last key counts most.
        return np.argsort(ranks[0], kind="stable") if len(ranks) == 1 else np.lexsort(ranks[::-1])


def _ranks_by(key: KeepKey, lengths: Int64s | None, columns: Mapping[str, pa.Array]) -> Int64s:
    if key.column is None:
        assert lengths is not None
        return -lengths if key.rule == "longest" else lengths
    column = columns[key.column]
    if key.rule == "priority":
        if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        values = pa.array(key.values, pa.string())
        places = pc.fill_null(pc.index_in(column, values.cast(column.type)), len(values))
        places = pc.if_else(column.is_null(), len(values) + 1, places)
    else:
        # Ranks are dense, so equal values tie.
        direction = "descending" if key.rule == "max" else "ascending"
        places = pc.rank(column, sort_keys=direction, tiebreaker="dense")
    ranks: Int64s = places.to_numpy(zero_copy_only=False).astype(np.int64)
    return ranks


def parse_keep(keep: str, *, may_be_none: bool = False) -> KeepPolicy:
    """Parse a keep policy: keys separated by commas.

    A part after a priority is one more of its values, unless it is a key. ``none`` is allowed
    alone, and only if ``may_be_none``.
    """
    if keep == "none" and may_be_none:
        return KeepPolicy((KeepKey("first"),), keeps_none=True)
    keys: list[KeepKey] = []
    for part in keep.split(","):
        rule, _, rest = part.strip().partition(":")
        column, _, value = rest.partition("=")
        if part.strip() in ("first", "longest", "shortest"):
            keys.append(KeepKey(rule))
        elif rule in ("max", "min") and rest:
            keys.append(KeepKey(rule, rest))
        elif rule == "priority" and column and value:
            keys.append(KeepKey(rule, column, (value,)))
        elif keys and keys[-1].rule == "priority":
            keys[-1] = replace(keys[-1], values=(*keys[-1].values, part))
        else:
            message = f"keep must be {_USAGE}, or several, separated by commas; got {keep!r}"
            raise InvalidParameterError(message, "keep")
    if any(key.rule == "first" for key in keys[:-1]):
        message = (
            f"keep: no two documents are equally early in the input, so that nothing counts behind "
            f"first, got {keep!r}; put it last"
        )
        raise InvalidParameterError(message, "keep")
    # In the end it is the input order anyway.
    return KeepPolicy(tuple(key for key in keys if len(keys) == 1 or key.rule != "first"))


def join_order_columns(parts: list[pa.Array], names: Sequence[str]) -> pa.Array:
    """Concatenate order columns, mixing only integers and decimals."""
    split = [columns_of_order(part, len(names)) for part in parts]
    columns = [
        _join_column([columns[number] for columns in split], name)
        for number, name in enumerate(names)
    ]
    return order_of(columns)


def _join_column(parts: list[pa.Array], name: str) -> pa.Array:
    if not parts:
        # No file has any rows.
        return pa.nulls(0, pa.int64())
    types = {part.type for part in parts if part.null_count < len(part)}
    if types == {pa.int64(), pa.float64()}:
        types = {pa.float64()}
    if len(types) > 1:
        kinds = " and ".join(sorted(str(kind) for kind in types))
        message = (
            f"column {name!r} holds different kinds of values ({kinds}), by which documents cannot "
            "be ordered; choose another column, or another policy, with keep (--keep)"
        )
        raise InvalidInputError(message)
    kind = types.pop() if types else pa.int64()
    nulls = (pa.nulls(len(part), kind) if part.null_count == len(part) else None for part in parts)
    # An integer beyond 2^53 becomes the nearest decimal, as in a file that has both.
    return pa.concat_arrays(
        [
            part.cast(kind, safe=False) if null is None else null
            for part, null in zip(parts, nulls, strict=True)
        ]
    )
