"""Tables of passages for users, with ids, positions and texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.files.documents import as_text
from neardup.kernels.text import tokens
from neardup.passages.documents import DocumentBlock
from neardup.passages.index import OpenPassages
from neardup.passages.segment import PassageSegment
from neardup.tables import Floats, Int64s, Rows, Texts

_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = r"(?:^|, )line [\d,]+, column [\d,]+$"
# Maximum characters of a marker in a table.
_MOST_OF_MARKER = 80


def line_in(text: str) -> Callable[[int], str]:
    """Return a function that maps positions to line and column."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def place_of(character: int) -> str:
        line = bisect_right(starts, character)
        return f"line {line:,}, column {character - starts[line - 1] + 1:,}"

    return place_of


class Placer:
    """Name text positions by markers, or by line and column.

    A name is the last marker before the position: a match of a regular expression, or of its first
    group if any, found by RE2 in linear time; ``^`` is the beginning of a line.
    InvalidParameterError if the expression is invalid.
    """

    def __init__(self, marker: str | None = None) -> None:
        self._pattern = None if marker is None else f"(?m:{marker})"
        self._group = r"\1"
        if marker is None:
            return
        try:
            # Checked alone first, so that its parentheses cannot close the enclosing group.
            pc.match_substring_regex(pa.array([""]), marker)
            self._replaced("", "")
        except pa.ArrowInvalid as error:
            reason = str(error)
            if "Invalid replacement" not in reason:
                message = (
                    f"place_marker must be a regular expression as RE2 knows them, got {marker!r}:"
                    f" {reason.removeprefix('Invalid regular expression: ')}"
                )
                raise InvalidParameterError(message, "place_marker") from None
            self._group = r"\0"

    def places(
        self,
        texts: pa.Array,
        documents: Int64s,
        characters: Int64s,
        files: pa.Array | None = None,
    ) -> pa.Array:
        """Return position names of characters in the numbered documents.

        In a text joined from several ``files``, a name begins with the path of the file.
        """
        places: list[str] = [""] * len(documents)
        order = np.argsort(documents, kind="stable")
        firsts = np.flatnonzero(np.diff(documents[order], prepend=-1))
        for rows in np.split(order, firsts)[1:]:
            document = int(documents[rows[0]])
            own = None if files is None else files[document].as_py()
            place_of = self.place_in(texts[document].as_py(), own)
            for row in rows.tolist():
                places[row] = place_of(int(characters[row]))
        return pa.array(places, pa.large_string())

    def place_in(
        self, text: str, files: Sequence[Mapping[str, Any]] | None = None
    ) -> Callable[[int], str]:
        """Return a function that names character positions of a text."""
        starts, names = self.markers(text)
        firsts = [0] if files is None else [file["start"] for file in files]
        prefixes = [""] if files is None else [f"{file['name']}, " for file in files]
        lines = [line_in(text[start:stop]) for start, stop in pairwise([*firsts, len(text)])]

        def place_of(character: int) -> str:
            number, file = bisect_right(starts, character), bisect_right(firsts, character) - 1
            place = names[number - 1] if number else lines[file](character - firsts[file])
            return prefixes[file] + place

        return place_of

    def markers(self, text: str) -> tuple[list[int], list[str]]:
        """Return the ascending positions and names of a text's markers."""
        starts: list[int] = []
        names: list[str] = []
        if self._pattern is None:
            return starts, names
        # A character that is not in the text separates: text between, marker, and its group.
        mark = next(mark for mark in map(chr, count(0xFDD0)) if mark not in text)
        pieces = self._replaced(text, mark).split(mark)
        place = len(pieces[0])
        for whole, group, between in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            if name := " ".join(group.split()):
                is_long = len(name) > _MOST_OF_MARKER
                starts.append(place)
                names.append(f"{name[:_MOST_OF_MARKER]}…" if is_long else name)
            place += len(whole) + len(between)
        return starts, names

    def _replaced(self, text: str, mark: str) -> str:
        new = f"{mark}\\0{mark}{self._group}{mark}"
        texts = pa.array([text], pa.large_string())
        replaced: str = pc.replace_substring_regex(texts, self._pattern, replacement=new)[0].as_py()
        return replaced


def count_marked(passages: pa.Table) -> list[int]:
    """Count the names from markers on either side of passages."""
    places = (passages[f"{side}_place"] for side in ("query", "doc"))
    are_lines = (pc.sum(pc.match_substring_regex(each, _LINE)).as_py() for each in places)
    return [len(passages) - (n_lines or 0) for n_lines in are_lines]


def character_spans(
    texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Convert byte spans of documents' texts into character spans.

    Spans have the number of their document, and start and stop at character boundaries. Cost: one
    scan of each named text up to its last span.
    """
    named, which = np.unique(documents, return_inverse=True)
    chosen = texts.take(pa.array(named))
    which = np.concatenate([which, which])
    positions = np.concatenate([starts, stops])
    order = np.lexsort((positions, which))
    offsets = np.searchsorted(which[order], np.arange(len(named) + 1)).astype(np.int64)
    counts: Int64s = np.empty(len(positions), np.int64)
    found = Texts.from_arrow(chosen)
    tokens.count_characters(found.data, found.offsets, positions[order], offsets, counts)
    characters: Int64s = np.empty(len(positions), np.int64)
    characters[order] = counts
    return characters[: len(starts)], characters[len(starts) :]


def whole_characters(
    texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Convert byte spans, also within characters, to complete characters."""
    found = Texts.from_arrow(texts)
    ends = found.offsets[documents] + stops
    is_within = ends < found.offsets[documents + 1]
    is_within[is_within] = (found.data[ends[is_within]] & 0xC0) == 0x80
    first, last = character_spans(texts, documents, starts, stops)
    return first, np.maximum(last - is_within, first)


def union_lengths(starts: Int64s, stops: Int64s, groups: Int64s, n_groups: int) -> Int64s:
    """Return the length of the union of each group's spans."""
    order = np.lexsort((starts, groups))
    # Positions of all groups on one line, so that each group ends before the next begins.
    origins = groups[order] * (int(stops.max(initial=0)) + 1)
    first, last = origins + starts[order], origins + stops[order]
    before = np.concatenate([[0], np.maximum.accumulate(last)])[: len(last)]
    unions = np.zeros(n_groups, np.int64)
    np.add.at(unions, groups[order], np.maximum(last - np.maximum(first, before), 0))
    return unions


def group_overlapping(documents: Int64s, starts: Int64s, stops: Int64s) -> Int64s:
    """Assign one number to transitively overlapping spans of a document.

    Spans of unknown documents (below 0) are never joined.
    """
    if not len(documents):
        return np.empty(0, np.int64)
    order = np.lexsort((starts, documents))
    base = documents[order] * (int(stops.max()) + 1)
    reached = np.maximum.accumulate(base + stops[order])
    is_new = np.concatenate([[True], base[1:] + starts[order][1:] >= reached[:-1]])
    is_new |= documents[order] < 0
    groups: Int64s = np.empty(len(documents), np.int64)
    groups[order] = np.cumsum(is_new) - 1
    return groups


def schema_of(*, with_text: bool, with_places: bool) -> pa.Schema:
    """Return the columns of a table of passages."""
    text = pa.large_string()
    fields = []
    for side in ("query", "doc"):
        fields += [(f"{side}_id", text), (f"{side}_start", pa.int64()), (f"{side}_end", pa.int64())]
        fields += [(f"{side}_place", text)] if with_places else []
    fields.append(("similarity", pa.float64()))
    return pa.schema(fields + ([("query_text", text), ("doc_text", text)] if with_text else []))


@dataclass(frozen=True)
class PassageMatches(Rows):
    """Matching passages of queries and documents, one row each.

    Starts and stops (exclusive) are tokens; ``documents`` are counted through all segments.
    """

    queries: Int64s
    query_starts: Int64s
    query_stops: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats


class PassageSide(NamedTuple):
    """Ids and character positions of one side of passages.

    ``texts`` are the passages' texts, and ``places`` the names of their beginnings, if requested.
    """

    ids: pa.Array
    starts: Int64s
    stops: Int64s
    texts: Sequence[str] | pa.Array | None
    places: pa.Array | None


def match_table(
    matches: PassageMatches,
    queries: DocumentBlock,
    index: OpenPassages,
    *,
    with_text: bool,
    placer: Placer | None,
) -> pa.Table:
    """Make a table of the matches of queried documents."""
    offsets, spans = queries.tokens.offsets, queries.spans
    first = offsets[matches.queries] + matches.query_starts
    behind = offsets[matches.queries] + matches.query_stops
    byte_starts, byte_stops = spans.starts[first], spans.stops[behind - 1]
    if index.scheme.shingles.ngram == 1:
        # A character that is shared with a token outside the passage is excluded.
        rows = np.flatnonzero(matches.query_starts > 0)
        byte_starts[rows] = np.maximum(byte_starts[rows], spans.stops[first[rows] - 1])
        rows = np.flatnonzero(behind < offsets[matches.queries + 1])
        byte_stops[rows] = np.minimum(byte_stops[rows], spans.starts[behind[rows]])
    starts, stops = whole_characters(queries.texts, matches.queries, byte_starts, byte_stops)
    texts: list[str] | None = None
    if with_text:
        texts = [""] * len(matches)
        everything = np.arange(len(matches))
        _cut(texts, everything, queries.texts, matches.queries, starts, stops)
    ids = as_text(queries.ids.take(pa.array(matches.queries)))
    places = (
        None
        if placer is None
        else placer.places(queries.texts, matches.queries, starts, queries.files)
    )
    documents = _side_in(
        *(index, matches.documents, matches.starts, matches.stops),
        with_text=with_text,
        placer=placer,
    )
    query = PassageSide(ids, starts, stops, texts, places)
    columns: list[Any] = []
    for side in (query, documents):
        columns += [*side[:3], *([] if side.places is None else [side.places])]
    columns.append(matches.similarities)
    columns += [] if texts is None else [texts, documents.texts]
    return pa.table(columns, schema_of(with_text=with_text, with_places=placer is not None))


def _by_segment(
    index: OpenPassages, documents: Int64s
) -> Iterator[tuple[PassageSegment, Int64s, Int64s]]:
    """Yield segments with the rows of their documents, and the documents' numbers there."""
    numbers = index.segments_of(documents)
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        yield index.segments[number], rows, documents[rows] - index.first_documents[number]
        index.leave(number)


def _side_in(
    index: OpenPassages,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    *,
    with_text: bool,
    placer: Placer | None,
) -> PassageSide:
    char_starts, char_stops = character_places(index, documents, starts, stops)
    ids: list[str] = [""] * len(documents)
    texts: list[str] = [""] * len(documents)
    places: list[str] = [""] * len(documents)
    for segment, rows, local in _by_segment(index, documents):
        chosen = segment.ids.take(pa.array(local)).to_pylist()
        for row, identifier in zip(rows.tolist(), chosen, strict=True):
            ids[row] = identifier
        if with_text:
            _cut(texts, rows, segment.texts, local, char_starts, char_stops)
        if placer is not None:
            found = placer.places(segment.texts, local, char_starts[rows], segment.files)
            for row, place in zip(rows.tolist(), found.to_pylist(), strict=True):
                places[row] = place
    return PassageSide(
        pa.array(ids, pa.large_string()),
        char_starts,
        char_stops,
        texts if with_text else None,
        None if placer is None else pa.array(places, pa.large_string()),
    )


def character_places(
    index: OpenPassages, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Convert token spans of an index's documents into character spans."""
    char_starts, char_stops = np.empty_like(starts), np.empty_like(stops)
    for segment, rows, local in _by_segment(index, documents):
        origins = segment.offsets[local]
        byte_starts, _ = segment.byte_places(origins + starts[rows], local)
        _, byte_stops = segment.byte_places(origins + stops[rows] - 1, local)
        if index.scheme.shingles.ngram == 1:
            # As in ``match_table``.
            at = np.flatnonzero(starts[rows] > 0)
            _, before = segment.byte_places((origins + starts[rows] - 1)[at], local[at])
            byte_starts[at] = np.maximum(byte_starts[at], before)
            at = np.flatnonzero(origins + stops[rows] < segment.offsets[local + 1])
            behind, _ = segment.byte_places((origins + stops[rows])[at], local[at])
            byte_stops[at] = np.minimum(byte_stops[at], behind)
        char_starts[rows], char_stops[rows] = whole_characters(
            segment.texts, local, byte_starts, byte_stops
        )
    return char_starts, char_stops


def with_id_types(table: pa.Table, query_type: pa.DataType, doc_type: pa.DataType) -> pa.Table:
    """Return a table with ids of their input types."""
    for name, kind in (("query_id", query_type), ("doc_id", doc_type)):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].cast(kind))
    return table


def _cut(
    pieces: list[str],
    rows: Int64s,
    texts: pa.Array,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
) -> None:
    last, text = -1, ""
    for row, document in zip(rows.tolist(), documents.tolist(), strict=True):
        if document != last:
            last, text = document, texts[document].as_py()
        pieces[row] = text[starts[row] : stops[row]]


# Rows of passages: start, stop and size of the query in tokens, and the same of the document.
Extents = Int64s


def extents_of(matches: PassageMatches, queries: DocumentBlock, index: OpenPassages) -> Extents:
    """Measure passages and their texts in tokens, without ignored ones."""
    overlap = index.scheme.shingles.ngram - 1
    query_sizes = np.diff(queries.tokens.offsets)[matches.queries]
    sizes = np.empty(len(matches), np.int64)
    for segment, rows, local in _by_segment(index, matches.documents):
        sizes[rows] = np.diff(segment.offsets)[local]
    query = matches.query_starts, matches.query_stops + overlap, query_sizes + overlap
    document = matches.starts, matches.stops + overlap, sizes + overlap
    return np.stack([*query, *document], axis=1)


_COLUMNS = [
    "query_id",
    "doc_id",
    "passages",
    "longest",
    "query_shared",
    "doc_shared",
    "query_share",
    "doc_share",
]


def pair_table(passages: pa.Table, numbers: Int64s, extents: Extents) -> pa.Table:
    """Sum the shared tokens of each pair of documents, by the greater share.

    ``numbers`` are the passages' pairs. Overlaps of a pair's passages do not add.
    """
    numbers, firsts, pairs = np.unique(numbers, return_index=True, return_inverse=True)
    n_pairs = len(numbers)
    longest = np.zeros(n_pairs, np.int64)
    shared, lengths = [], []
    for starts, stops, of_texts in (extents[:, :3].T, extents[:, 3:].T):
        np.maximum.at(longest, pairs, stops - starts)
        shared.append(union_lengths(starts, stops, pairs, n_pairs))
        lengths.append(of_texts[firsts])
    ids = passages.select(["query_id", "doc_id"]).take(pa.array(firsts))
    columns = [
        *ids.columns,
        np.bincount(pairs, minlength=n_pairs),
        longest,
        *shared,
        *(part / whole for part, whole in zip(shared, lengths, strict=True)),
    ]
    # The greatest share first, then the longest text; ties stay in the order of the documents.
    share, n_shared = np.maximum(columns[-2], columns[-1]), np.maximum(*shared)
    table = pa.table(columns, _COLUMNS)
    return table.take(pa.array(np.lexsort((-n_shared, -share))))
