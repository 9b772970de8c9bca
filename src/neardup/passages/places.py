"""Where passages begin, as people cite it: a line, a page, a paragraph, a chapter, or a marker.

Texts are read again for it once all passages are known, by the process that has the table, so that
places are the same whoever has looked the passages up.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.files.passes import ReadingPass, read_text_block
from neardup.files.rows import Parts, RowBlock, Source
from neardup.passages.documents import PassageReading
from neardup.passages.index import OpenPassages
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s

_LINE_END = re.compile(r"\r\n|\r|\n")
# Characters of a marker in a table.
_MOST_OF_MARKER = 80
_SIDES = ("query", "doc")

# Numbers of documents, their texts, and the parts of those.
_Texts = tuple[Int64s, Sequence[str], Sequence[Parts | None]]


class Marker:
    """What marks places in texts: a regular expression, or its first group if it has one.

    RE2 looks for it, whose time grows with the text and no faster, whatever the expression is; of
    each line ``^`` is the beginning.

    Raises
    ------
    InvalidParameterError
        If it is no regular expression.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = f"(?m:{pattern})"
        self._group = r"\1"
        try:
            # Alone, so that no parenthesis of it closes the one around it.
            pc.match_substring_regex(pa.array([""]), pattern)
            self._replaced("", "")
        except pa.ArrowInvalid as error:
            reason = str(error)
            if "Invalid replacement" not in reason:
                message = (
                    f"place_marker must be a regular expression as RE2 knows them, got {pattern!r}:"
                    f" {reason.removeprefix('Invalid regular expression: ')}"
                )
                raise InvalidParameterError(message, "place_marker") from None
            self._group = r"\0"

    def find(self, text: str) -> tuple[list[int], list[str]]:
        """Return where markers begin in a text, ascending, and what they are."""
        # What the text has not parts it: what stands between markers, a marker, and its group.
        mark = next(mark for mark in map(chr, count(0xFDD0)) if mark not in text)
        pieces = self._replaced(text, mark).split(mark)
        starts: list[int] = []
        names: list[str] = []
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
        found = pc.replace_substring_regex(
            pa.array([text], pa.large_string()), self._pattern, replacement=new
        )
        replaced: str = found[0].as_py()
        return replaced


def place_in(
    text: str, parts: Parts | None, marker: Marker | None
) -> Callable[[int], tuple[str, bool]]:
    """Return what says where a character of a text is, and whether it is a marker that says so.

    That is the last marker at it or before, else the part that it is in, or its line and column.
    """
    usual = line_in(text) if parts is None else parts
    starts, names = ([], []) if marker is None else marker.find(text)

    def place_of(character: int) -> tuple[str, bool]:
        number = bisect_right(starts, character)
        return (names[number - 1], True) if number else (usual(character), False)

    return place_of


def line_in(text: str) -> Callable[[int], str]:
    """Return what says on which line and in which column a character of a text is."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def place_of(character: int) -> str:
        line = bisect_right(starts, character)
        return f"line {line:,}, column {character - starts[line - 1] + 1:,}"

    return place_of


class Placed(ABC):
    """Documents that have passages, whose texts are read again."""

    @abstractmethod
    def texts(self, wanted: Int64s, runner: Runner) -> Iterator[_Texts]:
        """Yield some of the documents, whose numbers ascend, with their texts and parts."""


@dataclass(frozen=True)
class PlacedInIndex(Placed):
    """Those of an index, which has their texts, and not what parts their files had."""

    index: OpenPassages

    def texts(self, wanted: Int64s, _: Runner) -> Iterator[_Texts]:
        """Read them one after the other."""
        for number in wanted.tolist():
            one = np.array([number], np.int64)
            yield one, self.index.read_rows(one)["text"].to_pylist(), [None]


@dataclass(frozen=True)
class PlacedInSources(Placed):
    """Those of sources."""

    sources: Sequence[Source]
    read: PassageReading

    def texts(self, wanted: Int64s, runner: Runner) -> Iterator[_Texts]:
        """Read all up to the last one, as they were read when they were numbered."""
        read = self.read

        def look(source: Source, block: RowBlock) -> tuple[RowBlock, Int64s, pa.Array]:
            rows = read_text_block(source, block, read.columns.only_text(), skip_bad=read.skip_bad)
            return block, rows.numbers, rows.texts

        n_before = 0
        reading = ReadingPass("places", self.sources, runner)
        for _, (block, numbers, texts) in reading.map(look, self.sources):
            low, high = np.searchsorted(wanted, [n_before, n_before + len(numbers)])
            here = wanted[low:high]
            if len(here):
                rows = here - n_before
                select = np.isin(block.numbers, numbers[rows])
                yield here, texts.take(pa.array(rows)).to_pylist(), block.parts(select)
            n_before += len(numbers)
            if n_before > wanted[-1]:
                return


def with_places(
    passages: pa.Table,
    queries: Placed,
    documents: Placed,
    numbers: tuple[Int64s, Int64s],
    marker: Marker | None,
    runner: Runner,
) -> tuple[pa.Table, dict[str, Any]]:
    """Return a table of passages that also says where they begin on either side.

    And for the summary, if there is a marker, how many places of either side it has marked.

    Parameters
    ----------
    passages
        The passages.
    queries, documents
        What is on either side; what is the same collection is read once.
    numbers
        Which document of these each one's query is, and its document.
    marker, runner
        What marks places, and what does the work.
    """
    starts = [passages[f"{side}_start"].to_numpy() for side in _SIDES]
    with runner.stage("places"):
        if queries is documents:
            both = np.concatenate(numbers), np.concatenate(starts)
            told, are_marked = _find_places(queries, *both, marker, runner)
            n = len(passages)
            found = [(told[:n], are_marked[:n]), (told[n:], are_marked[n:])]
        else:
            found = [
                _find_places(placed, own, places, marker, runner)
                for placed, own, places in zip((queries, documents), numbers, starts, strict=True)
            ]
    for side, (places, _) in zip(_SIDES, found, strict=True):
        column = passages.column_names.index(f"{side}_end") + 1
        passages = passages.add_column(column, f"{side}_place", places)
    counts = [int(are_marked.sum()) for _, are_marked in found]
    return passages, {} if marker is None else {"marked_places": counts}


def _find_places(
    placed: Placed, documents: Int64s, starts: Int64s, marker: Marker | None, runner: Runner
) -> tuple[pa.Array, Bools]:
    """Say where characters of documents are, and whether it is a marker that says so."""
    found: list[str] = [""] * len(documents)
    are_marked = np.zeros(len(documents), np.bool_)
    order = np.lexsort((starts, documents))
    wanted, firsts = np.unique(documents[order], return_index=True)
    rows_of = np.split(order, firsts[1:])
    for numbers, texts, parts in placed.texts(wanted, runner) if len(wanted) else ():
        places = np.searchsorted(wanted, numbers).tolist()
        for number, text, parts_of_text in zip(places, texts, parts, strict=True):
            place_of = place_in(text, parts_of_text, marker)
            for row in rows_of[number].tolist():
                found[row], are_marked[row] = place_of(int(starts[row]))
    return pa.array(found, pa.large_string()), are_marked
