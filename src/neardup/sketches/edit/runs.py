"""Where two signatures differ: the runs of symbols that an alignment leaves over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.tables import Bools, Floats, Int64s

# One signature in so many has a run by chance that is taken for a block.
_CHANCE_RUNS = 100
_ROUNDS = 5


@dataclass(frozen=True)
class Runs:
    """What alignments of n pairs leave over, added up for each pair.

    ``left`` and ``right`` are symbols left over in either text, ``matched`` those that are not;
    runs lie between matched symbols. ``n_long`` runs with ``of_long`` symbols of both texts are
    too long for scattered edits, the ``n_short`` others with ``of_short`` are not. ``crossing`` is
    the lesser of what long runs insert and delete beyond what they replace, corrected for chance.
    ``lesser`` and ``greater`` are both for all runs of two symbols or more, uncorrected.
    """

    left: Floats
    right: Floats
    matched: Floats
    n_long: Floats
    of_long: Floats
    n_short: Floats
    of_short: Floats
    crossing: Floats
    lesser: Floats
    greater: Floats


def split_runs(blocks: Int64s, size: Floats) -> Runs:
    """Add up the runs between the symbols that aligned pairs of signatures share.

    ``blocks`` are those of ``common_blocks``; ``size`` (n_pairs) is the mean number of symbols that
    an isolated edit leaves over, seen or not.
    """
    n = len(size)
    pairs, first_starts, second_starts, sizes = blocks.T
    is_same = np.append([False], pairs[1:] == pairs[:-1])[: len(pairs)]
    inserted, deleted = (
        starts - np.where(is_same, np.roll(starts + sizes, 1), 0)
        for starts in (second_starts, first_starts)
    )
    totals = (inserted + deleted).astype(np.float64)
    matched = _add_up(pairs, sizes, n)
    is_long = _find_long_runs(pairs, totals, matched, size)
    is_short = (totals > 0) & ~is_long
    # Both counts are Poisson: the square of their difference is too large by their sum.
    surplus = (inserted - deleted).astype(np.float64)
    excess = np.sign(surplus) * np.sqrt(np.maximum(surplus**2 - totals, 0))
    crossing, _ = _both_ways(pairs, excess * is_long, n)
    lesser, greater = _both_ways(pairs, surplus * (totals > 1), n)
    return Runs(
        _add_up(pairs, deleted, n),
        _add_up(pairs, inserted, n),
        matched,
        _add_up(pairs, is_long, n),
        _add_up(pairs, is_long * totals, n),
        _add_up(pairs, is_short, n),
        _add_up(pairs, is_short * totals, n),
        crossing,
        lesser,
        greater,
    )


def spreads(runs: Runs) -> Floats:
    """Compare the number of runs with that of as many symbols left over in random places."""
    left_over, n_runs = runs.left + runs.right, runs.n_long + runs.n_short
    expected = left_over * (runs.matched + 1) / np.maximum(left_over + runs.matched, 1)
    is_known = expected > 1
    spreads = (n_runs - 1) / np.where(is_known, expected - 1, 1)
    return np.where(is_known, np.clip(spreads, 0, 1), np.nan)


def longest_isolated(size: Floats) -> Floats:
    """Return the most symbols that one isolated edit leaves, but for once in thousands of times.

    They are a Poisson number of mean ``size``. A long run has more.
    """
    longest: Floats = np.floor(size + 3.5 * np.sqrt(size) + 2)
    return longest


def _find_long_runs(pairs: Int64s, totals: Floats, matched: Floats, size: Floats) -> Bools:
    """Tell runs that are longer than any among as many scattered symbols would be by chance."""
    is_long: Bools = np.zeros(len(pairs), np.bool_)
    isolated = longest_isolated(size)
    # Symbols left over come in groups of this mean, where there are any.
    group = size / -np.expm1(-size)
    for _ in range(_ROUNDS):
        scattered = _add_up(pairs, np.where(is_long, 0.0, totals), len(matched))
        share = (scattered + 0.5) / (scattered + matched + 1)
        # Of N groups, N (1 - share) share^r begin runs of r or more.
        chances = _CHANCE_RUNS * np.maximum((scattered + matched) * (1 - share), 1)
        longest = np.maximum(-group * np.log(chances) / np.log(share), isolated)
        is_long = totals > longest[pairs]
    return is_long


def _both_ways(pairs: Int64s, values: Floats, n: int) -> tuple[Floats, Floats]:
    """Add up positive and negative values of each pair; give the lesser and the greater sum."""
    up = _add_up(pairs, np.maximum(values, 0), n)
    down = _add_up(pairs, np.maximum(-values, 0), n)
    return np.minimum(up, down), np.maximum(up, down)


def _add_up(pairs: Int64s, values: Int64s | Floats | Bools, n: int) -> Floats:
    return np.bincount(pairs, values, n).astype(np.float64)
