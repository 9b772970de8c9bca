"""Text that counts nowhere: the runs of tokens that templates or prompts have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.tables import Bools, Int64s, TokenLists, TokenSpans, Uint64s

_PARTS_OF_A_PASSAGE, _LEAST = 10, 4

_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@dataclass(frozen=True)
class IgnoredRuns:
    """Runs of tokens that templates have: their lengths, and their hashes, ascending.

    What they stand for is taken out of texts, as if it had not been written.
    """

    hashes: tuple[tuple[int, Uint64s], ...]

    def taken_out(self, tokens: TokenLists, spans: TokenSpans) -> tuple[TokenLists, TokenSpans]:
        """Return what is left of some texts; tokens keep their places."""
        kept = ~self.are_ignored(tokens)
        offsets = np.concatenate([[0], np.cumsum(kept)])[tokens.offsets]
        return (
            TokenLists(tokens.values[kept], offsets.astype(np.int64)),
            TokenSpans(spans.starts[kept], spans.stops[kept]),
        )

    def are_ignored(self, tokens: TokenLists) -> Bools:
        """Return which tokens of some texts are in such a run."""
        n_tokens = len(tokens.values)
        changes = np.zeros(n_tokens + 1, np.int64)
        for length, hashes in self.hashes:
            starts, found = _runs(tokens, length)
            places = np.searchsorted(hashes, found)
            there = hashes[np.minimum(places, len(hashes) - 1)] == found
            changes[starts[there]] += 1
            changes[starts[there] + length] -= 1
        covered: Bools = np.cumsum(changes[:-1]) > 0
        return covered


def runs_of(templates: Iterable[TokenLists], length: int) -> IgnoredRuns:
    """Return all runs of ``length`` tokens of some templates; shorter ones are a run each."""
    parts: dict[int, list[Uint64s]] = {}
    for tokens in templates:
        parts.setdefault(length, []).append(_runs(tokens, length)[1])
        for start, stop in pairwise(tokens.offsets.tolist()):
            if 0 < stop - start < length:
                values = tokens.values[start:stop]
                parts.setdefault(stop - start, []).append(_hash_runs(values, stop - start))
    joined = {size: np.unique(np.concatenate(found)) for size, found in parts.items()}
    return IgnoredRuns(tuple((size, found) for size, found in joined.items() if len(found)))


def _runs(tokens: TokenLists, length: int) -> tuple[Int64s, Uint64s]:
    """Return where runs of so many tokens start that are in one text, and their hashes."""
    hashes = _hash_runs(tokens.values, length)
    last = np.repeat(tokens.offsets[1:] - length, np.diff(tokens.offsets))[: len(hashes)]
    starts = np.flatnonzero(np.arange(len(hashes)) <= last)
    return starts, hashes[starts]


def _hash_runs(values: Uint64s, length: int) -> Uint64s:
    """Hash each run of so many tokens."""
    n_runs = max(len(values) - length + 1, 0)
    hashes = np.zeros(n_runs, np.uint64)
    for k in range(length):
        hashes = (hashes ^ values[k : k + n_runs]) * _FACTOR
        # What is in the upper bits only would never come down by products.
        hashes ^= hashes >> _HALF
    return hashes


def least_run(min_tokens: int) -> int:
    """Return the tokens of the shortest run that counts nowhere, by those of a passage.

    Shorter ones are phrases that anybody writes. Enough of them for a passage, which is ten times
    as long, are no coincidence.
    """
    return max(min_tokens // _PARTS_OF_A_PASSAGE, _LEAST)
