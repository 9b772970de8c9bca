"""The most similar pairs, and the most similar partners of each document, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neardup.jobs.pairs.spelling import Members, Speller, join_pairs
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Join
from neardup.matching.ranks import rank_fractions
from neardup.runtime.runner import Runner
from neardup.tables import Bytes, Int64s, ScoredPairs

# Pairs of documents spelled out at once where only the best are kept.
_AT_ONCE = 1 << 22

# Sides of a join of two collections: a record of this bit looks for partners.
_LOOKS = LEFT


def most_similar_pairs(
    join: Join, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar pairs of documents, the most similar first, ties ascending.

    Thresholds fall step by step until there are enough pairs, so that the rest is never looked at.
    The list has what the filters did in each step.
    """
    step_counts = []
    for step in join.steps():
        joined, counts = step.run(sides, None, runner)
        step_counts.append(counts)
        speller = replace(speller, twins=step.twins)
        if speller.count(joined) >= most:
            break
    crossings = speller.crossings(joined)
    ranks = rank_fractions(*step.fractions(crossings))
    order = np.argsort(ranks, kind="stable")
    crossings, ranks = crossings.take(order), ranks[order]
    # A record's later documents come only in pairs that have this many others before them.
    few = speller.first(most + 1)
    best, best_ranks = join_pairs([]), np.empty(0, np.int64)
    for pairs, crossing in few.spell_in_parts(crossings, _AT_ONCE):
        if len(best) == most and len(crossing) and ranks[crossing[0]] > best_ranks[-1]:
            break
        best, best_ranks = join_pairs([best, pairs]), np.concatenate([best_ranks, ranks[crossing]])
        first = np.lexsort((best.right, best.left, best_ranks))[:most]
        best, best_ranks = best.take(first), best_ranks[first]
    return best, step_counts


def most_similar_partners(
    join: Join, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar partners of each left document, the most similar first.

    Thresholds fall step by step; a record that has partners enough looks no further. The list has
    what the filters did in each step.
    """
    n_records = len(join.own_scores)
    base: Bytes = np.full(n_records, LEFT | RIGHT, np.uint8) if sides is None else sides
    looking = (base & _LOOKS) != 0
    found: list[ScoredPairs] = []
    step_counts = []
    steps = list(join.steps())
    for step in steps:
        sides_now = np.where(looking, base, base & ~np.uint8(_LOOKS))
        joined, counts = step.run(sides_now, None, runner)
        step_counts.append(counts)
        rows = _partner_rows(joined, step, speller)
        n_documents = speller.right.counts[rows.right]
        if speller.is_self_join:
            n_documents = n_documents - (rows.left == rows.right)
        n_partners = np.bincount(rows.left, n_documents, n_records)
        is_done = looking if step is steps[-1] else looking & (n_partners >= most)
        found.append(rows.take(is_done[rows.left]))
        looking = looking & ~is_done
        if not looking.any():
            break
    rows = join_pairs(found)
    return _best_of_each(rows, rank_fractions(*join.fractions(rows)), speller, most), step_counts


def _partner_rows(joined: ScoredPairs, step: Join, speller: Speller) -> ScoredPairs:
    """Give each record with each of its partners, itself included."""
    twins = ScoredPairs(step.twins, step.twins, step.own_scores[step.twins])
    parts = [joined, twins] if step.is_directed else [joined, joined.turned(), twins]
    rows = join_pairs(parts)
    return rows.take((speller.left.counts[rows.left] > 0) & (speller.right.counts[rows.right] > 0))


def _best_of_each(rows: ScoredPairs, ranks: Int64s, speller: Speller, most: int) -> ScoredPairs:
    """Spell out the best partners of every record for each of its documents."""
    # One more than wanted, because a document may meet itself.
    enough = most + 1
    few = speller.right.first(enough)
    order = np.lexsort((ranks, rows.left))
    rows, ranks = rows.take(order), ranks[order]
    needed = _count_better(rows.left, ranks, few.counts[rows.right]) < enough
    rows, ranks = rows.take(needed), ranks[needed]
    # Each record once, whatever documents it has.
    candidates, row = _cross(Members.single(len(few.counts)), few, rows)
    ranks = ranks[row]
    order = np.lexsort((candidates.right, ranks, candidates.left))
    order = order[_count_before(candidates.left[order]) < enough]
    candidates, ranks = candidates.take(order), ranks[order]
    # The right side of these pairs is a row of candidates.
    numbered = ScoredPairs(candidates.left, np.arange(len(candidates)), candidates.scores)
    pairs, row = _cross(speller.left, Members.single(len(candidates)), numbered)
    pairs = ScoredPairs(pairs.left, candidates.right[row], pairs.scores)
    unlike = pairs.left != pairs.right
    pairs, ranks = pairs.take(unlike), ranks[row][unlike]
    order = np.lexsort((pairs.right, ranks, pairs.left))
    return pairs.take(order[_count_before(pairs.left[order]) < most])


def _cross(left: Members, right: Members, pairs: ScoredPairs) -> tuple[ScoredPairs, Int64s]:
    for spelled in left.cross(right, pairs):
        return spelled
    return join_pairs([]), np.empty(0, np.int64)


def _count_before(groups: Int64s) -> Int64s:
    """Count for each row the earlier rows of its group, in rows sorted by group."""
    numbers = np.arange(len(groups))
    return numbers - np.searchsorted(groups, groups)


def _count_better(groups: Int64s, ranks: Int64s, weights: Int64s) -> Int64s:
    """Add up for each row the weights of its group's rows of better rank.

    Rows are sorted by group, then rank.
    """
    if not len(groups):
        return groups
    sums = np.concatenate([[0], np.cumsum(weights)])
    is_first = np.concatenate([[True], (np.diff(groups) != 0) | (np.diff(ranks) != 0)])
    same = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    better: Int64s = sums[same] - sums[np.searchsorted(groups, groups)]
    return better
