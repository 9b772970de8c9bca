"""Sign documents with digests and band keys, as columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import plain_array
from neardup.files.documents import ReadingPass, hash_ids
from neardup.files.rows import ColumnNames, ParsedRows, RowBlock, Source
from neardup.kernels.common.hashing import mix_words
from neardup.matching.buckets import Banding, join_filters, make_filters
from neardup.matching.join import salt
from neardup.matching.measures import Measure
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.sketches.minhash import (
    MinHashScheme,
    WeightedMinHashScheme,
    band_keys,
    minhash_signatures,
    weighted_signatures,
)
from neardup.tables import (
    Bools,
    Digests,
    Filters,
    IndexKeepers,
    Int8s,
    Int64s,
    ShingleSets,
    Texts,
    TokenLists,
    Uint64s,
    WeightedSets,
)
from neardup.text.shingles import ShingleScheme, digest_token_lists, shingle_lists, shingle_sets
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import (
    DocumentFrequencies,
    WeightedScheme,
    count_documents,
    frequency_lists,
    weighted_sets,
)

if TYPE_CHECKING:
    from neardup.files.inputs import Inputs


# Bytes of text per kernel call, so that tokens and shingles are still in the processor's cache for
# the next stage.
SLICE_BYTES = 1 << 18
# Larger for weighted sketches, because random numbers are drawn once per distinct token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21

# Token count of skipped rows.
BAD = -1


class TextLookUp(ABC):
    """Thread-safe lookup in an index while texts are signed."""

    @abstractmethod
    def sign(self, token_lists: TokenLists) -> Any:
        """Compute the lookup keys of texts: ``digests``, ``keys``, and ``filters`` or None."""

    @abstractmethod
    def find(self, signed: Sequence[Any]) -> IndexKeepers:
        """Find the keepers of texts, given consecutive results of ``sign``."""


@dataclass(frozen=True)
class ReadingPlan:
    """Options that turn the rows of a block into numbers.

    Without ``minhash`` and ``banding`` there are no band keys; exact joins need none. With
    ``weighted``, documents are weighted sets, and ``minhash`` is of their kind. Filters are made
    for the measure ``filters_for``, of plain sets. With ``look_up``, an index computes digests,
    keys and filters, and looks each text up. Documents with different values in a column of
    ``blocking`` are not compared.
    """

    columns: ColumnNames
    shingles: ShingleScheme
    minhash: MinHashScheme | None = None
    banding: Banding | None = None
    skip_bad: bool = False
    with_lengths: bool = False
    weighted: WeightedScheme | None = None
    filters_for: Measure | None = None
    look_up: TextLookUp | None = None
    blocking: tuple[str, ...] = ()

    @property
    def slice_bytes(self) -> int:
        """Bytes of text per kernel call."""
        return WEIGHTED_SLICE_BYTES if self.weighted else SLICE_BYTES

    @property
    def needs_frequencies(self) -> bool:
        """Whether document frequencies must be counted before weighing."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    def sets_of(self, texts: Texts) -> ShingleSets | WeightedSets:
        """Return the compared sets of texts."""
        if self.weighted is None:
            return shingle_sets(texts, self.shingles)
        tokens = self.shingles.tokenizer.hash_tokens(texts)
        return weighted_sets(tokens, self.shingles, self.weighted)

    def sketch(self, token_lists: TokenLists) -> tuple[Uint64s, list[Filters]]:
        """Return band keys, and filters for plain sets."""
        assert self.minhash is not None
        assert self.banding is not None
        n_bands, n_rows = self.banding.bands, self.banding.rows
        if self.weighted is not None and isinstance(self.minhash, WeightedMinHashScheme):
            sets = weighted_sets(token_lists, self.shingles, self.weighted)
            return band_keys(weighted_signatures(sets, self.minhash), n_bands, n_rows), []
        lists = shingle_lists(token_lists, self.shingles)
        filters = [make_filters(lists, self.filters_for)] if self.filters_for else []
        return band_keys(minhash_signatures(lists, self.minhash), n_bands, n_rows), filters

    def without_ranks(self, columns: ColumnNames) -> ReadingPlan:
        """Return the plan for another collection, without ranks."""
        return replace(self, columns=columns, with_lengths=False)


Collections = Sequence[tuple[Sequence[Source], ReadingPlan]]
"""Collections of documents, each with its plan of reading."""


class ListedBlock(NamedTuple):
    """Documents as in ``SignedBatches``, facts of the block, and rows to send."""

    documents: pa.RecordBatch
    facts: dict[str, Any]
    rows: pa.RecordBatch | None = None

    @classmethod
    def of(
        cls,
        block: RowBlock,
        parsed: ParsedRows,
        n_tokens: Int64s | Int8s,
        plan: ReadingPlan,
        rows: pa.RecordBatch | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> ListedBlock:
        """List a parsed block's documents, with more ``columns`` and ``rows`` of them."""
        is_bad = parsed.text.is_null().to_numpy(zero_copy_only=False)
        offsets, lengths = Texts.from_arrow(parsed.text).offsets, None
        if plan.with_lengths:
            # A skipped row has no text.
            lengths = pc.fill_null(pc.utf8_length(parsed.text), 0).cast(pa.int64())
        optional = {
            "lengths": lengths,
            "order": parsed.order,
            "ids": parsed.id,
            **(columns or {}),
        }
        documents = {"numbers": block.numbers, "n_tokens": np.where(is_bad, BAD, n_tokens)}
        documents |= {name: values for name, values in optional.items() if values is not None}
        facts = {"text_bytes": int(offsets[-1] - offsets[0]), "skipped": parsed.skipped}
        return cls(pa.RecordBatch.from_pydict(documents), facts, rows)

    def adding(
        self, columns: Mapping[str, Any], facts: Mapping[str, Any], rows: pa.RecordBatch
    ) -> ListedBlock:
        """Return the block with more columns and facts, and rows."""
        documents = self.documents
        for name, values in columns.items():
            documents = documents.append_column(name, values)
        return ListedBlock(documents, {**self.facts, **facts}, rows)


def list_block(block: RowBlock, plan: ReadingPlan) -> ListedBlock:
    """Parse a block, and compute only text lengths."""
    parsed = block.parse(plan.columns, skip_bad=plan.skip_bad)
    return ListedBlock.of(block, parsed, np.zeros(len(block), np.int8), plan)


def sign_block(
    block: RowBlock, plan: ReadingPlan, digest: Callable[[TokenLists], Uint64s] = digest_token_lists
) -> ListedBlock:
    """Parse a block and sign its documents, with ``digest`` called by parts."""
    parsed = block.parse(plan.columns, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_documents = len(texts)
    n_tokens = np.empty(n_documents, np.int64)
    digests = np.empty((2, n_documents), np.uint64)
    keys = np.empty((plan.banding.bands if plan.banding else 0, n_documents), np.uint64)
    filters: list[Filters] = []
    looked_up: list[Any] = []
    start = 0
    for part in texts.slices(plan.slice_bytes):
        token_lists = plan.shingles.tokenizer.hash_tokens(part)
        rows = slice(start, start + len(part))
        start += len(part)
        n_tokens[rows] = np.diff(token_lists.offsets)
        if plan.look_up is not None:
            signed = plan.look_up.sign(token_lists)
            digests[:, rows], keys[:, rows] = signed.digests.T, signed.keys.T
            filters += [signed.filters] if signed.filters is not None else []
            looked_up.append(signed)
            continue
        digests[:, rows] = digest(token_lists).T
        if plan.banding:
            own_keys, own_filters = plan.sketch(token_lists)
            keys[:, rows] = own_keys.T
            filters += own_filters
    columns: dict[str, Any] = dict(zip(_DIGESTS, digests, strict=True))
    columns |= {f"key_{band}": of_band for band, of_band in enumerate(keys)}
    if filters:
        joined = join_filters(filters)
        columns |= {"filter": filter_column(joined), "filter_sizes": joined.sizes}
    if plan.look_up is not None:
        # All at once, which is much faster than in slices.
        columns |= zip(_KEEPER_COLUMNS, vars(plan.look_up.find(looked_up)).values(), strict=True)
    if plan.blocking:
        is_bad = parsed.text.is_null().to_numpy(zero_copy_only=False)
        columns[_BLOCKING] = read_blocking_keys(block, plan.blocking, is_bad)
    return ListedBlock.of(block, parsed, n_tokens, plan, columns=columns)


def hash_in_parts(
    texts: Texts, tokenizer: Tokenizer, *, with_heads: bool = False
) -> tuple[Int64s, list[TokenLists]]:
    """Return token counts of texts, and tokens in parts."""
    parts = []
    for part in texts.slices(SLICE_BYTES):
        found = tokenizer.hash_with_heads(part) if with_heads else tokenizer.hash_tokens(part)
        # A copy, because the tokenizer's buffer has one slot per byte.
        parts.append(replace(found, values=found.values.copy()))
    sizes = [np.diff(part.offsets) for part in parts]
    return np.concatenate([np.empty(0, np.int64), *sizes]), parts


# Files whose first rows are read to find a column.
_MOST_FILES = 100


def available_columns(sources: Sequence[Source], names: Sequence[str]) -> tuple[str, ...]:
    """Return the ``names`` that sources have, or all if no source has columns."""
    found: set[str] = set()
    is_empty = True
    for source in sources[:_MOST_FILES]:
        block = next(iter(source.blocks()), None)
        header = source.listed_names() if block is None else ()
        if block is not None:
            tables, _ = block.readable_columns(names)
            header = [name for table in tables for name in table.column_names]
        found |= set(header).intersection(names)
        is_empty &= block is None and not header
        if len(found) == len(set(names)):
            break
    return tuple(name for name in names if name in found or is_empty)


def rows_where(sources: Inputs, where: str | None) -> Inputs:
    """Return the rows that meet a condition, all for None."""
    if where is None:
        return sources
    # Conditions need DuckDB, which few runs load.
    from neardup.reading.where import Condition, ConditionFilter, no_column

    condition = Condition(where)
    there = available_columns(sources, condition.columns) if condition.columns else ()
    lacking = next((name for name in condition.columns if name not in there), None)
    if lacking is not None:
        names = {name: None for source in sources for name in source.listed_names()}
        # Without rows, columns are unknown, and there are no rows to filter.
        if names:
            raise InvalidInputError(no_column(lacking, list(names), condition.text))
    return sources.changed(lambda source: with_filter(source, ConditionFilter(condition)))


def with_filter(source: Source, row_filter: Any) -> Source:
    """Return a source with only the rows that a filter chooses."""
    made = copy(source)
    made.row_filter = row_filter
    return made


def describe_filtered(*collections: Sequence[Source]) -> dict[str, Any]:
    """Return a summary's condition and count of excluded rows."""
    filtered = [each for part in collections for each in part if each.row_filter is not None]
    if not filtered:
        return {}
    n_rows, text = 0, ""
    for source in filtered:
        assert source.row_filter is not None
        if source.row_filter.n_others is None:
            for _ in source.blocks():
                pass
        n_rows += source.row_filter.n_others or 0
        text = source.row_filter.condition.text
    return {"where": text, "filtered_rows": n_rows}


def _text_of(values: pa.Array, name: str) -> pa.Array:
    """Return a column's values as text, null for missing.

    Values are equal if their texts are, as 7 of any type and "7"; empty text and NaN are missing.
    """
    if pa.types.is_nested(values.type) or pa.types.is_large_binary(values.type):
        message = (
            f"column {name!r} holds {values.type} values; blocking needs strings, numbers, dates "
            "or truth values"
        )
        raise InvalidInputError(message)
    texts = values.cast(pa.large_string())
    if pa.types.is_floating(values.type):
        # A column of integers becomes floats if some are missing.
        is_whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        whole = pc.if_else(is_whole, values, pa.scalar(None, values.type)).cast(pa.int64())
        texts = pc.coalesce(whole.cast(pa.large_string()), texts)
        texts = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.large_string()), texts)
    is_empty = pc.equal(pc.utf8_trim_whitespace(texts), "")
    return pc.if_else(is_empty, pa.scalar(None, pa.large_string()), texts)


NO_KEY = np.uint64(0)
"""Key of a document without a value, which is not compared."""


def read_blocking_keys(block: RowBlock, columns: Sequence[str], is_bad: Bools) -> Uint64s:
    """Read each row's blocking key, ``NO_KEY`` if incomplete."""
    keys: Uint64s = np.full(len(block), NO_KEY, np.uint64)
    table = block.some_columns(columns, None if not is_bad.any() else ~is_bad)
    if table.num_columns < len(columns):
        return keys
    found: Uint64s = np.zeros(len(table), np.uint64)
    has_all = np.ones(len(table), np.bool_)
    for name in columns:
        values = _text_of(plain_array(table.column(name)), name)
        has_all &= values.is_valid().to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore"):
            found = mix_words(found ^ hash_ids(values))
    keys[~is_bad] = np.where(has_all, np.maximum(found, np.uint64(1)), NO_KEY)
    return keys


_DIGESTS = ("digest_low", "digest_high")
_KEEPER_COLUMNS = [f"index_{field.name}" for field in fields(IndexKeepers)]
_BLOCKING = "blocking_keys"


class SignedBatches:
    """Batches of signed documents of some collections, numbered from 0.

    Columns of a batch: ``numbers`` of rows; ``n_tokens``, which is ``BAD`` for a skipped row and 0
    if tokens are not counted; digests and band keys; filters, without an index or weights; keepers
    in an index, if one was searched; and ``lengths`` in characters, ``order``, ``ids`` and
    ``blocking_keys`` if they are needed. With blocking keys, digests and band keys combine a
    document with its blocking key, so that documents with different ones never match, whatever
    their texts.
    """

    def __init__(self, n_bands: int, collections: Iterable[SpilledBatches] = ()) -> None:
        self.n_bands = n_bands
        self._collections = list(collections)

    def add(self, batches: SpilledBatches) -> None:
        """Add a complete collection."""
        self._collections.append(batches)

    @property
    def of_last(self) -> SignedBatches:
        """Documents of the last collection, numbered from 0."""
        return SignedBatches(self.n_bands, self._collections[-1:])

    @property
    def is_in_memory(self) -> bool:
        """Whether no batch is in a file."""
        return all(batches.is_in_memory for batches in self._collections)

    def __iter__(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield each batch with the number of its first document."""
        start = 0
        for batches in self._collections:
            for batch in batches:
                yield start, batch
                start += batch.num_rows

    def facts(self) -> Iterator[Any]:
        """Yield the facts of each block."""
        return (facts for batches in self._collections for _, facts in batches.with_facts())

    def digests(self) -> Iterator[tuple[int, Digests]]:
        """Yield digests per batch, after its first document number."""
        for start, batch in self:
            yield start, digests_of(batch)

    def blocking_keys(self) -> Uint64s | None:
        """Return blocking keys, 0 for no key, None without blocking."""
        parts = [numbers_of(batch, _BLOCKING) for _, batch in self if _has_keys(batch)]
        return np.concatenate(parts) if parts else None

    def index_keepers(self) -> Iterator[tuple[int, IndexKeepers]]:
        """Yield each batch's keepers in an index, if one was searched."""
        for start, batch in self:
            if _KEEPER_COLUMNS[0] in batch.schema.names:
                columns = (batch.column(name) for name in _KEEPER_COLUMNS)
                # Flags are bits in a batch.
                yield (
                    start,
                    IndexKeepers(*(each.to_numpy(zero_copy_only=False) for each in columns)),
                )


def digests_of(batch: pa.RecordBatch) -> Digests:
    """Return the digests and blocking keys of a batch."""
    pairs = np.column_stack([with_blocking_keys(batch, name) for name in _DIGESTS])
    is_filled = numbers_of(batch, "n_tokens") > 0
    if _has_keys(batch):
        is_filled &= numbers_of(batch, _BLOCKING) != NO_KEY
    return Digests(pairs, is_filled)


def keys_of(batch: pa.RecordBatch, n_bands: int, rows: Int64s | None = None) -> Uint64s:
    """Return the band keys of all or some ``rows`` of a batch."""
    n_documents = len(batch) if rows is None else len(rows)
    keys: Uint64s = np.empty((n_documents, n_bands), np.uint64)
    for band, of_band in enumerate(keys.T):
        values = with_blocking_keys(batch, f"key_{band}")
        of_band[:] = values if rows is None else values[rows]
    return keys


def _has_keys(batch: pa.RecordBatch) -> bool:
    return _BLOCKING in batch.schema.names


def with_blocking_keys(batch: pa.RecordBatch, name: str) -> Uint64s:
    """Return a column of hashes, combined with blocking keys if there are any."""
    values: Uint64s = numbers_of(batch, name)
    return salt(values, numbers_of(batch, _BLOCKING)) if _has_keys(batch) else values


def for_driver(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns that the collecting process needs.

    They have no sketches, and digests only if an index was searched, for adding documents to it.
    """
    is_of_index = _KEEPER_COLUMNS[0] in batch.schema.names
    dropped = ("key_", "filter") if is_of_index else ("key_", "filter", "digest_")
    names = batch.schema.names
    return batch.select([name for name in names if not name.startswith(dropped)])


def numbers_of(batch: pa.RecordBatch, name: str) -> Any:
    """Return a column as an array that shares its memory."""
    return batch.column(name).to_numpy()


def filter_column(filters: Filters) -> pa.Array:
    """Return filters as lists of words."""
    return pa.LargeListArray.from_arrays(pa.array(filters.offsets), pa.array(filters.words))


def take_filters(filters: Filters, rows: Int64s) -> Filters:
    """Return the filters of some documents."""
    taken = filter_column(filters).take(pa.array(rows))
    return Filters(taken.values.to_numpy(), taken.offsets.to_numpy(), filters.sizes[rows])


def filters_of(batch: pa.RecordBatch) -> Filters | None:
    """Return the filters of a batch, if any."""
    if "filter" not in batch.schema.names:
        return None
    column = batch.column("filter")
    offsets: Int64s = column.offsets.to_numpy()
    return Filters(column.values.to_numpy(), offsets, numbers_of(batch, "filter_sizes"))


ListTokens = Callable[[Source, RowBlock], TokenLists]
"""Lists the tokens of the documents of a block."""

TokenCollections = Sequence[tuple[Sequence[Source], ListTokens]]
"""Collections of documents, each with the function that lists its tokens."""


def count_tokens(stage: str, collections: TokenCollections, runner: Runner) -> DocumentFrequencies:
    """Count document frequencies, in 16 bytes per token, and 32 meanwhile."""
    every = [source for sources, _ in collections for source in sources]
    reading = ReadingPass(stage, every, runner)
    return count_documents(
        lists for sources, listing in collections for _, lists in reading.map(listing, sources)
    )


def shingle_collections(
    collections: Sequence[tuple[Sequence[Source], ColumnNames]], plan: ReadingPlan
) -> TokenCollections:
    """Return collections whose shingles are counted, given the columns of each."""
    return [
        (sources, partial(_list_shingles, replace(plan, columns=columns)))
        for sources, columns in collections
    ]


def _list_shingles(plan: ReadingPlan, _: Source, block: RowBlock) -> TokenLists:
    """List a block's shingles for counting, without skipped rows."""
    parsed = block.parse(plan.columns.only_text(), skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text.drop_null(), block.language)
    tokens = plan.shingles.tokenizer.hash_tokens(texts)
    return frequency_lists(tokens, plan.shingles)


def with_frequencies(plan: ReadingPlan, frequencies: DocumentFrequencies) -> ReadingPlan:
    """Return the plan of weighted sets, with document frequencies."""
    assert plan.weighted is not None
    return replace(plan, weighted=replace(plan.weighted, frequencies=frequencies))
