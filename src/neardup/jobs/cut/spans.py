"""Spans to cut, per block and for the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Change, TaskRows
from neardup.files.cuts import Cuts
from neardup.files.rows import RowBlock
from neardup.jobs.cut.cut_plan import CutJobPlan
from neardup.passages.passage_matches import group_overlapping
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import read_texts
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, CutSpans, Int64s, Texts


class Spans(Protocol):
    """Interface of spans to cut, in memory or in files."""

    def __len__(self) -> int: ...

    def parts(self) -> Iterator[CutSpans]:
        """Yield rows by document and start, splitting no document."""
        ...

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        ...


def join_spans(spans: CutSpans) -> tuple[Int64s, Int64s, Int64s]:
    """Join spans that overlap or adjoin, and return documents, starts and stops."""
    if not len(spans):
        return spans.documents, spans.starts, spans.stops
    # Offset the positions of each document by more than any text's length.
    room = int(spans.stops.max()) + 2
    base = spans.documents * room
    starts, stops = base + spans.starts, base + spans.stops
    reached = np.maximum.accumulate(stops)
    heads = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]]))
    ends = reached[np.append(heads[1:], len(starts)) - 1]
    documents = spans.documents[heads]
    return documents, starts[heads] - documents * room, ends - documents * room


def take_out(
    columns: tuple[str, ...], replacement: str, spans: Spans, block: RowBlock, rows: slice
) -> RowBlock:
    """Cut spans from the texts of a block in ``columns``."""
    documents, starts, stops = join_spans(spans.of_documents(rows))
    if not len(documents):
        return block
    return block.with_cuts(Cuts(columns, documents - rows.start, starts, stops, replacement))


def spans_in(spans: Spans, documents: slice) -> pa.RecordBatch:
    """Return the spans of some consecutive documents as a batch."""
    return spans.of_documents(documents).to_batch()


def _gather(batches: Iterator[pa.RecordBatch], _: Workspace) -> CutSpans:
    return CutSpans.of_batches(list(batches))


def change_of(
    own: Catalogue,
    spans: Spans,
    plan: CutJobPlan,
    gather: Callable[[Iterator[pa.RecordBatch], Workspace], Spans] = _gather,
    rows: TaskRows | None = None,
) -> Change:
    """Return the change that cuts spans, with ``gather`` and ``rows`` as of ``Change``."""
    apply = partial(take_out, own.columns.texts, plan.options.replacement)
    return Change(spans, apply, gather, spans_in, rows)


class Extent(NamedTuple):
    """Amount of cuts: affected documents, and total characters.

    ``keepers`` are the documents with kept copies, ascending, numbered in both collections.
    """

    documents: int
    characters: int
    keepers: Int64s

    @classmethod
    def of(cls, spans: Spans, n_documents: int) -> Extent:
        """Sum over all parts, given the size of both collections."""
        n_cut = n_characters = 0
        have: Bools = np.zeros(n_documents, np.bool_)
        for part in spans.parts():
            documents, starts, stops = join_spans(part)
            n_cut += len(np.unique(documents))
            n_characters += int((stops - starts).sum())
            have[part.kept_documents] = True
        return cls(n_cut, n_characters, np.flatnonzero(have))


# Number of listed passages, and maximum characters of each text.
_LISTED, _EXCERPT = 20, 200


class Repeated(NamedTuple):
    """A repeated passage: its copies, their documents, and their characters.

    All copies are of one kept passage. ``document``, ``start`` and ``stop`` are of the first copy.
    """

    copies: int
    documents: int
    characters: int
    document: int
    start: int
    stop: int

    @staticmethod
    def most(found: Iterable[Repeated]) -> list[Repeated]:
        """Return the most repeated texts, ties by length, then order."""
        return nsmallest(
            _LISTED,
            found,
            key=lambda each: (-each.copies, -each.characters, each.document, each.start),
        )


@dataclass(frozen=True)
class FoundSpans:
    """Spans to cut from ``own``, with copies in either collection.

    ``change`` cuts the spans, and ``change.gathered`` are these spans, as of ``Spans``. ``most``
    are the most repeated ones, None if not counted.
    """

    other: Catalogue
    own: Catalogue
    change: Change
    most: list[Repeated] | None = None


def count_documents(groups: Int64s, documents: Int64s, n_groups: int) -> Int64s:
    """Count the distinct documents of groups, given their member rows."""
    order = np.lexsort((documents, groups))
    groups, documents = groups[order], documents[order]
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
    counts: Int64s = np.bincount(groups[is_new], minlength=n_groups)
    return counts


def count_repeated(spans: CutSpans, groups: Int64s) -> list[Repeated]:
    """Return the most repeated spans, given each kept copy's group."""
    if not len(spans):
        return []
    counts = np.bincount(groups)
    sizes = np.bincount(groups, spans.stops - spans.starts).astype(np.int64)
    first_rows = np.full(len(counts), len(spans), np.int64)
    first_rows[groups[::-1]] = np.arange(len(spans))[::-1]
    # Ties at the last listed count are broken by text and position.
    least = np.partition(counts, -_LISTED)[-_LISTED] if len(counts) > _LISTED else 1
    most = np.flatnonzero(counts >= max(1, least))
    most = most[np.lexsort((first_rows[most], -sizes[most], -counts[most]))][:_LISTED]
    places = np.full(len(counts), -1, np.int64)
    places[most] = np.arange(len(most))
    rows = np.flatnonzero(places[groups] >= 0)
    n_documents = count_documents(places[groups[rows]], spans.documents[rows], len(most))
    first = spans.take(first_rows[most])
    columns = (counts[most], n_documents, sizes[most], first.documents, first.starts, first.stops)
    return [Repeated(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


def most_repeated(spans: CutSpans) -> list[Repeated]:
    """Return the most frequently cut passages, joining overlapping kept passages."""
    groups = group_overlapping(spans.kept_documents, spans.kept_starts, spans.kept_stops)
    return count_repeated(spans, groups)


def describe_repeated(
    own: Catalogue, found: Sequence[Repeated], plan: CutJobPlan, runner: Runner
) -> list[dict[str, Any]]:
    """Describe passages, with the start of the first removed copy."""
    described: list[dict[str, Any]] = [
        {
            "copies": each.copies,
            "documents": each.documents,
            "characters": each.characters,
            "text": "",
        }
        for each in found
    ]
    documents, places_of = np.unique(
        np.array([each.document for each in found], np.int64), return_inverse=True
    )
    wanted: Int64s = np.full(len(own), -1, np.int64)
    wanted[documents] = np.arange(len(documents))

    def take(texts: Texts, places: Int64s, _: str) -> None:
        strings = texts.to_arrow()
        for k, place in enumerate(places.tolist()):
            text = strings[k].as_py()
            for number in np.flatnonzero(places_of == place).tolist():
                start, stop = found[number].start, found[number].stop
                described[number]["text"] = text[start : min(stop, start + _EXCERPT)]

    if found:
        for _ in read_texts([own], wanted, plan.reading, runner, take):
            pass
    return described
