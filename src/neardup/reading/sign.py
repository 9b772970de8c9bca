"""The stage sign: each document as a digest, band keys and a few numbers."""

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

# How the documents of a collection are read, and what is worked out of each.

# Texts go through the kernels in slices of about so many bytes, so that tokens and shingles are
# still in the processor's cache when the next stage reads them.
SLICE_BYTES = 1 << 18
# For weighted sketches larger ones, because numbers are drawn once for each token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21

# In place of a number of tokens, of rows that are skipped.
BAD = -1


class SignedTexts(Protocol):
    """What an index works out of some texts."""

    @property
    def digests(self) -> Uint64s:
        """Their digests, of shape (n, 2)."""

    @property
    def keys(self) -> Uint64s:
        """Their band keys, of shape (n, n_bands)."""

    @property
    def filters(self) -> Filters | None:
        """Their filters; None of weighted sets."""


class LookUp(ABC):
    """An index in which texts are looked up while they are signed, by any number of threads."""

    @abstractmethod
    def sign(self, token_lists: TokenLists) -> SignedTexts:
        """Work out of some texts what the index looks up."""

    @abstractmethod
    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find what texts go for, of all runs that ``sign`` has signed one behind the other."""


@dataclass(frozen=True)
class ReadingPlan:
    """All that turns the rows of a block into numbers.

    Without ``minhash`` and ``banding`` there are no band keys; exact joins need none. With
    ``weighted`` documents are weighted sets, and ``minhash`` is of their kind. Filters are
    made for the measure ``filters_for``, of plain sets. With ``look_up`` an index works out
    digests, keys and filters, and looks each text up. Documents of different values in a column of
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
        """Bytes of text that go through the kernels together."""
        return WEIGHTED_SLICE_BYTES if self.weighted else SLICE_BYTES

    @property
    def needs_frequencies(self) -> bool:
        """Whether documents have to be counted before anything can be weighed."""
        return self.weighted is not None and self.weighted.lacks_frequencies

    def for_other(self, columns: ColumnNames) -> ReadingPlan:
        """Return the same plan for another collection, which is not ranked."""
        return replace(self, columns=columns, with_lengths=False)


Collections = Sequence[tuple[Sequence[Source], ReadingPlan]]
"""Collections of documents, each with how it is read."""


@dataclass(frozen=True, kw_only=True)
class ListedBlock:
    """A block's documents; arrays have a row for each.

    ``n_tokens`` is ``BAD`` for a skipped row, and 0 where tokens are not looked at. ``lengths``, in
    characters, and ``order`` are there where a keep policy needs them. The process that collects
    keeps ``columns``, with an item for each document, and ``facts``, plain values of the block;
    ``rows`` go to partitions.
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
    """What is worked out of a block's documents.

    ``keys`` has shape (n_documents, n_bands). There are no ``filters`` without bands, and none of
    weighted sets; no ``earlier`` keepers without an index; and no ``blocking_keys`` where no column
    restricts what is compared.
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
    """Parse a block, of whose texts nothing is worked out but their lengths."""
    parsed = block.parse(columns, skip_bad=skip_bad)
    return listed(block, parsed, np.zeros(len(block), np.int8), with_lengths=with_lengths)


def listed(
    block: RowBlock,
    parsed: ParsedRows,
    n_tokens: Int64s | Int8s,
    *,
    with_lengths: bool = False,
) -> ListedBlock:
    """Return what stays known of the documents of a block that has been parsed."""
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
    """Parse a block and work out its documents' token counts, digests and band keys.

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
        # All at once, which takes much less time than some at a time.
        earlier=None if plan.look_up is None else plan.look_up.find(looked_up),
        blocking_keys=read_blocking_keys(block, plan.blocking, is_bad) if plan.blocking else None,
        text_bytes=int(texts.offsets[-1] - texts.offsets[0]),
        lengths=text_lengths(parsed.text) if plan.with_lengths else None,
        ids=parsed.id,
        order=parsed.order,
        skipped=parsed.skipped,
    )


def text_lengths(texts: pa.Array) -> Int64s:
    """Return the lengths of texts in characters, or of bytes; a null has none."""
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
