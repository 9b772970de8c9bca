"""What two texts share, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import LCSseq

from neardup.jobs.compare.measures import Pair
from neardup.jobs.compare.values import Range, Ranges, SharedPassage
from neardup.jobs.passages.align import align
from neardup.passages.places import character_spans
from neardup.runtime.runner import Runner
from neardup.sketches.edit.distances import as_strings
from neardup.tables import Bools, EditSignatures, Int64s, Uint64s
from neardup.text.tokenizers import TokenFunction, Tokenizer

DEFAULT_MIN_TOKENS = 20

# Where two passages differ is looked for in a matrix of so many bits, 256 MB.
_MOST_CELLS = 1 << 31


@dataclass(frozen=True)
class PassageOptions:
    """What counts as a shared passage; see ``align`` for the meanings.

    ``min_tokens`` None is 20, or half the tokens of the shorter text where that is less.
    """

    threshold: str | float | Decimal | Fraction
    min_tokens: int | None
    seed: int | None
    tokenizer: str | Path | TokenFunction | None
    normalisation: dict[str, Any]


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
    options: PassageOptions,
    runner: Runner,
) -> list[SharedPassage]:
    """Find the passages that two texts share, in the order of places in the first.

    The one text's windows are looked up in an index of the other; which is which does not depend on
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
        **options.normalisation,
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
