"""Result of comparing two texts: values, tables and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from neardup.errors import InvalidParameterError
from neardup.files.destinations import check_file, target_of, write_file
from neardup.passages.matches import line_in
from neardup.reports.compare import Link, compare_report
from neardup.reports.page import PAGE_SUFFIXES, Report, Table
from neardup.results import Result
from neardup.runs.progress import counted

if TYPE_CHECKING:
    import pyarrow as pa


Elements = Literal["set", "numbered", "weighted", "characters"]
Range = tuple[int, int]
Ranges = tuple[Range, ...]


@dataclass(frozen=True)
class TextSize:
    """Characters, tokens, distinct shingles, and shingles of a text.

    ``numbered_shingles`` counts copies; ``weight`` is the sum of the weights of its shingles.
    """

    characters: int
    tokens: int
    shingles: int
    numbered_shingles: int
    weight: float


@dataclass(frozen=True)
class Measured:
    """Exact value of a measure, None for too long texts.

    ``elements`` are ``set``, ``numbered`` (multiset) or ``weighted`` shingles, or ``characters``.
    """

    name: str
    elements: Elements
    exact: float | None


@dataclass(frozen=True)
class SharedPassage:
    """A passage of both texts, in characters, with exclusive ends.

    ``similarity`` is exact, of the two passages as sets of tokens. ``changes_a`` and ``changes_b``
    are the tokens outside a longest common subsequence, None for too long passages.
    """

    a: Range
    b: Range
    similarity: float
    changes_a: Ranges | None
    changes_b: Ranges | None


@dataclass(frozen=True)
class Differences:
    """Differences of two texts.

    ``a`` and ``b`` are the ranges of characters of each text whose tokens are outside shared
    passages; ``share_a`` and ``share_b`` are the shares of its tokens inside; 0 without tokens.
    """

    a: Ranges
    b: Ranges
    share_a: float
    share_b: float


# Passages and ranges shown on a terminal, and characters of each.
MOST_SHOWN = 10
_EXCERPT = 60

_COUNTS = ("overlap", "edit-distance")
_ELEMENTS = {
    "set": "shingles of {ngram}",
    "numbered": "shingles of {ngram}, copies count",
    "weighted": "shingles of {weighted_ngram}, weighted",
    "characters": "characters",
}


def size_rows(result: CompareResult) -> list[tuple[str, ...]]:
    """Return a table of both texts' sizes, with header."""
    rows: list[tuple[str, ...]] = [("", *map(_printable, result.names))]
    for name, label in (
        ("characters", "characters"),
        ("tokens", "tokens"),
        ("shingles", "distinct shingles"),
        ("numbered_shingles", "shingles"),
    ):
        rows.append((label, *(f"{getattr(size, name):,}" for size in result.sizes)))
    return [*rows, ("weight", *(f"{size.weight:,.2f}" for size in result.sizes))]


def measure_rows(result: CompareResult) -> list[tuple[str, ...]]:
    """Return a table of measures, one per row, with header."""
    rows = [
        (each.name, _ELEMENTS[each.elements].format(**result.options), _exact(each))
        for each in result.measures
    ]
    return [("measure", "of", "exact"), *rows]


def _exact(measured: Measured) -> str:
    return "too long" if measured.exact is None else _number(measured.name, measured.exact)


def _number(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{round(value):,}"
    # Values close to 0 or 1 are not rounded to them.
    return f"{min(max(value, 0.0001), 0.9999):.4f}" if 0 < value < 1 else f"{value:.0f}"


def summary_lines(result: CompareResult, *, full: bool) -> Iterator[str]:
    """Format a comparison for a terminal, with all measures if ``full``."""
    name_a, name_b = names = [_printable(name) for name in result.names]
    in_b, in_a = (
        _number("", result[f"containment-{sides}"].exact or 0) for sides in ("a-in-b", "b-in-a")
    )
    edits = result["edit-similarity"].exact
    of_edits = "" if edits is None else f"; edit similarity {_number('', edits)}"
    yield (
        f"jaccard {_exact(result['jaccard'])} over {result.options['tokenizer']} "
        f"{result.options['ngram']}-grams{of_edits}"
    )
    yield f"{in_b} of {name_a} is in {name_b}, {in_a} of {name_b} in {name_a}"
    yield "; ".join(
        f"{name}: {size.characters:,} characters, {size.tokens:,} tokens"
        for name, size in zip(names, result.sizes, strict=True)
    )
    yield ""
    differences = result.differences
    yield (
        f"{counted(len(result.passages), 'shared passage')}, with {differences.share_a:.1%} of the "
        f"tokens of {name_a} and {differences.share_b:.1%} of those of {name_b}"
    )
    shown = [_ranges_in(text) for text in result.texts]
    for number, passage in enumerate(result.passages[:MOST_SHOWN], 1):
        changes, (in_first, in_second) = "", (passage.changes_a, passage.changes_b)
        if in_first is not None and in_second is not None and (in_first or in_second):
            # One position in either text, or several.
            is_one = len(in_first) == len(in_second) == 1
            places = "one place" if is_one else f"{len(in_first)} and {len(in_second)} places"
            changes = f", changed in {places}"
        yield (
            f"  {number}  {shown[0](passage.a)} and {shown[1](passage.b)}, similarity "
            f"{_number('', passage.similarity)}{changes}: {_excerpt(result.texts[0], passage.a)}"
        )
    yield from _more(len(result.passages))
    yield ""
    unshared = differences.a, differences.b
    for name, text, ranges, range_of in zip(names, result.texts, unshared, shown, strict=True):
        n = len(ranges)
        length = sum(stop - start for start, stop in ranges)
        yield f"{counted(n, 'range')} of {name} in no shared passage, {length:,} characters"
        for place in ranges[:MOST_SHOWN]:
            yield f"  {range_of(place)}: {_excerpt(text, place)}"
        yield from _more(n)
    if full:
        for rows, sides in ((size_rows(result), "<>>"), (measure_rows(result), "<<>")):
            yield ""
            # The cells of a table are padded to columns.
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = zip(row, sides, widths, strict=True)
                yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def _more(n: int) -> Iterator[str]:
    if n > MOST_SHOWN:
        yield f"  and {n - MOST_SHOWN:,} more"


def _ranges_in(text: str) -> Callable[[Range], str]:
    """Return a formatter of ranges, with positions in multi-line texts."""
    line = line_in(text) if "\n" in text or "\r" in text else None

    def show(place: Range) -> str:
        shown = f"{place[0]:,}-{place[1]:,}"
        return shown if line is None else f"{shown} ({line(place[0])})"

    return show


def _excerpt(text: str, place: Range) -> str:
    start, stop = place
    piece = _printable(text[start : min(stop, start + 4 * _EXCERPT)])
    return piece if len(piece) <= _EXCERPT else piece[: _EXCERPT - 3].rstrip() + "..."


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """Complete comparison of two texts.

    ``print`` shows the similarity and shared passages; ``to_text(full=True)`` adds all measures.
    ``to_dict`` returns plain values, ``html`` a page. As an Arrow stream it has a row per measure.

    ``names`` are the names of the texts; ``options`` are all parameters of the result.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    sizes: tuple[TextSize, TextSize]
    measures: tuple[Measured, ...]
    passages: tuple[SharedPassage, ...]
    differences: Differences
    options: dict[str, Any]
    summary: dict[str, Any] = field(default_factory=dict, compare=False)

    def __getitem__(self, key: str | tuple[str, Elements]) -> Measured:
        """Return the first measure by name, or name and elements.

        Raises
        ------
        KeyError
            If there is no such measure.
        """
        for measured in self.measures:
            if key in (measured.name, (measured.name, measured.elements)):
                return measured
        raise KeyError(key)

    def headline(self) -> str:
        """Return the similarity, and the number of shared passages."""
        similarity = self["jaccard"].exact
        shared = counted(len(self.passages), "shared passage")
        return f"jaccard {similarity:.4f}, {shared}"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, full: bool = False) -> str:
        """Format similarity, passages and differences, all measures if ``full``."""
        return "\n".join(summary_lines(self, full=full))

    @property
    def table(self) -> pa.Table:
        """Exact value of each measure."""
        import pyarrow as pa

        rows = [
            {"measure": each.name, "elements": each.elements, "exact": each.exact}
            for each in self.measures
        ]
        texts = pa.string()
        kinds = {"measure": texts, "elements": texts, "exact": pa.float64()}
        return pa.Table.from_pylist(rows, pa.schema(kinds))

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the texts as plain values."""
        differences = asdict(self.differences)
        return {
            "names": list(self.names),
            "sizes": {side: asdict(size) for side, size in zip("ab", self.sizes, strict=True)},
            "measures": [_plain(asdict(measured)) for measured in self.measures],
            "passages": [_plain(asdict(passage)) for passage in self.passages],
            "differences": {name: _plain(value) for name, value in differences.items()},
            "options": self.options,
        }

    def report(
        self, data: Any = None, against: Any = None, *, labels: Any = None, read: Any = None
    ) -> Report:
        """Return a page with both texts side by side, without arguments."""
        if any(each is not None for each in (data, against, labels, read)):
            message = "arguments have no effect on the page of two texts; leave them out"
            raise InvalidParameterError(message, "data")
        measures, sizes = measure_rows(self), size_rows(self)
        tables = [
            Table("Measures", measures[0], measures[1:]),
            Table("Sizes", ("size", *sizes[0][1:]), sizes[1:]),
        ]
        differences = self.differences
        shares = differences.share_a, differences.share_b
        links = [
            Link(p.a, p.b, p.similarity, p.changes_a or (), p.changes_b or ())
            for p in self.passages
        ]
        return compare_report(self.names, self.texts, links, shares, tables)

    def html(self) -> str:
        """Return the page of ``report`` as HTML."""
        return self.report().html

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page (.html) or the plain values (.json).

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            For another ending, an existing file, or one that cannot be written.
        """
        target = target_of(path)
        check_file(target, (*PAGE_SUFFIXES, ".json"), overwrite=overwrite)
        if target.suffix == ".json":
            content = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        else:
            content = self.html()
        write_file(target, lambda new: new.write_text(content))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
