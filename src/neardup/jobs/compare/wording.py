"""A comparison in words: rows of tables, and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup.jobs.compare.values import Comparison, Estimated, Measured, Range, SharedPassage

# How many passages and ranges a terminal is shown, and how many characters of each.
MOST_SHOWN = 10
_EXCERPT = 60

_COUNTS = ("overlap", "edit-distance")
_MEASURE_HEAD = ("measure", "of", "exact", "sketch", "estimate", "error", "95 % interval")
_NOT_ENOUGH = "not enough samples"
_ELEMENTS = {
    "set": "shingles of {ngram}",
    "numbered": "shingles of {ngram}, copies count",
    "weighted": "shingles of {weighted_ngram}, weighted",
    "characters": "characters",
}


def size_rows(result: Comparison) -> list[tuple[str, ...]]:
    """Give a table of both texts' sizes; the first row is its head."""
    rows: list[tuple[str, ...]] = [("", *map(_printable, result.names))]
    for name, label in (
        ("characters", "characters"),
        ("tokens", "tokens"),
        ("shingles", "distinct shingles"),
        ("numbered_shingles", "shingles"),
    ):
        rows.append((label, *(f"{getattr(size, name):,}" for size in result.sizes)))
    return [*rows, ("weight", *(f"{size.weight:,.2f}" for size in result.sizes))]


def measure_rows(result: Comparison) -> list[tuple[str, ...]]:
    """Give a table with a row for each measure and sketch; the first row is its head."""
    rows: list[tuple[str, ...]] = [_MEASURE_HEAD]
    for measured in result.measures:
        of = _ELEMENTS[measured.elements].format(**result.options)
        start = (measured.name, of, _exact(measured))
        told = [_estimate(measured.name, estimated) for estimated in measured.estimates]
        rows.append((*start, *(told[0] if told else ("", "", "", ""))))
        rows.extend(("", "", "", *more) for more in told[1:])
    return rows


def _exact(measured: Measured) -> str:
    return "too long" if measured.exact is None else _number(measured.name, measured.exact)


def _estimate(name: str, estimated: Estimated) -> tuple[str, str, str, str]:
    low, high = (_number(name, value) for value in (estimated.low, estimated.high))
    interval = f"{low} to {high}"
    if estimated.value is None:
        return estimated.kind, _NOT_ENOUGH, "", interval
    error = "" if estimated.error is None else f"{estimated.error:.4f}"
    return estimated.kind, _number(name, estimated.value), error, interval


def _number(name: str, value: float) -> str:
    if name in _COUNTS:
        return f"{round(value):,}"
    # What is not quite 0 or 1 is not shown as if it were.
    return f"{min(max(value, 0.0001), 0.9999):.4f}" if 0 < value < 1 else f"{value:.0f}"


def summary_lines(result: Comparison, *, full: bool) -> Iterator[str]:
    """Write a comparison for a terminal: how alike the texts are, what they share, what not.

    With ``full`` all sizes and measures follow, and what sketches estimate.
    """
    yield from _answer_lines(result)
    yield ""
    yield from _passage_lines(result)
    yield ""
    yield from _difference_lines(result)
    if not full:
        return
    yield from diffuseness(result)
    yield ""
    yield from _align(size_rows(result), "<>>")
    yield ""
    yield from _align(measure_rows(result), "<<><>>>")


def _answer_lines(result: Comparison) -> Iterator[str]:
    """Say how alike the texts are, exactly, and how large."""
    name_a, name_b = map(_printable, result.names)
    in_b, in_a = (
        f"{_number('', result[f'containment-{sides}'].exact or 0)}"
        for sides in ("a-in-b", "b-in-a")
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
        for name, size in zip((name_a, name_b), result.sizes, strict=True)
    )


def _align(rows: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    """Pad the cells of a table to columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def shared_sentence(result: Comparison) -> str:
    """Say how many passages are shared, and how much of the texts they are."""
    n = len(result.passages)
    differences, (name_a, name_b) = result.differences, map(_printable, result.names)
    noun = "passage" if n == 1 else "passages"
    return (
        f"{n:,} shared {noun}, with {differences.share_a:.1%} of the tokens of {name_a} and "
        f"{differences.share_b:.1%} of those of {name_b}"
    )


def _passage_lines(result: Comparison) -> Iterator[str]:
    yield shared_sentence(result)
    for number, passage in enumerate(result.passages[:MOST_SHOWN], 1):
        yield (
            f"  {number}  {_range(passage.a)} and {_range(passage.b)}, similarity "
            f"{_number('', passage.similarity)}{_changes(passage)}: "
            f"{_excerpt(result.texts[0], passage.a)}"
        )
    yield from _more(len(result.passages))


def _changes(passage: SharedPassage) -> str:
    if passage.changes_a is None or passage.changes_b is None:
        return ""
    if not passage.changes_a and not passage.changes_b:
        return ""
    return f", changed in {len(passage.changes_a)} and {len(passage.changes_b)} places"


def _difference_lines(result: Comparison) -> Iterator[str]:
    differences = result.differences
    for name, text, ranges in zip(
        result.names, result.texts, (differences.a, differences.b), strict=True
    ):
        n = len(ranges)
        noun = "range" if n == 1 else "ranges"
        length = sum(stop - start for start, stop in ranges)
        yield f"{n:,} {noun} of {_printable(name)} in no shared passage, {length:,} characters"
        for place in ranges[:MOST_SHOWN]:
            yield f"  {_range(place)}: {_excerpt(text, place)}"
        yield from _more(n)


def diffuseness(result: Comparison) -> Iterator[str]:
    """Say how diffuse the differences are, and how far from chance the likeness."""
    spread, significance = result.differences.spread, result.differences.significance
    told = _NOT_ENOUGH if spread is None else f"{spread:.2f}"
    yield f"spread of the differences, 0 in one place, 1 all over: {told}"
    told = _NOT_ENOUGH if significance is None else f"{significance:.1f} standard deviations"
    yield f"nearer than unrelated texts by: {told}"


def _more(n: int) -> Iterator[str]:
    if n > MOST_SHOWN:
        yield f"  and {n - MOST_SHOWN:,} more"


def _range(place: Range) -> str:
    return f"{place[0]:,}-{place[1]:,}"


def _excerpt(text: str, place: Range) -> str:
    """Give the first words of a passage, on one line."""
    start, stop = place
    piece = _printable(text[start : min(stop, start + 4 * _EXCERPT)])
    return piece if len(piece) <= _EXCERPT else piece[: _EXCERPT - 3].rstrip() + "..."


def _printable(text: str) -> str:
    """Put a space for what a terminal would obey instead of showing it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
