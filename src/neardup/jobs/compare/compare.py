"""Comparison of two texts: all measures, the passages that both have, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import LCSseq

from neardup.errors import InvalidInputError
from neardup.jobs.align.align import align
from neardup.jobs.compare.compare_result import (
    CompareResult,
    Differences,
    Range,
    Ranges,
    SharedPassage,
)
from neardup.jobs.compare.measures import Makers, Pair, make_makers, measure_pair
from neardup.options.groups import NormalOptions, RunOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import argument, takes
from neardup.options.sketches import CompareOptions, SketchOptions
from neardup.passages.places import character_spans
from neardup.runs.runner import Runner
from neardup.sketches.edit.estimate import as_strings
from neardup.tables import Bools, EditSignatures, Int64s, Texts, Uint64s
from neardup.text.tokenizers import Tokenizer

DEFAULT_MIN_TOKENS = 20

# Where two passages differ is looked for in a matrix of so many bits, 256 MB.
_MOST_CELLS = 1 << 31


@dataclass(frozen=True)
class TokenPlaces:
    """The hashes of a text's tokens, and where these begin and end, in characters."""

    hashes: Uint64s
    starts: Int64s
    stops: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def slice_of(self, place: Range) -> slice:
        """Give the tokens of a passage."""
        first = int(np.searchsorted(self.starts, place[0], "left"))
        return slice(first, int(np.searchsorted(self.stops, place[1], "right")))

    def range_of(self, first: int, last: int) -> Range:
        """Give the characters from the first token to before the token ``last``."""
        return int(self.starts[first]), int(self.stops[last - 1])


def locate(texts: pa.Array, pair: Pair, tokenizer: Tokenizer) -> tuple[TokenPlaces, TokenPlaces]:
    """Find the tokens of both texts.

    Raises
    ------
    InvalidParameterError
        If a function as tokenizer does not say them.
    """
    tokens, spans = tokenizer.locate_tokens(pair.texts)
    owners = np.repeat(np.arange(2), np.diff(tokens.offsets)).astype(np.int64)
    starts, stops = character_spans(texts, owners, spans.starts, spans.stops)
    middle = int(tokens.offsets[1])
    return (
        TokenPlaces(tokens.values[:middle], starts[:middle], stops[:middle]),
        TokenPlaces(tokens.values[middle:], starts[middle:], stops[middle:]),
    )


def find_passages(
    texts: tuple[str, str],
    pair: Pair,
    places: tuple[TokenPlaces, TokenPlaces],
    options: CompareOptions,
    runner: Runner,
) -> list[SharedPassage]:
    """Find the passages that two texts share, in the order of places in the first.

    ``min_tokens`` None is 20, or half the tokens of the shorter text where that is less. The one
    text's windows are looked up in an index of the other; which is which does not depend on
    the order in which they were given. Texts of the same tokens share one passage, all of them.
    """
    least = options.min_tokens
    if least is None:
        least = max(min(DEFAULT_MIN_TOKENS, *(len(tokens) // 2 for tokens in places)), 1)
    if np.array_equal(places[0].hashes, places[1].hashes):
        # Parts that such texts have several times would be matched with each other too.
        n = len(places[0])
        if n < least:
            return []
        a, b = (tokens.range_of(0, n) for tokens in places)
        return [SharedPassage(a, b, 1.0, (), ())]
    result = align(
        [texts[pair.first]],
        [texts[pair.second]],
        threshold=options.threshold,
        min_tokens=least,
        seed=options.seed,
        tokenizer=options.tokenizer,
        **vars(options.part(NormalOptions)),
        workers=runner.workers,
        progress=runner.report,
    )
    found = []
    for row in result.passages.to_pylist():
        first = (row["query_start"], row["query_end"])
        second = (row["doc_start"], row["doc_end"])
        of_first, of_second = _find_changes(places[pair.first], places[pair.second], first, second)
        if pair.first == 1:
            first, second, of_first, of_second = second, first, of_second, of_first
        found.append(SharedPassage(first, second, row["similarity"], of_first, of_second))
    return sorted(found, key=lambda passage: (passage.a, passage.b))


def _find_changes(
    x: TokenPlaces, y: TokenPlaces, x_range: Range, y_range: Range
) -> tuple[Ranges | None, Ranges | None]:
    """Give the ranges of two passages that a longest common subsequence of tokens leaves over.

    None where it would take too much memory.
    """
    x_slice, y_slice = x.slice_of(x_range), y.slice_of(y_range)
    x_hashes, y_hashes = x.hashes[x_slice], y.hashes[y_slice]
    n_same = _count_same(x_hashes, y_hashes)
    x_hashes, y_hashes = x_hashes[n_same:], y_hashes[n_same:]
    n_last = _count_same(x_hashes[::-1], y_hashes[::-1])
    n, m = len(x_hashes) - n_last, len(y_hashes) - n_last
    if n * m > _MOST_CELLS:
        return None, None
    hashes = np.concatenate([x_hashes[:n], y_hashes[:m]])
    numbers = np.unique(hashes, return_inverse=True)[1].astype(np.uint32)
    offsets = np.array([0, n, n + m], np.int64)
    left, right = as_strings(EditSignatures(numbers, offsets, np.diff(offsets)))
    changed: tuple[list[Range], list[Range]] = ([], [])
    x_first, y_first = x_last, y_last = x_slice.start + n_same, y_slice.start + n_same
    for block in LCSseq.editops(left, right).as_matching_blocks():
        x_next, y_next = x_first + block.a, y_first + block.b
        if x_next > x_last:
            _append(changed[0], x.range_of(x_last, x_next))
        if y_next > y_last:
            _append(changed[1], y.range_of(y_last, y_next))
        x_last, y_last = x_next + block.size, y_next + block.size
    return tuple(changed[0]), tuple(changed[1])


def _count_same(x: Uint64s, y: Uint64s) -> int:
    """Count the tokens that both begin with."""
    n = min(len(x), len(y))
    differing = np.flatnonzero(x[:n] != y[:n])
    return int(differing[0]) if len(differing) else n


def _append(ranges: list[Range], place: Range) -> None:
    """Add a range, or widen the last one: several tokens may be of one character."""
    if ranges and place[0] <= ranges[-1][1]:
        place = (ranges.pop()[0], place[1])
    ranges.append(place)


def find_differences(tokens: TokenPlaces, shared: Sequence[Range]) -> tuple[Ranges, float]:
    """Give the ranges of a text whose tokens are in no passage, and the share of those that are.

    A range goes from the first character of its first token to behind the last one of its last.
    """
    n = len(tokens)
    if not n:
        return (), 0.0
    # How many passages begin less those that end, before each token and behind the last.
    changes: Int64s = np.zeros(n + 1, np.int64)
    for place in shared:
        within = tokens.slice_of(place)
        changes[within.start] += 1
        changes[within.stop] -= 1
    outside: Bools = np.cumsum(changes[:-1]) == 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]])))
    ranges = tuple(tokens.range_of(first, last) for first, last in edges.reshape(-1, 2).tolist())
    return ranges, (n - int(outside.sum())) / n


DEFAULT_EDIT_LIMIT = 100_000


def plan_comparison(options: CompareOptions) -> Makers:
    """Make what makes the sketches, before any work starts."""
    common = options.part(SketchOptions, num_perm=None, size=None, compression=None)
    return make_makers(
        common, num_perm=options.num_perm, size=options.size, compression=options.compression
    )


def compare_texts(
    texts: tuple[str, str],
    options: CompareOptions,
    *,
    names: tuple[str, str] = ("a", "b"),
    runner: Runner,
) -> CompareResult:
    """Compare two texts; see ``compare``. ``names`` are what the result calls them."""
    makers = plan_comparison(options)
    for name, text in zip(names, texts, strict=True):
        _check_text(name, text)
    strings = pa.array(texts, pa.large_string())
    order = sorted((0, 1), key=lambda row: (len(texts[row]), texts[row]))
    pair = Pair(Texts.from_arrow(strings), *order)
    with runner.stage("measure"):
        measures, sizes, significance, spread = measure_pair(pair, makers, options.edit_limit)
    with runner.stage("align"):
        places = locate(strings, pair, makers.weighted.texts.shingles.tokenizer)
        passages = find_passages(texts, pair, places, options, runner)
    a, share_a = find_differences(places[0], [passage.a for passage in passages])
    b, share_b = find_differences(places[1], [passage.b for passage in passages])
    described = _describe(options, makers)
    summary = {
        "passages": len(passages),
        "share_a": share_a,
        "share_b": share_b,
        "options": described,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return CompareResult(
        names,
        texts,
        sizes,
        tuple(measures),
        tuple(passages),
        Differences(a, b, share_a, share_b, spread, significance),
        described,
        summary,
    )


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        message = f"{name}: expected a text, got {type(text).__name__}"
        raise InvalidInputError(message)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = (
            f"{name}: not valid Unicode: half of a surrogate pair at character {error.start + 1}; "
            "replace it, for example by text.encode(errors='replace').decode()"
        )
        raise InvalidInputError(message) from None


def _describe(options: CompareOptions, makers: Makers) -> dict[str, Any]:
    """Return all that decides the result, as plain values."""
    sets = [maker.describe() for maker in makers.of_shingles["set"]]
    of_shingles = makers.of_shingles["set"][0].texts.shingles.describe()
    weighted = makers.weighted.describe()
    return {
        **{name: value for name, value in of_shingles.items() if name != "occurrences"},
        "weighted_ngram": weighted["ngram"],
        "tf": weighted["tf"],
        "idf": weighted["idf"],
        "num_perm": weighted["num_perm"],
        "smallest_size": sets[1]["size"],
        "modulo_size": sets[2]["size"],
        "compression": makers.edit.describe()["compression"],
        "seed": weighted["seed"],
        "threshold": float(exact_fraction("threshold", options.threshold)),
        "min_tokens": options.min_tokens,
        "edit_limit": options.edit_limit,
    }


class _Arguments(CompareOptions, RunOptions, kw_only=False):
    text_a: str = argument("The texts themselves, not paths.")
    text_b: str = argument("The texts themselves, not paths.")


@takes(_Arguments)
def compare(given: _Arguments) -> CompareResult:
    """Compare two texts: all measures, exact and estimated, and what they share.

    Returns
    -------
    ``measures``: for shingles as a ``set`` and ``numbered`` (as a multiset) Jaccard, cosine, Dice,
    containment both ways, max-containment and overlap; weighted Jaccard; edit distance and
    similarity. Each with its exact value and what sketches of each kind estimate. ``sizes``,
    ``passages`` and ``differences``. With the texts exchanged the result is the same, mirrored.

    A text without tokens is similar to nothing: all similarities are 0.

    Raises
    ------
    InvalidParameterError
        For an option out of range.
    InvalidInputError
        If a text is no string, or has half of a surrogate pair.

    Notes
    -----
    An edit distance at the limit takes up to 0.5 s for ASCII and 4 s for texts of thousands of
    different characters; all else is linear in the texts, but for what they share many times over.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Coates (2011), A fast metric of
    document similarity.

    Examples
    --------
    >>> import neardup
    >>> result = neardup.compare("the cat sat on the mat", "the cat sat on a mat", ngram=2)
    >>> result["jaccard"].exact, result["edit-distance"].exact
    (0.42857142857142855, 3)
    """
    texts, options = (given.text_a, given.text_b), given.part(CompareOptions)
    with Runner(given.workers, given.progress) as runner:
        return compare_texts(texts, options, runner=runner)
