"""Comparison of two texts: measures, shared passages, and differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein

from neardup.engine.opening import open_runner
from neardup.errors import InvalidParameterError
from neardup.jobs.align import align
from neardup.matching.measures import SET_MEASURES, similarity_of_two
from neardup.options.choices import Number
from neardup.options.document_options import CompareOptions
from neardup.options.groups import RunOptions, ShingleOptions, TextOptions, TokenOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import merge
from neardup.passages.passage_matches import character_spans, line_in
from neardup.reports.comparison_page import Range, Ranges, SharedPassage, compare_report
from neardup.reports.differences import equal_words
from neardup.reports.page import Report, Table
from neardup.reports.text import share_of_one
from neardup.results import Result
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.options import check_text
from neardup.tables import Bools, Int64s, Rows, ShingleSets, Texts, Uint64s
from neardup.text.forms import Normalisation
from neardup.text.shingles import shingle_scheme, shingle_sets
from neardup.text.tokenizers import Tokenizer, folded_strings

# Passages and ranges shown on a terminal, and characters of each.
MOST_SHOWN = 10
_EXCERPT = 60


@dataclass(frozen=True)
class TextSize:
    """Characters, tokens and distinct shingles of a text."""

    characters: int
    tokens: int
    shingles: int


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


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """Complete comparison of two texts.

    ``print`` shows the similarity and shared passages, ``to_dict`` returns plain values, and
    ``report`` a page. As an Arrow stream it has a row per measure.

    ``names`` are the names of the texts; ``measures`` are exact values by name, None for edit
    distances of too long texts; ``options`` are all parameters of the result.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    sizes: tuple[TextSize, TextSize]
    measures: dict[str, float | None]
    passages: tuple[SharedPassage, ...]
    differences: Differences
    options: dict[str, Any]
    summary: dict[str, Any] = field(default_factory=dict, compare=False)

    def __getitem__(self, name: str) -> float | None:
        """Return a measure by its name."""
        return self.measures[name]

    def headline(self) -> str:
        """Return the similarity, and the number of shared passages."""
        shared = counted(len(self.passages), "shared passage")
        return f"jaccard {self['jaccard']:.4f}, {shared}"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Format similarity, passages and differences as lines."""
        return "\n".join(_lines_of(self))

    @property
    def table(self) -> pa.Table:
        """Exact value of each measure."""
        values = pa.array(self.measures.values(), pa.float64())
        return pa.table({"measure": pa.array(self.measures, pa.string()), "exact": values})

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the texts as plain values."""
        return {
            "names": list(self.names),
            "sizes": {side: asdict(size) for side, size in zip("ab", self.sizes, strict=True)},
            "measures": self.measures,
            "passages": [_plain(asdict(passage)) for passage in self.passages],
            "differences": _plain(asdict(self.differences)),
            "options": self.options,
        }

    def report(self, data: Any = None, against: Any = None, *, read: Any = None) -> Report:
        """Return a page with both texts side by side, without arguments."""
        if any(each is not None for each in (data, against, read)):
            message = "arguments have no effect on the page of two texts; leave them out"
            raise InvalidParameterError(message, "data")
        measures = [(name, _number(name, value)) for name, value in self.measures.items()]
        sizes = [
            (name, *(getattr(size, name) for size in self.sizes))
            for name in ("characters", "tokens", "shingles")
        ]
        tables = [
            Table("Measures", ("measure", "value"), measures),
            Table("Sizes", ("size", *map(_printable, self.names)), sizes),
        ]
        shares = self.differences.share_a, self.differences.share_b
        return compare_report(self.names, self.texts, self.passages, shares, tables)

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page of ``report`` to a path or URL (.html).

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            For another ending, an existing file, or one that cannot be written.
        """
        self.report().write(path, overwrite=overwrite)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "too long"
    if name in ("overlap", "edit-distance"):
        return f"{round(value):,}"
    return share_of_one(value)


def _lines_of(result: CompareResult) -> Iterator[str]:
    name_a, name_b = names = [_printable(name) for name in result.names]
    shown = {name: _number(name, value) for name, value in result.measures.items()}
    options, differences = result.options, result.differences
    first = f"jaccard {shown['jaccard']} over {options['tokenizer']} {options['ngram']}-grams"
    if result["edit-similarity"] is not None:
        first += f"; edit similarity {shown['edit-similarity']}"
    yield first
    in_b, in_a = (shown[f"containment-{sides}"] for sides in ("a-in-b", "b-in-a"))
    yield f"{in_b} of {name_a} is in {name_b}, {in_a} of {name_b} in {name_a}"
    yield "; ".join(
        f"{name}: {counted(size.characters, 'character')}, {counted(size.tokens, 'token')}"
        for name, size in zip(names, result.sizes, strict=True)
    )
    yield ""
    yield (
        f"{counted(len(result.passages), 'shared passage')}, with {differences.share_a:.1%} of the "
        f"tokens of {name_a} and {differences.share_b:.1%} of those of {name_b}"
    )
    place_a, place_b = places = [_describe_ranges(text) for text in result.texts]
    for number, passage in enumerate(result.passages[:MOST_SHOWN], 1):
        changes = ""
        if passage.changes_a is not None and passage.changes_b is not None:
            n, m = len(passage.changes_a), len(passage.changes_b)
            # One position in either text, or several.
            where = "one place" if n == m == 1 else f"{n} and {m} places"
            changes = f", changed in {where}" if n or m else ""
        yield (
            f"  {number}  {place_a(passage.a)} and {place_b(passage.b)}, similarity "
            f"{share_of_one(passage.similarity)}{changes}: {_excerpt(result.texts[0], passage.a)}"
        )
    yield from _more(len(result.passages))
    yield ""
    unshared = differences.a, differences.b
    for name, text, ranges, place in zip(names, result.texts, unshared, places, strict=True):
        length = sum(stop - start for start, stop in ranges)
        n_ranges = counted(len(ranges), "range")
        yield f"{n_ranges} of {name} in no shared passage, {counted(length, 'character')}"
        yield from (f"  {place(each)}: {_excerpt(text, each)}" for each in ranges[:MOST_SHOWN])
        yield from _more(len(ranges))


def _more(n: int) -> Iterator[str]:
    if n > MOST_SHOWN:
        yield f"  and {n - MOST_SHOWN:,} more"


def _describe_ranges(text: str) -> Callable[[Range], str]:
    """Return a formatter of ranges, with positions in multi-line texts."""
    line = line_in(text) if "\n" in text or "\r" in text else None

    def describe(place: Range) -> str:
        where = "" if line is None else f" ({line(place[0])})"
        return f"{place[0]:,}-{place[1]:,}{where}"

    return describe


def _excerpt(text: str, place: Range) -> str:
    piece = _printable(text[slice(*place)][: 4 * _EXCERPT])
    return piece if len(piece) <= _EXCERPT else piece[: _EXCERPT - 3].rstrip() + "..."


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


# Longest texts whose edit distance is computed: their geometric mean, in characters.
_MOST_EDITED = 100_000


def _measure(
    texts: Texts, sets: ShingleSets, options: CompareOptions
) -> Iterator[tuple[str, float | None]]:
    """Yield all measures, 0 for empty sets.

    Time is linear in the texts, plus a 64th of the product of lengths for the edit distance.
    """
    exchanged = sets.take(np.array([1, 0]))
    for kind in SET_MEASURES:
        measure = kind.lowest()
        for name, both in zip(measure.sided_names(), (sets, exchanged), strict=False):
            yield name, similarity_of_two(both, measure)
    a, b = folded_strings(texts, options.part(Normalisation, casefold=bool(options.casefold)))
    longer, distance, share = max(len(a), len(b)), None, None
    if a == b or len(a) * len(b) <= _MOST_EDITED**2:
        distance = Levenshtein.distance(a, b)
        share = (longer - distance) / longer if longer else 0.0
    yield "edit-distance", distance
    yield "edit-similarity", share


DEFAULT_MIN_TOKENS = 20

# Characters of two texts that one thread aligns.
_SHORT = 1 << 16

# Maximum bits of the matrix for differences of two passages, 256 MB.
_MOST_CELLS = 1 << 31


@dataclass(frozen=True)
class TokenPlaces(Rows):
    """Hashes of a text's tokens, and their positions in characters."""

    hashes: Uint64s
    starts: Int64s
    stops: Int64s

    def slice_of(self, place: Range) -> slice:
        """Return the tokens of a passage."""
        first = int(np.searchsorted(self.starts, place[0], "left"))
        return slice(first, int(np.searchsorted(self.stops, place[1], "right")))

    def ranges(self, are_wanted: Bools) -> Ranges:
        """Return the characters of consecutive wanted tokens; ranges that touch are one."""
        found: list[Range] = []
        edges = np.flatnonzero(np.diff(np.concatenate([[False], are_wanted, [False]])))
        for first, last in edges.reshape(-1, 2).tolist():
            start, stop = int(self.starts[first]), int(self.stops[last - 1])
            if found and start <= found[-1][1]:
                start = found.pop()[0]
            found.append((start, stop))
        return tuple(found)


def locate(texts: Texts, tokenizer: Tokenizer) -> tuple[TokenPlaces, TokenPlaces]:
    """Find the tokens of both texts, raising for functions without positions."""
    tokens, spans = tokenizer.locate_tokens(texts)
    owners = np.repeat(np.arange(2), np.diff(tokens.offsets)).astype(np.int64)
    starts, stops = character_spans(texts.to_arrow(), owners, spans.starts, spans.stops)
    both, middle = TokenPlaces(tokens.values, starts, stops), int(tokens.offsets[1])
    return both.take(slice(middle)), both.take(slice(middle, None))


def find_passages(
    texts: tuple[str, str],
    places: tuple[TokenPlaces, TokenPlaces],
    options: CompareOptions,
    runner: Runner,
) -> list[SharedPassage]:
    """Find the shared passages in order of the first text.

    ``min_tokens`` None is 20, or half the tokens of the shorter text if that is less. The order of
    the arguments does not matter. Texts with the same tokens share one passage.
    """
    least = options.min_tokens
    if least is None:
        least = max(min(DEFAULT_MIN_TOKENS, *(len(tokens) // 2 for tokens in places)), 1)
    if np.array_equal(places[0].hashes, places[1].hashes):
        # Alignment would also match repeated parts of such texts with each other.
        if len(places[0]) < least:
            return []
        a, b = ((int(tokens.starts[0]), int(tokens.stops[-1])) for tokens in places)
        return [SharedPassage(a, b, 1.0)]
    if not np.isin(places[0].hashes, places[1].hashes).any():
        # No index is needed without a passage to align.
        return []
    # In a canonical order, so that the exchanged texts have the mirrored result.
    first, second = sorted((0, 1), key=lambda row: (len(texts[row]), texts[row]))
    result = align(
        [texts[first]],
        [texts[second]],
        threshold=options.threshold,
        min_tokens=least,
        text=TextOptions(**vars(options.part(TokenOptions, ngram=None))),
        # For short texts, starting threads takes longer than the alignment.
        run=RunOptions(
            workers=1 if sum(map(len, texts)) < _SHORT else runner.workers, progress=runner.report
        ),
    )
    found = []
    for row in result.passages.to_pylist():
        ranges = (row["query_start"], row["query_end"]), (row["doc_start"], row["doc_end"])
        changes = _find_changes(places[first], places[second], *ranges)
        (a, b), (of_a, of_b) = (ranges, changes) if first == 0 else (ranges[::-1], changes[::-1])
        found.append(SharedPassage(a, b, row["similarity"], of_a, of_b))
    return sorted(found, key=lambda passage: (passage.a, passage.b))


def _find_changes(
    x: TokenPlaces, y: TokenPlaces, x_range: Range, y_range: Range
) -> tuple[Ranges | None, Ranges | None]:
    """Return ranges outside a longest common subsequence, None if too large."""
    x, y = x.take(x.slice_of(x_range)), y.take(y.slice_of(y_range))
    if len(x) * len(y) > _MOST_CELLS:
        return None, None
    are_new: tuple[Bools, Bools] = np.ones(len(x), np.bool_), np.ones(len(y), np.bool_)
    for start, start_y, size in equal_words(x.hashes.tolist(), y.hashes.tolist()):
        are_new[0][start : start + size] = False
        are_new[1][start_y : start_y + size] = False
    return x.ranges(are_new[0]), y.ranges(are_new[1])


def find_differences(tokens: TokenPlaces, shared: Sequence[Range]) -> tuple[Ranges, float]:
    """Return token ranges outside all passages, and the share inside."""
    are_outside: Bools = np.ones(len(tokens), np.bool_)
    for place in shared:
        are_outside[tokens.slice_of(place)] = False
    n = len(tokens)
    share = (n - int(are_outside.sum())) / n if n else 0.0
    return tokens.ranges(are_outside), share


def compare_texts(
    texts: tuple[str, str],
    options: CompareOptions,
    *,
    names: tuple[str, str] = ("a", "b"),
    runner: Runner,
) -> CompareResult:
    """Compare two texts, with their names in the result."""
    scheme = shingle_scheme(options.part(ShingleOptions))
    for name, text in zip(names, texts, strict=True):
        check_text(name, text)
    both = Texts.from_arrow(pa.array(texts, pa.large_string()))
    with runner.stage("measure"):
        sets = shingle_sets(both, scheme)
        measures = dict(_measure(both, sets, options))
    with runner.stage("align"):
        places = locate(both, scheme.tokenizer)
        passages = find_passages(texts, places, options, runner)
    a, share_a = find_differences(places[0], [passage.a for passage in passages])
    b, share_b = find_differences(places[1], [passage.b for passage in passages])
    described: dict[str, Any] = {
        **scheme.describe(),
        "threshold": float(exact_fraction("threshold", options.threshold)),
        "min_tokens": options.min_tokens,
    }
    summary: dict[str, Any] = {
        "passages": len(passages),
        "share_a": share_a,
        "share_b": share_b,
        "options": described,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    size_a, size_b = (
        TextSize(len(text), len(tokens), int(n_shingles))
        for text, tokens, n_shingles in zip(texts, places, sets.sizes, strict=True)
    )
    return CompareResult(
        names,
        texts,
        (size_a, size_b),
        measures,
        tuple(passages),
        Differences(a, b, share_a, share_b),
        described,
        summary,
    )


def compare(
    text_a: str,
    text_b: str,
    *,
    threshold: Number = "0.5",
    min_tokens: int | None = None,
    text: TextOptions | None = None,
    run: RunOptions | None = None,
) -> CompareResult:
    """Compare two texts: all measures, shared passages, and differences.

    Parameters
    ----------
    text_a, text_b
        The texts themselves, not paths.
    threshold
        Least similarity of two shared passages, in (0, 1], an exact decimal.
    min_tokens
        Tokens of the shortest shared passage. None: 20, or half of a shorter text.
    text, run
        Tokens and shingles, and threads. A function as tokenizer must return positions, too.

    Returns
    -------
    ``measures`` by name: Jaccard, cosine, Dice, containment both ways, max-containment and overlap
    of the sets of shingles; edit distance and similarity of the characters, None for texts of more
    than 100,000. ``sizes``, ``passages`` and ``differences``. Exchanged texts mirror the result.

    A text without tokens is similar to nothing: all similarities are 0.

    Raises
    ------
    InvalidParameterError
        For an option out of range.
    InvalidInputError
        If a text is not a string, or contains a lone surrogate.

    Notes
    -----
    The longest edit distance takes up to 0.5 s for ASCII and 4 s for texts of thousands of
    different characters; other measures are linear, except for parts that both texts repeat often.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Coates (2011), A fast metric of
    document similarity.

    Examples
    --------
    >>> import neardup
    >>> two = neardup.TextOptions(ngram=2)
    >>> result = neardup.compare("the cat sat on the mat", "the cat sat on a mat", text=two)
    >>> result["jaccard"], result["edit-distance"]
    (0.42857142857142855, 3)
    """
    options = merge(CompareOptions, locals())
    with open_runner(run) as runner:
        return compare_texts((text_a, text_b), options, runner=runner)
