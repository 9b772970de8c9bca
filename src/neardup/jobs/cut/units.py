"""Paragraphs and lines of texts; similar ones go as documents go, each for one that stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.files.parquetwriter import TableWriter
from neardup.files.rows import ColumnNames, RowBlock, RowWriter, Source
from neardup.files.tableblocks import TableBlock
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, both_collections, count_documents, keep_ranks
from neardup.kernels.text import tokens
from neardup.matching.keep import KeepPolicy
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.token_pass import hash_tokens, take_texts
from neardup.runs.arrays import GrowingArray
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.stages.contents import find_contents, sign_documents
from neardup.stages.decide import Assignment, assign, choose_by_buckets
from neardup.tables import Int64s, Texts, TokenLists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.streams import Destination

# Texts in units that are compared whole: lines, or paragraphs.

Unit = Literal["paragraphs", "lines"]

_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True)
class Units:
    """Some units of texts, by text and place; all arrays (n,), places in bytes of the text.

    Parameters
    ----------
    documents
        The number of the text that each is in.
    starts, stops
        What the unit is, stops exclusive: without the end of its last line.
    ends
        Where the next unit may start: behind the end of the line, and blank lines behind a
        paragraph.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.documents)


def split_units(texts: pa.Array, unit: Unit) -> Units:
    r"""Find the units of texts.

    A line ends with ``\n``, ``\r\n`` or ``\r``. Blank lines, those of white space alone, are no
    lines here, and part paragraphs; blank lines in front of the first are of none.

    Parameters
    ----------
    texts
        An array of strings; a null has no units.
    unit
        Which units.
    """
    found = Texts.from_arrow(texts)
    data = found.data[int(found.offsets[0]) : int(found.offsets[-1])]
    n_most = sum(int(np.count_nonzero(data == byte)) for byte in (_NEWLINE, _RETURN)) + len(found)
    documents, starts, stops, ends = (np.empty(n_most, np.int64) for _ in range(4))
    count = tokens.find_units(
        found.data, found.offsets, int(unit == "paragraphs"), documents, starts, stops, ends
    )
    # Copies, for most line ends may be of blank lines.
    return Units(*(array[:count].copy() for array in (documents, starts, stops, ends)))


# The share of the memory for the places of units.
_LISTED_SHARE = 0.2

_TEXT, _RANK = "text", "rank"
# Units of one document have its rank, so that they stand in the order of the text.
_BY_RANK = KeepPolicy("min", _RANK)


@dataclass(frozen=True)
class ListedUnits:
    """Units of the documents of a collection, by document and place.

    ``first_bytes`` and ``last_bytes`` (exclusive) are bytes of the text, ``starts`` and ``stops``
    characters; ``ends`` those behind the end of the line, where the next unit begins.
    """

    documents: Int64s
    first_bytes: Int64s
    last_bytes: Int64s
    starts: Int64s
    stops: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.documents)

    def range_of(self, documents: slice) -> slice:
        """Return which units are of some consecutive documents."""
        bounds = np.searchsorted(self.documents, [documents.start, documents.stop])
        return slice(int(bounds[0]), int(bounds[1]))


def cut_units(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[Catalogue, Catalogue, CutSpans]:
    """Find the similar paragraphs or lines that go; returns both collections, the other one first.

    Memory: some 100 bytes a unit, beside what fits into the budget.
    """
    collections = both_collections(sources, against, plan)
    with runner.stage("read") as note:
        (other, own), listed = _list_units(collections, plan, workspace, runner)
        note(documents=len(own), units=sum(map(len, listed)))
    with runner.stage("cut") as note:
        ranks = keep_ranks(own, plan.keep)
        assignment = _decide((other, own), listed, ranks, plan, workspace, runner)
        found = _spans(assignment, listed[0], listed[1], len(other))
        note(units=len(found))
    return other, own, with_enough(found, plan.options.min_documents, len(other))


def with_enough(spans: CutSpans, min_documents: int | None, n_other: int) -> CutSpans:
    """Return the spans that go for one which, with those that go for it, enough documents have."""
    if min_documents is None or not len(spans):
        return spans
    groups = np.unique(
        np.stack([spans.kept_documents, spans.kept_starts], axis=1), axis=0, return_inverse=True
    )[1].reshape(-1)
    documents = np.append(spans.documents + n_other, spans.kept_documents)
    n_documents = count_documents(np.tile(groups, 2), documents, int(groups.max()) + 1)
    return spans.select(np.flatnonzero(n_documents[groups] >= min_documents))


def _list_units(
    collections: Sequence[tuple[Sequence[Source], ColumnNames]],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[tuple[Catalogue, ...], list[ListedUnits]]:
    """List the units of all documents that have enough tokens."""
    columns = [field.name for field in fields(ListedUnits)]
    share = _LISTED_SHARE / len(collections) / len(columns)
    n_done = [0] * len(collections)
    with ExitStack() as stack:
        listed = [
            {
                name: stack.enter_context(
                    GrowingArray(f"units-{number}-{name}", np.int64, workspace, share=share)
                )
                for name in columns
            }
            for number in range(len(collections))
        ]

        def look(texts: pa.Array) -> tuple[Int64s, tuple[int, ListedUnits]]:
            n_tokens, units, _, _ = find_units(texts, plan)
            return n_tokens, (len(texts), units)

        def take(number: int, found: tuple[int, ListedUnits], *_: int) -> None:
            n_documents, units = found
            units = replace(units, documents=units.documents + n_done[number])
            for name, values in listed[number].items():
                values.append(getattr(units, name))
            n_done[number] += n_documents

        catalogues = take_texts(collections, plan.reading, look, take, workspace, runner)
    return catalogues, [
        ListedUnits(**{name: values.array for name, values in each.items()}) for each in listed
    ]


def find_units(
    texts: pa.Array, plan: CutJobPlan
) -> tuple[Int64s, ListedUnits, list[TokenLists], Int64s]:
    """Find the units of some texts that have enough tokens.

    Returns how many tokens each text has, the units, the tokens of all units, also short ones, some
    at a time, and which of these are listed.
    """
    assert plan.unit != "passages"
    units = split_units(texts, plan.unit)
    cut_out = _cut_out(texts, units.documents, units.starts, units.stops)
    sizes, parts = hash_tokens(cut_out, plan.reading.shingles.tokenizer)
    n_tokens = np.bincount(units.documents, sizes, len(texts)).astype(np.int64)
    long = np.flatnonzero(sizes >= plan.min_tokens)
    documents = units.documents[long]
    places: Int64s = np.empty((len(long), 3), np.int64)
    for column, values in zip(places.T, (units.starts, units.stops, units.ends), strict=True):
        column[:] = values[long]
    found = Texts.from_arrow(texts)
    # Places ascend within a text.
    bounds = 3 * np.searchsorted(documents, np.arange(len(texts) + 1)).astype(np.int64)
    characters = np.empty_like(places)
    tokens.count_characters(
        found.data, found.offsets, places.reshape(-1), bounds, characters.reshape(-1)
    )
    first_bytes, last_bytes, _ = places.T
    return n_tokens, ListedUnits(documents, first_bytes, last_bytes, *characters.T), parts, long


def _cut_out(texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s) -> pa.Array:
    """Return parts of texts as texts; places are bytes of the text, by document."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = Texts.from_arrow(texts)
    base = whole.offsets[documents]
    # Every second piece is what lies between two parts.
    edges = np.stack([base + starts, base + stops], axis=1).reshape(-1)
    offsets = np.concatenate([[whole.offsets[0]], edges, [whole.offsets[-1]]])
    pieces = Texts(whole.data, offsets.astype(np.int64)).to_arrow()
    return pc.take(pieces, pa.array(np.arange(1, len(pieces), 2)))


class _UnitSource(Source):
    """The units of the documents of a source, with the ranks of these.

    ``documents`` are the numbers of the source's documents in their collection, whose columns are
    ``columns``.
    """

    def __init__(
        self,
        source: Source,
        documents: slice,
        columns: ColumnNames,
        listed: ListedUnits,
        ranks: Int64s,
        *,
        skip_bad: bool,
    ) -> None:
        self.name, self.origin, self.size = source.name, source.origin, source.size
        self._source, self._documents, self._columns = source, documents, columns.only_text()
        self._listed, self._ranks, self._skip_bad = listed, ranks, skip_bad

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the units of a block of documents."""
        import pyarrow as pa

        first, listed = 1, self._listed
        for block, rows in numbered_blocks(
            self._source, self._documents.start, self._documents.stop
        ):
            units = listed.range_of(rows)
            documents = listed.documents[units]
            texts = _cut_out(
                block.parse(self._columns, skip_bad=self._skip_bad).text,
                documents - rows.start,
                listed.first_bytes[units],
                listed.last_bytes[units],
            )
            found = TableBlock(pa.table({_TEXT: texts, _RANK: self._ranks[documents]}), first)
            found.end = block.end
            yield found
            first += len(found)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        import pyarrow as pa

        schema = pa.schema([(_TEXT, pa.large_string()), (_RANK, pa.int64())])
        return TableWriter(folder / self.name, schema)


def _decide(
    catalogues: Sequence[Catalogue],
    listed: Sequence[ListedUnits],
    ranks: Int64s,
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> Assignment:
    """Deduplicate the units of both collections, the other one first, as documents are."""
    assert plan.units is not None
    reading = replace(plan.units.reading, columns=ColumnNames(_TEXT, order=_RANK))
    units = replace(plan.units, keep=_BY_RANK, reading=reading)
    skip_bad = plan.reading.skip_bad
    of_other, of_own = (
        [
            _UnitSource(source, slice(start, stop), each.columns, own, places, skip_bad=skip_bad)
            for source, start, stop in each.ranges()
        ]
        for each, own, places in zip(
            catalogues, listed, (np.zeros(len(catalogues[0]), np.int64), ranks), strict=True
        )
    )
    signed = sign_documents(of_own, of_other, units, workspace, runner)
    contents = find_contents(signed, units.keep, workspace)
    decision = choose_by_buckets(signed.batches, contents, units, workspace, runner)
    return assign(contents, decision)


def _spans(
    assignment: Assignment, of_other: ListedUnits, of_own: ListedUnits, n_other: int
) -> CutSpans:
    """Return which characters go for which; documents that stay are numbered in both."""
    is_gone = assignment.keepers >= 0
    if n_other:
        # Nothing goes but what the other collection has.
        is_gone &= assignment.keepers < len(of_other)
    gone = np.flatnonzero(is_gone)
    keepers = assignment.keepers[gone]

    is_own = keepers >= len(of_other)

    def of_both(name: str, base: int = 0) -> Int64s:
        kept: Int64s = np.empty(len(keepers), np.int64)
        kept[~is_own] = getattr(of_other, name)[keepers[~is_own]]
        kept[is_own] = getattr(of_own, name)[keepers[is_own] - len(of_other)] + base
        return kept

    return CutSpans(
        of_own.documents[gone],
        of_own.starts[gone],
        of_own.ends[gone],
        of_both("documents", n_other),
        of_both("starts"),
        of_both("stops"),
        assignment.similarities[gone],
    )
