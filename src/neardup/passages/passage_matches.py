"""Tables of passages for users, with ids, positions and texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.files.documents import as_text
from neardup.kernels.text import tokens
from neardup.passages.document_blocks import DocumentBlock
from neardup.passages.open_passages import OpenPassages
from neardup.passages.passage_segment import PassageSegment
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
            # RE2 refuses the first group in a replacement if the expression has no group.
            reason = str(error)
            if "Invalid replacement" not in reason:
                message = (
                    f"place_marker must be a regular expression as RE2 knows them, got {marker!r}:"
                    f" {reason.removeprefix('Invalid regular expression: ')}"
                )
                raise InvalidParameterError(message, "place_marker") from None
            self._group = r"\0"

    def places(
        self, texts: pa.Array, documents: Int64s, characters: Int64s, files: pa.Array | None = None
    ) -> list[str]:
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
        return places

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


def match_table(
    matches: PassageMatches,
    queries: DocumentBlock,
    index: OpenPassages,
    *,
    with_text: bool,
    placer: Placer | None,
) -> pa.Table:
    """Make a table of the matches of queried documents."""
    has_shingles = index.scheme.shingles.ngram > 1
    of_queries = _MatchSide(len(matches), with_text, placer, has_shingles)
    ids = as_text(queries.ids)
    of_queries.fill(
        *(slice(None), matches.queries, matches.query_starts, matches.query_stops),
        *(ids, queries.texts, queries.files, queries.tokens.offsets),
        lambda tokens, _: (queries.spans.starts[tokens], queries.spans.stops[tokens]),
    )
    of_documents = _MatchSide(len(matches), with_text, placer, has_shingles)
    for segment, rows, local in _by_segment(index, matches.documents):
        of_documents.fill(
            *(rows, local, matches.starts[rows], matches.stops[rows]),
            *(segment.ids, segment.texts, segment.files, segment.offsets),
            segment.byte_places,
        )
    columns: list[Any] = []
    for side in (of_queries, of_documents):
        columns += [side.ids, side.starts, side.stops]
        columns += [] if placer is None else [side.places]
    columns.append(matches.similarities)
    columns += [of_queries.pieces, of_documents.pieces] if with_text else []
    return pa.table(columns, schema_of(with_text=with_text, with_places=placer is not None))


class _MatchSide:
    """Ids and character positions of one side of passages.

    ``pieces`` are the passages' texts, and ``places`` the names of their beginnings, if requested.
    """

    def __init__(self, n: int, with_text: bool, placer: Placer | None, has_shingles: bool) -> None:
        self._with_text, self._placer, self._has_shingles = with_text, placer, has_shingles
        self.ids, self.pieces, self.places = (np.full(n, "", object) for _ in range(3))
        self.starts, self.stops = np.empty((2, n), np.int64)

    def fill(
        self,
        rows: Int64s | slice,
        documents: Int64s,
        starts: Int64s,
        stops: Int64s,
        ids: pa.Array,
        texts: pa.Array,
        files: pa.Array | None,
        offsets: Int64s,
        byte_places: Callable[[Int64s, Int64s], tuple[Int64s, Int64s]],
    ) -> None:
        """Fill rows with token spans of numbered documents.

        ``byte_places`` returns the byte spans of tokens of documents.
        """
        first, behind = offsets[documents] + starts, offsets[documents] + stops
        byte_starts, _ = byte_places(first, documents)
        _, byte_stops = byte_places(behind - 1, documents)
        if not self._has_shingles:
            # A character that is shared with a token outside the passage is excluded.
            at = np.flatnonzero(starts > 0)
            _, before = byte_places(first[at] - 1, documents[at])
            byte_starts[at] = np.maximum(byte_starts[at], before)
            at = np.flatnonzero(behind < offsets[documents + 1])
            after, _ = byte_places(behind[at], documents[at])
            byte_stops[at] = np.minimum(byte_stops[at], after)
        starts, stops = whole_characters(texts, documents, byte_starts, byte_stops)
        self.starts[rows], self.stops[rows] = starts, stops
        self.ids[rows] = ids.take(pa.array(documents)).to_pylist()
        if self._placer is not None:
            self.places[rows] = self._placer.places(texts, documents, starts, files)
        if self._with_text:
            pieces, last, text = [], -1, ""
            spans = zip(documents.tolist(), starts.tolist(), stops.tolist(), strict=True)
            for document, start, stop in spans:
                if document != last:
                    last, text = document, texts[document].as_py()
                pieces.append(text[start:stop])
            self.pieces[rows] = pieces


def _by_segment(
    index: OpenPassages, documents: Int64s
) -> Iterator[tuple[PassageSegment, Int64s, Int64s]]:
    """Yield segments with rows and numbers of their documents."""
    numbers = index.segments_of(documents)
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        yield index.segments[number], rows, documents[rows] - index.first_documents[number]
        index.release_file(number)


def with_id_types(table: pa.Table, query_type: pa.DataType, doc_type: pa.DataType) -> pa.Table:
    """Return a table with ids of their input types."""
    for name, kind in (("query_id", query_type), ("doc_id", doc_type)):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].cast(kind))
    return table


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
    """Sum the shared tokens of each pair of documents.

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
