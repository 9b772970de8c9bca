"""Tables between stages: ragged and plain arrays, no per-document objects.

A ragged table holds all values of all documents one after another; ``offsets`` has one more entry
than there are documents, and document d owns ``values[offsets[d] : offsets[d + 1]]``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self, cast, get_args, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Uint64s = npt.NDArray[np.uint64]
Uint32s = npt.NDArray[np.uint32]
Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Int8s = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
AnyArray = npt.NDArray[Any]


def offsets_of(sizes: Sequence[int] | Int64s | Bools) -> Int64s:
    """Return the start of each consecutive list, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def starts_of_runs(values: Int64s | Uint64s) -> Int64s:
    """Return the places where runs of equal values start."""
    is_first = np.ones(len(values), np.bool_)
    is_first[1:] = values[1:] != values[:-1]
    return np.flatnonzero(is_first)


def places_of_lists(starts: Int64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Return value positions of lists and offsets of their concatenation."""
    offsets = offsets_of(sizes)
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1]), offsets


class Rows:
    """Base of dataclasses whose fields are columns of one length."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def take(self, rows: Int64s | Bools | slice) -> Self:
        """Return the rows at positions, in a slice or mask."""
        return type(self)(*(column[rows] for column in vars(self).values()))

    @classmethod
    def of_none(cls) -> Self:
        """Return a table without any rows."""
        return cls(*(np.empty(0, kind) for kind in _types_of(cast("Hashable", cls))))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of all parts in order."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of_none()
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def to_batch(self) -> pa.RecordBatch:
        """Return the rows as an Arrow batch."""
        return pa.RecordBatch.from_pydict(vars(self))

    @classmethod
    def of_batches(cls, batches: Sequence[pa.RecordBatch]) -> Self:
        """Restore rows from batches of ``to_batch``, in order."""
        return cls.joined([cls(*(each.to_numpy() for each in batch.columns)) for batch in batches])


@dataclass(frozen=True)
class CutSpans(Rows):
    """Removed spans of documents, one per row, with their kept copies.

    Starts and stops (exclusive) are tokens or characters of the whole documents. Rows are sorted by
    document and start; spans of a document may overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def parts(self) -> Iterator[Self]:
        """Yield all rows, in parts of whole documents."""
        yield self

    def of_documents(self, documents: slice) -> Self:
        """Return the rows of some consecutive documents."""
        first, last = np.searchsorted(self.documents, [documents.start, documents.stop])
        return self.take(slice(first, last))


@lru_cache
def _types_of(rows: Any) -> list[type]:
    hints = get_type_hints(rows)
    return [get_args(get_args(hints[each.name])[1])[0] for each in fields(rows)]


TEXT_COLUMNS = ("text", "language")
"""Columns of stored texts."""


@dataclass(frozen=True)
class Texts:
    """UTF-8 text of documents in Arrow's memory.

    ``offsets`` are bounds in ``data`` (n + 1).
    ``languages`` are numbers as in ``files.encodings`` (n); None for texts not read from files.
    """

    data: Bytes
    offsets: Int64s
    languages: Bytes | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def from_arrow(cls, strings: pa.Array, languages: Bytes | int | None = None) -> Texts:
        """View Arrow strings as texts, null as empty."""
        if isinstance(languages, int):
            languages = np.full(len(strings), languages, np.uint8)
        strings = with_wide_offsets(strings)
        if strings.null_count:
            strings = strings.fill_null("")
        _, offset_buffer, data_buffer = strings.buffers()
        offsets = np.frombuffer(offset_buffer, np.int64)[
            strings.offset : strings.offset + len(strings) + 1
        ]
        if data_buffer is None or not data_buffer.size:
            return cls(np.zeros(1, np.uint8), offsets, languages)
        return cls(np.frombuffer(data_buffer, np.uint8), offsets, languages)

    def columns(self) -> dict[str, Any]:
        """Return texts with languages as columns for ``of_columns``."""
        return dict(zip(TEXT_COLUMNS, (self.to_arrow(), self.languages), strict=True))

    @classmethod
    def of_columns(cls, batch: pa.RecordBatch) -> Texts:
        """Restore texts from columns of a batch."""
        text, language = TEXT_COLUMNS
        return cls.from_arrow(batch[text], batch[language].to_numpy())

    def to_arrow(self) -> pa.Array:
        """Return an Arrow large_string array that shares the texts' memory."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)

    def parts(self, documents: Int64s, starts: Int64s, stops: Int64s) -> Texts:
        """Return parts of texts from documents and byte positions.

        Parts ascend by document and position, and do not overlap. ``stops`` are exclusive.
        """
        base = self.offsets[documents]
        # Every second piece lies between two parts.
        edges = np.stack([base + starts, base + stops], axis=1).reshape(-1)
        offsets = np.concatenate([[self.offsets[0]], edges, [self.offsets[-1]]])
        pieces = Texts(self.data, offsets.astype(np.int64)).to_arrow()
        taken = pc.take(pieces, pa.array(np.arange(1, len(pieces), 2)))
        return Texts.from_arrow(
            taken, None if self.languages is None else self.languages[documents]
        )

    @classmethod
    def joined(cls, *parts: Texts) -> Texts:
        """Join parts in order if all parts have languages."""
        batches = [pa.RecordBatch.from_pydict(part.columns()) for part in parts]
        return cls.of_columns(pa.concat_batches(batches))

    def slices(self, n_bytes: int) -> list[Texts]:
        """Cut into runs of documents of about ``n_bytes`` each."""
        if self.offsets[-1] - self.offsets[0] <= n_bytes:
            return [self]
        ends = np.arange(self.offsets[0], self.offsets[-1], n_bytes) + n_bytes
        cuts = np.unique(np.searchsorted(self.offsets[:-1], ends))
        bounds = [0, *(int(cut) for cut in cuts if 0 < cut < len(self)), len(self)]
        return [
            Texts(
                self.data,
                self.offsets[start : stop + 1],
                None if self.languages is None else self.languages[start:stop],
            )
            for start, stop in pairwise(bounds)
        ]


def with_wide_offsets(strings: pa.Array) -> pa.Array:
    """Return strings as Arrow's type with wide offsets."""
    return strings.cast(pa.large_string())


@dataclass(frozen=True)
class TokenLists:
    """Hashes of the tokens of each document, in text order.

    ``heads`` are the tokens that begin a character, where that was asked for; empty if all do.
    """

    values: Uint64s
    offsets: Int64s
    heads: Bools = field(default_factory=lambda: np.empty(0, np.bool_))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def starts(self) -> Int64s:
        """Position of the first token of each document."""
        return self.offsets[:-1]

    @property
    def sizes(self) -> Int64s:
        """Number of tokens of each document."""
        return np.diff(self.offsets)

    @property
    def totals(self) -> Int64s:
        """The sizes, as of sets."""
        return self.sizes


@dataclass(frozen=True)
class TokenSpans(Rows):
    """Byte positions of tokens in their texts, ``stops`` exclusive.

    Aligned with ``TokenLists.values``; ``starts`` and ``stops`` of a text never descend. Spans
    overlap only if tokens come from the same characters, or are shingles, and may be equal.
    """

    starts: Int64s
    stops: Int64s


@dataclass(frozen=True)
class Digests:
    """128-bit digests of documents' token sequences, shape (n, 2).

    Documents of equal digests are exact copies of each other, if they have tokens (``is_filled``).
    """

    values: Uint64s
    is_filled: Bools

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class ContentNumbers(Rows):
    """Content number of each document, and first documents of contents.

    Contents are distinct token sequences, numbered from 0 by their first documents. A document
    without tokens has -1.
    """

    numbers: Int64s
    is_first: Bools


@dataclass(frozen=True)
class ShingleLists:
    """Shingle hashes per document, in text order, with repeats."""

    values: Uint64s
    offsets: Int64s

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Filters:
    """Filters with the bits of each document's shingles.

    Document d has ``words[offsets[d] : offsets[d + 1]]``. The number of words is a power of two;
    ``sizes`` are numbers of distinct shingles.
    """

    words: Uint64s
    offsets: Int64s
    sizes: Int64s

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class ShingleSets:
    """Sorted distinct shingle hashes: document d's are ``values[starts[d] :][: sizes[d]]``."""

    values: Uint64s
    starts: Int64s
    sizes: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def totals(self) -> Int64s:
        """The sizes, as every shingle weighs 1."""
        return self.sizes

    def take(self, documents: Int64s) -> ShingleSets:
        """Give the sets of some documents, sharing the values."""
        return ShingleSets(self.values, self.starts[documents], self.sizes[documents])


@dataclass(frozen=True)
class WeightedSets:
    """Sorted distinct shingle hashes of documents with their weights.

    Document d has ``values[starts[d] :][: sizes[d]]``, and ``weights`` at the same positions: whole
    numbers above 0, in units of 2^-20. ``totals`` are their sums, 0 for an empty document.
    """

    values: Uint64s
    weights: Int64s
    starts: Int64s
    sizes: Int64s
    totals: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, documents: Int64s) -> WeightedSets:
        """Give the sets of some documents, sharing values and weights."""
        starts, sizes, totals = (each[documents] for each in (self.starts, self.sizes, self.totals))
        return WeightedSets(self.values, self.weights, starts, sizes, totals)


@dataclass(frozen=True)
class Buckets:
    """Documents that share a band key.

    ``numbers`` (n_bands, n_documents) is each document's bucket in each band, -1 if it has that key
    alone; buckets of different bands differ. ``sizes`` are numbers of documents, at least two.
    """

    numbers: Int32s
    sizes: Int64s


@dataclass(frozen=True)
class KeyLists:
    """Keys that documents share: buckets, or tokens of prefixes.

    Document d is found under ``keys[starts[d] : starts[d + 1]]``, which all differ, and looks for
    others under the first ``n_probed[d]`` of them; ``sizes`` are the numbers of documents per key.
    """

    starts: Int64s
    keys: Int32s
    n_probed: Int64s
    sizes: Int64s


@dataclass(frozen=True)
class ScoredPairs(Rows):
    """Verified pairs of documents in ascending order, and their scores.

    ``scores`` are numbers of common elements, or edits between the two.
    """

    left: Int64s
    right: Int64s
    scores: Int64s

    def ascending(self) -> Int64s:
        """Return the positions of the pairs by left, then right.

        Pairs are distinct, document numbers below 2^31. Integers sort much faster than two columns.
        """
        order: Int64s = np.argsort(self.left * (int(self.right.max(initial=0)) + 1) + self.right)
        return order

    def turned(self) -> ScoredPairs:
        """Give the same pairs with left and right exchanged."""
        return ScoredPairs(self.right, self.left, self.scores)


@dataclass(frozen=True)
class Removals:
    """Removed documents in ascending order with their keepers.

    ``similarities`` are verified. ``n_compared`` pairs were compared exactly, ``n_verified``
    reached the threshold. Only the option ``components`` removes ``n_beyond`` documents.
    """

    documents: Int64s
    keepers: Int64s
    similarities: Floats
    n_compared: int = 0
    n_verified: int = 0
    n_beyond: int = 0

    @classmethod
    def of(
        cls, keepers: Int64s, similarities: Floats, n_compared: int, n_verified: int
    ) -> Removals:
        """Return removals from each document's keeper, negative if it stays."""
        gone = np.flatnonzero(keepers >= 0)
        return cls(gone, keepers[gone], similarities[gone], n_compared, n_verified)

    @classmethod
    def joined(cls, parts: Sequence[Removals]) -> Removals:
        """Return the removals of all parts together."""
        return cls(
            np.concatenate([np.empty(0, np.int64), *(part.documents for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.keepers for part in parts)]),
            np.concatenate([np.empty(0), *(part.similarities for part in parts)]),
            sum(part.n_compared for part in parts),
            sum(part.n_verified for part in parts),
            sum(part.n_beyond for part in parts),
        )

    def renumbered(self, documents: Int64s) -> Removals:
        """Return the removals with positions replaced by ``documents``."""
        return replace(self, documents=documents[self.documents], keepers=documents[self.keepers])

    def as_arrays(self) -> dict[str, AnyArray]:
        """Return the removals as arrays for storage, counts included."""
        return {name: np.atleast_1d(values) for name, values in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Removals:
        """Restore removals from ``as_arrays``."""
        counts = (int(arrays[name][0]) for name in ("n_compared", "n_verified", "n_beyond"))
        return cls(arrays["documents"], arrays["keepers"], arrays["similarities"], *counts)


@dataclass(frozen=True)
class Assignment:
    """Keeper of each document of a collection.

    ``keepers`` is -1 for a document that stays, else the number of its keeper; documents of the
    collection ``against`` are numbered first, of an index only keepers. ``similarities`` are NaN
    for documents that stay. ``exact`` marks exact copies of their keeper.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools

    @property
    def stays(self) -> Bools:
        """Mask of documents that stay."""
        stays: Bools = self.keepers < 0
        return stays

    def without(self, documents: Bools) -> Assignment:
        """Return the assignment with some documents kept."""
        return Assignment(
            np.where(documents, -1, self.keepers),
            np.where(documents, np.nan, self.similarities),
            self.exact & ~documents,
        )


@dataclass(frozen=True)
class IndexKeepers(Rows):
    """Keepers of documents, found in an index.

    ``documents`` are numbers of index documents, -1 for none. ``overlaps`` are common elements of a
    document and its keeper, ``sizes`` elements of the keeper, or their weights. Keepers of exact
    copies (``are_copies``) are final.
    """

    documents: Int64s
    overlaps: Int64s
    sizes: Int64s
    similarities: Floats
    are_copies: Bools

    @classmethod
    def none(cls, n: int) -> IndexKeepers:
        """Return n documents without keepers."""
        keepers, zeros = np.full(n, -1, np.int64), np.zeros(n, np.int64)
        return cls(keepers, zeros, zeros.copy(), np.zeros(n), np.zeros(n, np.bool_))


@dataclass(frozen=True)
class Signatures:
    """MinHash signatures and the number of elements of each set.

    Signatures have the shape (n, num_perm). ``totals`` are the sums of the weights of weighted
    sets, in units of 2^-20; None for plain ones. The row of an empty set is all ones.
    """

    values: Uint32s
    sizes: Int64s
    totals: Int64s | None = None

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class SetSketches:
    """Samples of sets of permuted 64-bit elements.

    Rows ascend without repeats. Row d is a sample of a set with ``sizes[d]`` distinct elements, -1
    if not known exactly; it is the whole set if it has as many values. Values of a modulo sketch
    are multiples of its item in ``moduli``, which is 1 for smallest-s sketches.
    """

    values: Uint64s
    offsets: Int64s
    sizes: Int64s
    moduli: Int64s

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Estimates(Rows):
    """Share estimates with standard errors and 95 % intervals.

    An estimate rests on ``n_samples`` elements; without any the value is NaN. Where low equals
    high, the whole sets were seen and the value is exact.
    """

    values: Floats
    errors: Floats
    low: Floats
    high: Floats
    n_samples: Int64s

    def is_usable(self, min_samples: int = 20) -> Bools:
        """Return a mask of exact or sufficiently sampled estimates."""
        usable: Bools = (self.n_samples >= min_samples) | (self.low == self.high)
        return usable

    def where(self, chosen: Bools, others: Estimates) -> Estimates:
        """Return these estimates if chosen, otherwise the other estimates."""
        columns = zip(vars(self).values(), vars(others).values(), strict=True)
        return Estimates(*(np.where(chosen, own, other) for own, other in columns))


@dataclass(frozen=True)
class GreedyClusters:
    """Cluster of each document and representative of each cluster.

    Clusters are numbered from 0 in the order of their representatives, which are first members.
    """

    clusters: Int64s
    representatives: Int64s

    def __len__(self) -> int:
        return len(self.representatives)


@dataclass(frozen=True)
class EditSignatures:
    """Symbols of the windows of each text, in text order.

    ``lengths`` are in characters.
    """

    symbols: Uint32s
    offsets: Int64s
    lengths: Int64s

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class EditEstimates(Rows):
    """Estimated edit distances of text pairs with intervals and significances.

    Distances are in characters, and between ``low`` and ``high`` in 95 of 100 cases.
    ``significances`` are symbols by which the signatures of a pair are nearer than unrelated
    ones. A pair that is not ``is_usable`` has too few symbols: its distance and significance are
    NaN, and only the lengths bound its interval.
    """

    distances: Floats
    low: Floats
    high: Floats
    significances: Floats
    is_usable: Bools


def cut_runs(sizes: Int64s, n_elements: int) -> Iterator[tuple[int, int]]:
    """Cut items into runs of about ``n_elements`` elements, given their sizes."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + n_elements, side="right")))
        yield start, stop
        start = stop
