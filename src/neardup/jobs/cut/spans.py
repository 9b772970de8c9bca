"""Spans to cut from texts, each with its kept copy."""

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
    """Spans to cut, each with a kept copy; arrays have a row per span.

    ``documents`` are numbered in the collection that is cut; ``kept_documents`` in both, the other
    collection first. Starts and stops (exclusive) are characters of the whole texts. Rows are
    sorted by document and start; spans of a document may overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def order(self) -> Int64s:
        """Return the sort order by document, start and stop, then by kept copy."""
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
    """Interface of spans to cut: ``CutSpans``, or spans partly in files."""

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
    """Disjoint cuts of texts, which do not adjoin, by document and start.

    ``documents``, ``starts`` and ``stops`` as of ``CutSpans``.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s

    @property
    def n_characters(self) -> int:
        """Total characters of the cuts."""
        return int((self.stops - self.starts).sum())


def merge_spans(spans: CutSpans) -> Gaps:
    """Join spans that overlap or adjoin."""
    if not len(spans):
        return Gaps(spans.documents, spans.starts, spans.stops)
    # Offset the positions of each document by more than any text's length.
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
    """Cut spans from the texts of a block in ``columns``; ``rows`` are its documents.

    Spans use the same document numbers.
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
    """Amount of cuts: spans, affected documents, and total characters.

    ``keepers`` are the documents with kept copies, ascending, numbered in both collections.
    """

    spans: int
    documents: int
    characters: int
    keepers: Int64s

    @classmethod
    def of(cls, spans: Spans, n_documents: int) -> Extent:
        """Sum over all parts, given the number of documents of both collections."""
        n_cut = n_characters = 0
        have: Bools = np.zeros(n_documents, np.bool_)
        for part in spans.parts():
            gaps = merge_spans(part)
            n_cut += len(np.unique(gaps.documents))
            n_characters += gaps.n_characters
            have[part.kept_documents] = True
        return cls(len(spans), n_cut, n_characters, np.flatnonzero(have))


def count_documents(groups: Int64s, documents: Int64s, n_groups: int) -> Int64s:
    """Count the distinct documents of each group, given a row per member."""
    order = np.lexsort((documents, groups))
    groups, documents = groups[order], documents[order]
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
    counts: Int64s = np.bincount(groups[is_new], minlength=n_groups)
    return counts


def read_collections(
    sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> list[tuple[Sequence[Source], ReadingPlan]]:
    """Return both collections with their reading plans, the other one first."""
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
