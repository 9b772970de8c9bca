"""The stage join: pairs of documents, all of them or the most similar."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.jobs.pairs.options import PairOptions
from neardup.jobs.pairs.records import Records
from neardup.jobs.pairs.spelling import Speller
from neardup.jobs.pairs.top import most_similar_pairs, most_similar_partners
from neardup.matching.join import FilterCounts
from neardup.matching.pieces import check_limit
from neardup.runtime.runner import Runner
from neardup.tables import ScoredPairs


@dataclass(frozen=True)
class Matches:
    """Pairs of documents in the order in which they are written, and what the filters did.

    ``n_steps`` is how many joins it took, with one threshold after another.
    """

    pairs: ScoredPairs
    counts: FilterCounts
    n_steps: int


def find_matches(records: Records, options: PairOptions, runner: Runner) -> Matches:
    """Join the records and spell the pairs out.

    Raises
    ------
    ResultLimitError
        At more pairs than the options allow.
    """
    join, sides = records.join, records.sides()
    speller = Speller.of(
        records.of_documents,
        join.own_scores,
        join.twins,
        n_left=records.n_left,
        is_directed=join.is_directed,
    )
    if options.top is None:
        joined, counts = join.run(sides, options.limit, runner)
        return Matches(speller.spell_out(joined, options.limit), counts, 1)
    best = most_similar_partners if options.per_document else most_similar_pairs
    pairs, step_counts = best(join, speller, sides, options.top, runner)
    check_limit(options.limit, len(pairs))
    return Matches(pairs, FilterCounts.total(step_counts), len(step_counts))
