"""Paragraphs, lines and sentences of texts; similar ones go as documents go, for one that stays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.engine.engine import DOCUMENT, Engine, Read
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, change_of
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, count_documents, keep_ranks, read_collections
from neardup.kernels.text import tokens
from neardup.matching.keep import KeepPolicy
from neardup.reading.parts import PART_COLUMNS, Parts
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.token_pass import hash_tokens
from neardup.runs.arrays import GrowingArray
from neardup.runs.work import Workspace
from neardup.stages.contents import find_contents
from neardup.stages.decide import Assignment, assign, choose_by_buckets
from neardup.tables import Bools, Bytes, Int64s, Rows, Texts, TokenLists, Uint64s
from neardup.text.shingles import take_ranges

if TYPE_CHECKING:
    import pyarrow as pa


# Texts in units that are compared whole.

Unit = Literal["paragraphs", "lines", "sentences"]

_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True)
class Units(Rows):
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


def split_units(texts: Texts, unit: Unit) -> Units:
    r"""Find the units of texts.

    A line ends with ``\n``, ``\r\n`` or ``\r``. Blank lines, those of white space alone, are no
    lines here, and part paragraphs; blank lines in front of the first are of none. A sentence ends
    with its line, and behind what ends one: marks of Chinese and Japanese anywhere, others before
    white space, and full stops and ellipses where no small ASCII letter follows that.

    Parameters
    ----------
    texts
        The texts.
    unit
        Which units.
    """
    if unit == "sentences":
        n_sentences = tokens.find_sentences(texts.data, texts.offsets, *_empty(0))
        sentences = _empty(n_sentences)
        tokens.find_sentences(texts.data, texts.offsets, *sentences)
        return Units(*sentences)
    data = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])]
    n_most = sum(int(np.count_nonzero(data == byte)) for byte in (_NEWLINE, _RETURN)) + len(texts)
    arrays = _empty(n_most)
    count = tokens.find_units(texts.data, texts.offsets, int(unit == "paragraphs"), *arrays)
    # Copies, for most line ends may be of blank lines.
    return Units(*(array[:count].copy() for array in arrays))


def _empty(n_units: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    documents, starts, stops, ends = (np.empty(n_units, np.int64) for _ in range(4))
    return documents, starts, stops, ends


# The share of the memory for the places of units.
_LISTED_SHARE = 0.2


@dataclass(frozen=True)
class ListedUnits(Rows):
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


# What units of one document have in common where they are taken for documents.
_RANK = "rank"

# Those of units as rows.
_COLUMNS = (DOCUMENT, *(each.name for each in fields(ListedUnits)[1:]))


class UnitCollector:
    """Units of documents that are read block after block, in memory or in files that are mapped.

    Used in a ``with`` block while units are added; ``units`` are there afterwards. Memory 48 bytes
    a unit.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._stack = ExitStack()
        names = [field.name for field in fields(ListedUnits)]
        share = _LISTED_SHARE / len(names)
        self._columns = {
            name: GrowingArray(f"units-{name}", np.int64, workspace, share=share) for name in names
        }

    def __enter__(self) -> UnitCollector:
        for values in self._columns.values():
            self._stack.enter_context(values)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def add(self, units: ListedUnits, first: int) -> None:
        """Add units of documents that are numbered from ``first`` on."""
        units = replace(units, documents=units.documents + first)
        for name, values in self._columns.items():
            values.append(getattr(units, name))

    @property
    def units(self) -> ListedUnits:
        """All units."""
        return ListedUnits(**{name: values.array for name, values in self._columns.items()})


def cut_units(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the similar paragraphs or lines that go; ``against`` has none, or is not looked at.

    Memory: some 100 bytes a unit, beside what fits into the budget.
    """
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read("rows", collections, partial(_list_units, plan))
        other, own = read.catalogues
        with UnitCollector(engine.workspace) as collector:
            for _, [(_, batch)] in engine.collect(read.rows, "read"):
                assert batch is not None
                collector.add(ListedUnits.of_batches([batch]), 0)
        units = collector.units
        note(documents=len(own), units=len(units))
    with engine.stage("cut") as note:
        engine.release(read)
        assignment = _decide(engine, read, units, plan)
        spans = _spans_of(assignment, units, plan.options.min_documents)
        note(units=len(spans))
    return FoundSpans(other, own, spans, None, change_of(own, spans, plan))


def _list_units(
    plan: CutJobPlan, block: RowBlock, reading: ReadingPlan
) -> tuple[ListedBlock, pa.RecordBatch]:
    """List the documents of a block, with a row for each of their units."""
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, units, _, _ = find_units(Texts.from_arrow(parsed.text, block.language), plan)
    columns = dict(zip(_COLUMNS, vars(units).values(), strict=True))
    rows = pa.RecordBatch.from_pydict(columns)
    return listed(block, parsed, n_tokens, with_lengths=reading.with_lengths), rows


def find_units(
    texts: Texts, plan: CutJobPlan
) -> tuple[Int64s, ListedUnits, list[TokenLists], Int64s]:
    """Find the units of some texts that have enough tokens; of sentences all three in a row.

    Returns how many tokens each text has, the units, the tokens of all units, also short ones, some
    at a time, and which of these are listed.
    """
    assert plan.unit != "passages"
    units, in_spans = split_units(texts, plan.unit), plan.unit == "sentences"
    cut_out = texts.parts(units.documents, units.starts, units.stops)
    sizes, parts = hash_tokens(cut_out, plan.reading.shingles.tokenizer)
    n_tokens = np.bincount(units.documents, sizes, len(texts)).astype(np.int64)
    long = np.flatnonzero(sizes >= (1 if in_spans else plan.min_tokens))
    documents = units.documents[long]
    places: Int64s = np.empty((len(long), 3), np.int64)
    for column, own in zip(places.T, (units.starts, units.stops, units.ends), strict=True):
        column[:] = own[long]
    # Places ascend within a text.
    bounds = 3 * np.searchsorted(documents, np.arange(len(texts) + 1)).astype(np.int64)
    characters = np.empty_like(places)
    tokens.count_characters(
        texts.data, texts.offsets, places.reshape(-1), bounds, characters.reshape(-1)
    )
    first_bytes, last_bytes, end_bytes = places.T
    listed = ListedUnits(documents, first_bytes, last_bytes, *characters.T)
    if in_spans:
        values: Uint64s = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
        listed, spans = _in_spans(listed, end_bytes, sizes[long], values, texts, plan.min_tokens)
        parts, long = [spans], np.arange(len(spans))
    return n_tokens, listed, parts, long


# Sentences that go together, as they did when C4 was made: a single one is often there by chance.
_SENTENCES = 3


def _in_spans(
    listed: ListedUnits,
    end_bytes: Int64s,
    sizes: Int64s,
    values: Uint64s,
    texts: Texts,
    min_tokens: int,
) -> tuple[ListedUnits, TokenLists]:
    """Return all spans of sentences that follow each other and have enough tokens, and these.

    ``end_bytes`` are the ends of sentences in bytes, ``sizes`` their tokens, of which ``values``
    has one sentence's behind those of the other.
    """
    last = np.arange(_SENTENCES - 1, len(listed))
    first = last - (_SENTENCES - 1)
    stops: Int64s = np.cumsum(sizes)
    starts = stops - sizes
    is_span = listed.documents[first] == listed.documents[last]
    is_span &= stops[last] - starts[first] >= min_tokens
    first, last = first[is_span], last[is_span]
    spans = ListedUnits(
        listed.documents[first],
        listed.first_bytes[first],
        listed.last_bytes[last],
        listed.starts[first],
        listed.stops[last],
        listed.ends[last]
        + _line_ends(texts, listed.documents[first], listed.first_bytes[first], end_bytes[last]),
    )
    return spans, take_ranges(values, starts[first], stops[last])


def _line_ends(texts: Texts, documents: Int64s, starts: Int64s, ends: Int64s) -> Int64s:
    """Return how long the line end is behind what is nothing but whole lines; of others 0.

    What is looked at starts and ends at these bytes of the texts that are named.
    """
    behind, stops = texts.offsets[documents] + ends, texts.offsets[documents + 1]

    def bytes_at(places: Int64s, are_there: Bools) -> Bytes:
        found: Bytes = np.zeros(len(places), np.uint8)
        found[are_there] = texts.data[places[are_there]]
        return found

    before = bytes_at(behind - ends + starts - 1, starts > 0)
    at, next_at = bytes_at(behind, behind < stops), bytes_at(behind + 1, behind + 1 < stops)
    is_whole = (starts == 0) | np.isin(before, (_NEWLINE, _RETURN))
    is_pair = (at == _RETURN) & (next_at == _NEWLINE)
    found: Int64s = (is_whole & np.isin(at, (_NEWLINE, _RETURN))) * (1 + is_pair.astype(np.int64))
    return found


def _decide(engine: Engine, read: Read, listed: ListedUnits, plan: CutJobPlan) -> Assignment:
    """Deduplicate units as documents are, those of one document in the order of its text."""
    import pyarrow as pa

    assert plan.units is not None
    reading = replace(plan.units.reading, columns=PART_COLUMNS)
    how = replace(plan.units, keep=KeepPolicy("min", _RANK), reading=reading)
    parts = Parts(listed.documents, listed.first_bytes, listed.last_bytes)
    signed = engine.sign_parts(read, parts, reading)
    other, own = signed.catalogues
    ranks = keep_ranks(read.catalogues[-1], plan.keep)[listed.documents]
    signed = signed._replace(catalogues=(other, replace(own, order=pa.array(ranks))))
    contents = find_contents(engine, signed, how.keep)
    assignment = assign(contents, choose_by_buckets(engine, signed, contents, how))
    engine.release(signed)
    return assignment


def _spans_of(assignment: Assignment, listed: ListedUnits, min_documents: int | None) -> CutSpans:
    """Return which characters go for which, of units that enough documents have.

    A unit that stays is had by its document, and by those of the units that go for it.
    """
    gone = np.flatnonzero(assignment.keepers >= 0)
    keepers = assignment.keepers[gone]
    spans = CutSpans(
        listed.documents[gone],
        listed.starts[gone],
        listed.ends[gone],
        listed.documents[keepers],
        listed.starts[keepers],
        listed.stops[keepers],
        assignment.similarities[gone],
    )
    if min_documents is None or not len(spans):
        return spans
    groups = np.unique(keepers, return_inverse=True)[1]
    documents = np.append(spans.documents, spans.kept_documents)
    n_documents = count_documents(np.tile(groups, 2), documents, int(groups.max()) + 1)
    return spans.take(np.flatnonzero(n_documents[groups] >= min_documents))
