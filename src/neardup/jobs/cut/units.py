"""Paragraphs, lines and sentences of texts, removed like similar documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Literal

import numpy as np

from neardup.engine.engine import DOCUMENT, Engine, Read
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, change_of, collect_columns
from neardup.jobs.cut.plan import (
    CutJobPlan,
    CutSpans,
    count_documents,
    keep_ranks,
    read_collections,
)
from neardup.kernels.text import tokens
from neardup.reading.catalogue import KeepPolicy
from neardup.reading.passes import Parts, collections_of_parts
from neardup.reading.sign import ListedBlock, ReadingPlan, hash_tokens, listed, sign_block
from neardup.stages.decide import assign, choose_by_buckets, find_contents
from neardup.tables import Assignment, Bools, Bytes, Int64s, Rows, Texts, TokenLists, Uint64s
from neardup.text.shingles import take_ranges

Unit = Literal["paragraphs", "lines", "sentences"]

_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True)
class Units(Rows):
    """Units by text and position, in bytes of the text.

    ``documents`` are the numbers of the texts. ``stops`` are exclusive, without the end of the last
    line; ``ends`` are the earliest starts of the next unit: after the line end, and after blank
    lines that follow a paragraph.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    ends: Int64s


def split_units(texts: Texts, unit: Unit) -> Units:
    r"""Find the units of texts.

    A line ends with ``\n``, ``\r\n`` or ``\r``. Blank lines (only white space) are not lines, and
    separate paragraphs; blank lines before the first belong to none. A sentence ends with its line,
    and after a sentence mark: Chinese and Japanese marks anywhere, others before white space, and
    full stops and ellipses unless a small ASCII letter follows.
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
    # Copies, because most line ends may be of blank lines.
    return Units(*(array[:count].copy() for array in arrays))


def _empty(n_units: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    documents, starts, stops, ends = (np.empty(n_units, np.int64) for _ in range(4))
    return documents, starts, stops, ends


# Share of the memory for the positions of units.
_LISTED_SHARE = 0.2


@dataclass(frozen=True)
class ListedUnits(Rows):
    """Units of a collection's documents, by document and position.

    ``first_bytes`` and ``last_bytes`` (exclusive) are bytes of the text, ``starts`` and ``stops``
    characters; ``ends`` are the characters after the line end, the earliest start of the next unit.
    """

    documents: Int64s
    first_bytes: Int64s
    last_bytes: Int64s
    starts: Int64s
    stops: Int64s
    ends: Int64s


# Column shared by units of one document when they are treated as documents.
_RANK = "rank"

# Columns of units as rows.
_COLUMNS = (DOCUMENT, *(each.name for each in fields(ListedUnits)[1:]))


def cut_units(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the similar paragraphs or lines to remove.

    ``against`` is empty or ignored. Memory: about 100 bytes per unit, in addition to the budget.
    """
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read(collections, partial(_list_units, plan), "rows")
        other, own = read.catalogues
        share = _LISTED_SHARE / len(_COLUMNS)
        columns = dict.fromkeys(_COLUMNS, (np.int64, share))
        units = ListedUnits(*collect_columns(read, "units", columns, engine.workspace).values())
        note(documents=len(own), units=len(units))
    with engine.stage("cut") as note:
        assignment = _decide(engine, read, units, plan)
        spans = _spans_of(assignment, units, plan.options.min_documents)
        note(units=len(spans))
    return FoundSpans(other, own, None, change_of(own, spans, plan))


def _list_units(plan: CutJobPlan, block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, units, _, _ = find_units(Texts.from_arrow(parsed.text, block.language), plan)
    columns = dict(zip(_COLUMNS, vars(units).values(), strict=True))
    rows = pa.RecordBatch.from_pydict(columns)
    return listed(block, parsed, n_tokens, reading, rows)


def find_units(
    texts: Texts, plan: CutJobPlan
) -> tuple[Int64s, ListedUnits, list[TokenLists], Int64s]:
    """Find units with enough tokens, or runs of three sentences.

    Returns each text's token count, the units, the tokens of all units in parts, including short
    ones, and the indexes of the returned units.
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
    # Positions ascend within a text.
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


# Sentences per unit, as in C4: single ones are often repeated by chance.
_SENTENCES = 3


def _in_spans(
    listed: ListedUnits,
    end_bytes: Int64s,
    sizes: Int64s,
    values: Uint64s,
    texts: Texts,
    min_tokens: int,
) -> tuple[ListedUnits, TokenLists]:
    """Return runs of sentences with enough tokens, and their tokens.

    ``end_bytes`` are the ends of sentences in bytes, ``sizes`` their tokens, and ``values`` the
    tokens of consecutive sentences.
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
    """Return the line end's length after whole lines, 0 elsewhere.

    Spans start and end at these bytes of the named texts.
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
    """Deduplicate units like documents, within a document in text order."""
    import pyarrow as pa

    assert plan.units is not None
    how = replace(plan.units, keep=KeepPolicy("min", _RANK))
    parts = Parts(listed.documents, listed.first_bytes, listed.last_bytes)
    collections = collections_of_parts(read.catalogues[-1], parts, how.reading)
    signed = engine.read(collections, sign_block)
    other, own = signed.catalogues
    ranks = keep_ranks(read.catalogues[-1], plan.keep)[listed.documents]
    signed = replace(signed, catalogues=(other, replace(own, order=pa.array(ranks))))
    contents = find_contents(signed, how.keep)
    return assign(contents, choose_by_buckets(engine, signed, contents, how))


def _spans_of(assignment: Assignment, listed: ListedUnits, min_documents: int | None) -> CutSpans:
    """Return cuts and copies of units in enough documents.

    A kept unit counts for its document, and for the documents of its copies.
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
