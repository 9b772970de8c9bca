"""What is cut out of the texts of a collection: spans, each for a span that stays somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from neardup.files.cuts import Cuts
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.plan import CutJobPlan
from neardup.matching.keep import KeepPolicy
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import ReadingPlan
from neardup.stages.options import other_columns_of
from neardup.tables import Bools, Floats, Int64s, Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace


@dataclass(frozen=True)
class CutSpans(Rows):
    """Spans that go, each for one that stays; arrays have a row for each.

    ``documents`` are numbered in the collection that is cut; ``kept_documents`` in both, those of
    the other collection first. Starts and stops (exclusive) are characters of the whole texts. Rows
    are by document and start; spans of a document may overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def order(self) -> Int64s:
        """Return the places of the rows by document, start and stop, then by what stays."""
        keys = (self.kept_starts, self.kept_documents, self.stops, self.starts, self.documents)
        return np.lexsort(keys)

    def in_order(self) -> CutSpans:
        """Return the rows in ``order``."""
        return self.take(self.order())

    def parts(self) -> Iterator[CutSpans]:
        """Yield all rows, in parts of whole documents."""
        yield self

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        first, last = np.searchsorted(self.documents, [documents.start, documents.stop])
        return self.take(slice(first, last))


class Spans(Protocol):
    """Spans that go, wherever they are: ``CutSpans``, or some that are not all in memory."""

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def parts(self) -> Iterator[CutSpans]:
        """Yield all rows by document and start, in parts of whole documents."""
        ...

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        ...


@dataclass(frozen=True)
class Gaps(Rows):
    """What goes out of texts in all: spans that neither overlap nor adjoin, by document and start.

    ``documents``, ``starts`` and ``stops`` as of ``CutSpans``.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s

    @property
    def n_characters(self) -> int:
        """How much text goes."""
        return int((self.stops - self.starts).sum())


def merge_spans(spans: CutSpans) -> Gaps:
    """Put spans together that overlap or adjoin."""
    if not len(spans):
        return Gaps(spans.documents, spans.starts, spans.stops)
    # Each document has a stretch of numbers of its own, longer than any text.
    room = int(spans.stops.max()) + 2
    base = spans.documents * room
    starts, stops = base + spans.starts, base + spans.stops
    reached = np.maximum.accumulate(stops)
    heads = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]]))
    ends = reached[np.append(heads[1:], len(starts)) - 1]
    documents = spans.documents[heads]
    return Gaps(documents, starts[heads] - documents * room, ends - documents * room)


def take_out(
    columns: tuple[str, ...], replacement: str, spans: Spans, block: RowBlock, rows: slice
) -> RowBlock:
    """Cut spans out of the texts of a block, which are in ``columns``; ``rows`` are its documents.

    Spans are of these documents, by the same numbers.
    """
    gaps = merge_spans(spans.of_documents(rows))
    if not len(gaps):
        return block
    documents = gaps.documents - rows.start
    return block.with_cuts(Cuts(columns, documents, gaps.starts, gaps.stops, replacement))


def spans_in(spans: Spans, documents: slice) -> pa.RecordBatch:
    """Return the spans of some consecutive documents as a batch."""
    return spans.of_documents(documents).to_batch()


def join_spans(batches: Iterator[pa.RecordBatch], _: Workspace) -> CutSpans:
    """Return the spans of some batches."""
    return CutSpans.of_batches(list(batches))


@dataclass(frozen=True)
class Extent:
    """How much goes: spans, documents that lose some, characters that go out of these in all.

    ``keepers`` are the documents that have what stays, numbered in both collections, ascending.
    """

    spans: int
    documents: int
    characters: int
    keepers: Int64s

    @classmethod
    def of(cls, spans: Spans, n_documents: int) -> Extent:
        """Count what goes, one part after the other, of so many documents of both collections."""
        n_cut = n_characters = 0
        have: Bools = np.zeros(n_documents, np.bool_)
        for part in spans.parts():
            gaps = merge_spans(part)
            n_cut += len(np.unique(gaps.documents))
            n_characters += gaps.n_characters
            have[part.kept_documents] = True
        return cls(len(spans), n_cut, n_characters, np.flatnonzero(have))


def count_documents(groups: Int64s, documents: Int64s, n_groups: int) -> Int64s:
    """Count the different documents of each of some groups, given a row for each member."""
    order = np.lexsort((documents, groups))
    groups, documents = groups[order], documents[order]
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
    counts: Int64s = np.bincount(groups[is_new], minlength=n_groups)
    return counts


def read_collections(
    sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> list[tuple[Sequence[Source], ReadingPlan]]:
    """Return both collections, each with how it is read, the other one first."""
    other = plan.reading.for_other(other_columns_of(plan.options))
    return [(against, other), (sources, plan.reading)]


def keep_order(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the documents of a collection in the order of a policy."""
    return np.ascontiguousarray(keep.order(len(own), own.lengths, own.order), np.int64)


def keep_ranks(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the place of each document of a collection in the order of a policy."""
    ranks: Int64s = np.empty(len(own), np.int64)
    ranks[keep_order(own, keep)] = np.arange(len(own))
    return ranks
