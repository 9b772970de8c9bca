"""The stage sign: turn each document into a digest, band keys and a few numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.files.rows import ColumnNames, ParsedRows, RowBlock, Source
from neardup.matching.measures import Measure
from neardup.matching.sieve import join_filters, make_filters
from neardup.reading.column_values import read_blocking_keys
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import (
    Digests,
    EarlierKeepers,
    Filters,
    Int8s,
    Int64s,
    Texts,
    TokenLists,
    Uint64s,
    is_binary,
)
from neardup.text.shingles import ShingleScheme, digest_token_lists, shingle_lists
from neardup.text.weighting import WeightedScheme, weighted_sets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.matching.bands import Banding

# Plan of reading a collection, and the computed values per document.

# Bytes of text per kernel call, so that tokens and shingles are still in the processor's cache for
# the next stage.
SLICE_BYTES = 1 << 18
# Larger for weighted sketches, because random numbers are drawn once per distinct token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21

# Token count of skipped rows.
BAD = -1


class SignedTexts(Protocol):
    """Lookup keys that an index computes for texts."""

    @property
    def digests(self) -> Uint64s:
        """Digests of the texts, of shape (n, 2)."""

    @property
    def keys(self) -> Uint64s:
        """Band keys of the texts, of shape (n, n_bands)."""

    @property
    def filters(self) -> Filters | None:
        """Filters of the texts; None for weighted sets."""


class LookUp(ABC):
    """Thread-safe lookup in an index while texts are signed."""

    @abstractmethod
    def sign(self, token_lists: TokenLists) -> SignedTexts:
        """Compute the lookup keys of texts."""

    @abstractmethod
    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
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
    look_up: LookUp | None = None
    blocking: tuple[str, ...] = ()

    @property
    def slice_bytes(self) -> int:
        """Bytes of text per kernel call."""
        return WEIGHTED_SLICE_BYTES if self.weighted else SLICE_BYTES

    @property
    def needs_frequencies(self) -> bool:
        """Whether document frequencies must be counted before weighing."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    def for_other(self, columns: ColumnNames) -> ReadingPlan:
        """Return the plan for another collection, without ranks."""
        return replace(self, columns=columns, with_lengths=False)


Collections = Sequence[tuple[Sequence[Source], ReadingPlan]]
"""Collections of documents, each with its plan of reading."""


@dataclass(frozen=True, kw_only=True)
class ListedBlock:
    """A block's documents; arrays have a row per document.

    ``n_tokens`` is ``BAD`` for a skipped row, and 0 if tokens are not counted. ``lengths``, in
    characters, and ``order`` exist if a keep policy needs them. The collecting process keeps
    ``columns``, with an item per document, and ``facts``, plain values of the block; ``rows`` go to
    partitions.
    """

    numbers: Int64s
    n_tokens: Int64s | Int8s
    text_bytes: int
    ids: pa.Array | None
    lengths: Int64s | None
    order: pa.Array | None
    skipped: list[tuple[int, str]]
    columns: Mapping[str, Int64s] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    rows: pa.RecordBatch | None = None


@dataclass(frozen=True, kw_only=True)
class SignedBlock(ListedBlock):
    """Signatures of a block's documents.

    ``keys`` has shape (n_documents, n_bands). There are no ``filters`` without bands or for
    weighted sets, no ``earlier`` keepers without an index, and no ``blocking_keys`` without
    blocking columns.
    """

    digests: Digests
    keys: Uint64s
    filters: Filters | None
    earlier: EarlierKeepers | None
    blocking_keys: Uint64s | None


def list_block(
    block: RowBlock,
    columns: ColumnNames,
    *,
    skip_bad: bool,
    with_lengths: bool = False,
) -> ListedBlock:
    """Parse a block, and compute only the lengths of its texts."""
    parsed = block.parse(columns, skip_bad=skip_bad)
    return listed(block, parsed, np.zeros(len(block), np.int8), with_lengths=with_lengths)


def listed(
    block: RowBlock,
    parsed: ParsedRows,
    n_tokens: Int64s | Int8s,
    *,
    with_lengths: bool = False,
) -> ListedBlock:
    """Return the facts about the documents of a parsed block."""
    is_bad = parsed.text.is_null().to_numpy(zero_copy_only=False)
    offsets = Texts.from_arrow(parsed.text).offsets
    return ListedBlock(
        numbers=block.numbers,
        n_tokens=np.where(is_bad, BAD, n_tokens),
        text_bytes=int(offsets[-1] - offsets[0]),
        ids=parsed.id,
        lengths=text_lengths(parsed.text) if with_lengths else None,
        order=parsed.order,
        skipped=parsed.skipped,
    )


def sign_block(
    block: RowBlock,
    plan: ReadingPlan,
    digest: Callable[[TokenLists], Uint64s] = digest_token_lists,
) -> SignedBlock:
    """Parse a block and compute its documents' token counts, digests and band keys.

    ``digest`` is called with the tokens of all documents, some of these at a time.
    """
    parsed = block.parse(plan.columns, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_documents = len(texts)
    n_tokens = np.empty(n_documents, np.int64)
    digests = np.empty((n_documents, 2), np.uint64)
    n_bands = plan.banding.bands if plan.banding else 0
    keys = np.empty((n_documents, n_bands), np.uint64)
    filters: list[Filters] = []
    looked_up: list[SignedTexts] = []
    start = 0
    for part in texts.slices(plan.slice_bytes):
        token_lists = plan.shingles.tokenizer.hash_tokens(part)
        rows = slice(start, start + len(part))
        n_tokens[rows] = np.diff(token_lists.offsets)
        if plan.look_up is not None:
            signed = plan.look_up.sign(token_lists)
            digests[rows], keys[rows] = signed.digests, signed.keys
            filters += [signed.filters] if signed.filters is not None else []
            looked_up.append(signed)
        else:
            digests[rows] = digest(token_lists)
            if plan.minhash and plan.banding:
                scheme, banding = plan.minhash, plan.banding
                keys[rows], own = sketch_lists(
                    token_lists,
                    plan.shingles,
                    scheme,
                    banding,
                    plan.weighted,
                    plan.filters_for,
                )
                filters += own
        start += len(part)
    is_bad = parsed.text.is_null().to_numpy(zero_copy_only=False)
    n_tokens[is_bad] = BAD
    return SignedBlock(
        numbers=block.numbers,
        n_tokens=n_tokens,
        digests=Digests(digests, n_tokens > 0),
        keys=keys,
        filters=join_filters(filters) if filters else None,
        # All at once, which is much faster than in slices.
        earlier=None if plan.look_up is None else plan.look_up.find(looked_up),
        blocking_keys=read_blocking_keys(block, plan.blocking, is_bad) if plan.blocking else None,
        text_bytes=int(texts.offsets[-1] - texts.offsets[0]),
        lengths=text_lengths(parsed.text) if plan.with_lengths else None,
        ids=parsed.id,
        order=parsed.order,
        skipped=parsed.skipped,
    )


def text_lengths(texts: pa.Array) -> Int64s:
    """Return the lengths of texts in characters or bytes; 0 for null."""
    import pyarrow.compute as pc

    count = pc.binary_length if is_binary(texts.type) else pc.utf8_length
    lengths: Int64s = pc.fill_null(count(texts), 0).to_numpy().astype(np.int64)
    return lengths


def sketch_lists(
    token_lists: TokenLists,
    shingles: ShingleScheme,
    scheme: MinHashScheme,
    banding: Banding,
    weighted: WeightedScheme | None = None,
    filters_for: Measure | None = None,
) -> tuple[Uint64s, list[Filters]]:
    """Return the band keys of documents, and filters for a measure of plain sets."""
    if weighted is None or not isinstance(scheme, WeightedMinHashScheme):
        lists = shingle_lists(token_lists, shingles)
        signatures = minhash_signatures(lists, scheme)
        filters = [make_filters(lists, filters_for)] if filters_for else []
        return band_keys(signatures, banding.bands, banding.rows), filters
    signatures = weighted_signatures(weighted_sets(token_lists, shingles, weighted), scheme)
    return band_keys(signatures, banding.bands, banding.rows), []
