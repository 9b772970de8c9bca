"""Names of positions in texts: the last marker before them, or line and column."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.tables import Int64s

_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = r"(?:^|, )line [\d,]+, column [\d,]+$"
# Maximum characters of a marker in a table.
_MOST_OF_MARKER = 80


def line_in(text: str) -> Callable[[int], str]:
    """Return a function that maps a character position to line and column."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def place_of(character: int) -> str:
        line = bisect_right(starts, character)
        return f"line {line:,}, column {character - starts[line - 1] + 1:,}"

    return place_of


class Placer:
    """Name positions in texts by the last marker before them, or by line and column.

    A marker is a match of a regular expression, or of its first group if it has one. RE2 finds it,
    in time linear in the text; ``^`` is the beginning of a line.

    Raises
    ------
    InvalidParameterError
        If the marker is not a regular expression.
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
        """Return the name of each character's position; ``documents`` are text numbers.

        In a text joined from several ``files``, it begins with the path of the file.
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
        """Return a function that names character positions of a text, which may have files."""
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
        """Return the ascending positions of markers in a text, and their names."""
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
    """Return the number of marker-based names on either side of passages."""
    places = (passages[f"{side}_place"] for side in ("query", "doc"))
    are_lines = (pc.sum(pc.match_substring_regex(each, _LINE)).as_py() for each in places)
    return [len(passages) - (n_lines or 0) for n_lines in are_lines]
