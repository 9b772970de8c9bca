"""First pass over a collection: what documents there are, and what each looks like in brief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import join_order_columns
from neardup.errors import InvalidInputError
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.contents import ContentTable
from neardup.runtime.progress import Progress
from neardup.runtime.threads import map_ordered
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import Int64s, Texts, TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme, digest_token_lists, shingle_lists
from neardup.text.weighted_sets import WeightedScheme, frequency_lists, weighted_sets
from neardup.text.weighting import DocumentFrequencies, count_documents

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.matching.bands import Banding

# Texts go through the kernels in slices of about so many bytes, so that tokens and shingles are
# still in the processor's cache when the next stage reads them.
SLICE_BYTES = 1 << 17
# For weighted sketches larger ones, because numbers are drawn once for each token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21


@dataclass(frozen=True)
class ReadingPlan:
    """All that turns the rows of a block into numbers.

    Without ``minhash`` and ``banding`` there are no band keys; exact joins need none. With
    ``weighted`` documents are weighted sets, and ``minhash`` is of their kind.
    """

    columns: ColumnNames
    shingles: ShingleScheme
    minhash: MinHashScheme | None = None
    banding: Banding | None = None
    skip_bad: bool = False
    with_lengths: bool = False
    weighted: WeightedScheme | None = None

    def without_order(self) -> ReadingPlan:
        """Give the same plan for documents that are not ranked by a keep policy."""
        return replace(self, columns=replace(self.columns, order=None), with_lengths=False)


@dataclass(frozen=True)
class SignedBlock:
    """What is remembered of a block's documents; arrays have a row for each."""

    numbers: Int64s
    n_tokens: Int64s
    digests: Uint64s
    keys: Uint64s
    text_bytes: int
    lengths: Int64s | None
    ids: pa.Array | None
    order: pa.Array | None
    skipped: list[tuple[int, str]]


@dataclass
class Catalogue:
    """The documents of some sources, in input order.

    ``numbers`` are row numbers within the sources, ``source_starts`` (n_sources + 1) where each
    source's documents start. ``contents`` gives each document's content number, -1 for an empty or
    skipped one. ``n_tokens`` has -1 for a skipped row.
    """

    sources: Sequence[Source]
    source_starts: Int64s
    numbers: Int64s
    n_tokens: Int64s
    contents: Int64s
    lengths: Int64s | None
    ids: pa.Array | None
    order: pa.Array | None
    text_bytes: int
    skipped: list[tuple[str, int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.numbers)

    def document_ids(self) -> pa.Array:
        """Give all ids as strings: the user's, or ``<source name>:<row number>``."""
        import pyarrow as pa

        if self.ids is not None:
            return self.ids
        parts = [
            source.default_ids(self.numbers[start:stop]) for source, start, stop in self.ranges()
        ]
        return pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())

    def document_files(self) -> pa.Array:
        """Give the name of each document's source, dictionary-encoded."""
        import pyarrow as pa

        counts = np.diff(self.source_starts)
        indices = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        names = pa.array([source.name for source in self.sources], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(indices), names)

    def ranges(self) -> Iterator[tuple[Source, int, int]]:
        """Give each source with the first of its documents' numbers and the one after the last."""
        for i, source in enumerate(self.sources):
            yield source, int(self.source_starts[i]), int(self.source_starts[i + 1])


def read_catalogue(
    sources: Sequence[Source],
    plan: ReadingPlan,
    contents: ContentTable,
    keys: list[Uint64s],
    *,
    workers: int,
    progress: Progress,
) -> Catalogue:
    """Read all documents once; number their contents and append the band keys of new ones.

    ``keys`` receives arrays of shape (n new contents, n_bands), in order of content numbers.

    Raises
    ------
    InvalidInputError
        For a bad row, unless the plan skips those, and for a repeated id.
    ReadError
        If a file cannot be read.
    """
    sketches: list[SignedBlock] = []
    content_parts: list[Int64s] = []
    source_starts = np.zeros(len(sources) + 1, np.int64)
    skipped: list[tuple[str, int, str]] = []
    done = 0
    blocks = ((i, block) for i, source in enumerate(sources) for block in source.blocks())
    for i, sketch in map_ordered(
        lambda item: (item[0], sign_block(item[1], plan)), blocks, workers
    ):
        before = contents.size
        numbers = contents.number(sketch.digests, sketch.n_tokens > 0)
        # New contents are numbered as they come: a row that tops all before it shows one first.
        highest = np.maximum.accumulate(np.concatenate([[before - 1], numbers]))
        keys.append(sketch.keys[numbers > highest[:-1]])
        content_parts.append(numbers)
        skipped.extend((sources[i].name, row, reason) for row, reason in sketch.skipped)
        # What is kept of a block: small arrays, not its keys and digests.
        sketches.append(_without_sketch(sketch))
        source_starts[i + 1 :] += len(numbers)
        done += len(numbers)
        progress("read", done, None)
    catalogue = Catalogue(
        sources=sources,
        source_starts=source_starts,
        numbers=_join([s.numbers for s in sketches]),
        n_tokens=_join([s.n_tokens for s in sketches]),
        contents=_join(content_parts),
        lengths=_join([s.lengths for s in sketches if s.lengths is not None])
        if plan.with_lengths
        else None,
        ids=_join_ids([s.ids for s in sketches if s.ids is not None]) if plan.columns.id else None,
        order=join_order_columns(
            [s.order for s in sketches if s.order is not None], plan.columns.order
        )
        if plan.columns.order
        else None,
        text_bytes=sum(s.text_bytes for s in sketches),
        skipped=skipped,
    )
    if catalogue.ids is not None:
        _check_unique(catalogue, catalogue.ids)
    return catalogue


def sign_block(block: RowBlock, plan: ReadingPlan) -> SignedBlock:
    """Parse a block and work out its documents' token counts, digests and band keys."""
    import pyarrow.compute as pc

    parsed = block.parse(plan.columns, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text)
    n_documents = len(texts)
    n_tokens = np.empty(n_documents, np.int64)
    digests = np.empty((n_documents, 2), np.uint64)
    n_bands = plan.banding.bands if plan.banding else 0
    keys = np.empty((n_documents, n_bands), np.uint64)
    start = 0
    for part in texts.slices(WEIGHTED_SLICE_BYTES if plan.weighted else SLICE_BYTES):
        token_lists = plan.shingles.tokenizer.hash_tokens(part)
        rows = slice(start, start + len(part))
        n_tokens[rows] = np.diff(token_lists.offsets)
        digests[rows] = digest_token_lists(token_lists)
        if plan.minhash and plan.banding:
            keys[rows] = _band_keys(token_lists, digests[rows], plan, plan.minhash, plan.banding)
        start += len(part)
    if parsed.text.null_count:
        n_tokens[parsed.text.is_null().to_numpy(zero_copy_only=False)] = -1
    lengths = None
    if plan.with_lengths:
        lengths = pc.fill_null(pc.utf8_length(parsed.text), 0).to_numpy().astype(np.int64)
    return SignedBlock(
        numbers=block.numbers,
        n_tokens=n_tokens,
        digests=digests,
        keys=keys,
        text_bytes=int(texts.offsets[-1] - texts.offsets[0]),
        lengths=lengths,
        ids=parsed.id,
        order=parsed.order,
        skipped=parsed.skipped,
    )


def _band_keys(
    token_lists: TokenLists,
    digests: Uint64s,
    plan: ReadingPlan,
    scheme: MinHashScheme,
    banding: Banding,
) -> Uint64s:
    if plan.weighted is None or not isinstance(scheme, WeightedMinHashScheme):
        signatures = minhash_signatures(shingle_lists(token_lists, plan.shingles), scheme)
        return band_keys(signatures, banding.bands, banding.rows)
    sets = weighted_sets(token_lists, plan.shingles, plan.weighted)
    keys = band_keys(weighted_signatures(sets, scheme), banding.bands, banding.rows)
    # What weighs nothing is similar to nothing, so it should meet nothing but its copies.
    weightless = sets.totals == 0
    keys[weightless] = digests[weightless, :1]
    return keys


def count_shingles(
    collections: Sequence[Sequence[Source]],
    plan: ReadingPlan,
    *,
    workers: int,
    progress: Progress,
) -> DocumentFrequencies:
    """Read all documents of some collections and count in how many of them each shingle is.

    Notes
    -----
    Memory 16 bytes for each different shingle, and about twice that while it works.
    """

    def lists_of(block: RowBlock) -> TokenLists:
        parsed = block.parse(ColumnNames(plan.columns.text), skip_bad=plan.skip_bad)
        texts = parsed.text.drop_null()
        return frequency_lists(
            plan.shingles.tokenizer.hash_tokens(Texts.from_arrow(texts)), plan.shingles
        )

    def counted() -> Iterator[TokenLists]:
        done = 0
        blocks = (block for sources in collections for s in sources for block in s.blocks())
        for lists in map_ordered(lists_of, blocks, workers):
            done += len(lists)
            progress("count", done, None)
            yield lists

    return count_documents(counted())


def _without_sketch(sketch: SignedBlock) -> SignedBlock:
    nothing: Uint64s = np.empty((0, 0), np.uint64)
    return replace(sketch, digests=nothing, keys=nothing)


def _join(parts: list[Int64s]) -> Int64s:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _join_ids(parts: list[pa.Array]) -> pa.Array:
    import pyarrow as pa

    if not parts:
        return pa.array([], pa.large_string())
    return pa.concat_arrays([part.cast(pa.large_string()) for part in parts])


def _check_unique(catalogue: Catalogue, ids: pa.Array) -> None:
    """Raise if an id comes twice, naming both rows."""
    import pyarrow.compute as pc

    if pc.count_distinct(ids, mode="only_valid").as_py() == len(ids) - ids.null_count:
        return
    seen: dict[str, int] = {}
    for i, identifier in enumerate(ids.to_pylist()):
        if identifier is None:
            continue
        if identifier in seen:
            first = seen[identifier]
            message = (
                f"id {identifier!r} was used before, in {_place(catalogue, first)}; ids must differ"
            )
            source = int(np.searchsorted(catalogue.source_starts, i, side="right")) - 1
            raise InvalidInputError(
                message, path=catalogue.sources[source].name, row=int(catalogue.numbers[i])
            )
        seen[identifier] = i


def _place(catalogue: Catalogue, document: int) -> str:
    source = int(np.searchsorted(catalogue.source_starts, document, side="right")) - 1
    return f"{catalogue.sources[source].name}, row {int(catalogue.numbers[document])}"
