"""The stage join: pairs of documents, all of them or the most similar."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.jobs.pairs.options import PairOptions
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import Records
from neardup.jobs.pairs.rows import spell_runs, to_run
from neardup.jobs.pairs.spelling import Speller
from neardup.jobs.pairs.top import most_similar_pairs, most_similar_partners
from neardup.matching.join import FilterCounts
from neardup.matching.pieces import check_limit
from neardup.matching.set_join import SetSizes
from neardup.options.choices import Algorithm
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.jobs.pairs.bucketed import Bucketed
    from neardup.storage.workspace import Workspace


@dataclass(frozen=True)
class Matches:
    """Pairs of documents in the order in which they are written, and what the filters did.

    ``runs`` are as those of ``PairRows``. Of ``n_records`` records pairs were found, in ``n_steps``
    joins with one threshold after another, by the algorithm named, if by prefixes.
    """

    runs: Iterable[pa.RecordBatch]
    n_pairs: int
    n_records: int
    score_name: str | None
    counts: FilterCounts
    n_steps: int
    algorithm: Algorithm | None = None


def find_matches(records: Records, options: PairOptions, runner: Runner) -> Matches:
    """Join the records and spell the pairs out; all stays in memory.

    Raises
    ------
    ResultLimitError
        At more pairs than the options allow.
    """
    join, algorithm, sides = records.join, records.algorithm, records.sides()
    speller = Speller.of(
        records.of_documents,
        join.own_scores,
        join.twins,
        n_left=records.n_left,
        is_directed=join.is_directed,
    )
    if options.top is None:
        joined, counts = join.run(sides, options.limit, runner)
        check_limit(options.limit, speller.count(joined))
        runs = list(spell_runs(joined, speller, join))
        return Matches(runs, len(runs[0]), len(records), join.score_name, counts, 1, algorithm)
    best = most_similar_partners if options.per_document else most_similar_pairs
    pairs, step_counts = best(join, speller, sides, options.top, runner)
    check_limit(options.limit, len(pairs))
    run = to_run(pairs, join.similarities(records.of_pairs(pairs)))
    total = FilterCounts.total(step_counts)
    n_steps = len(step_counts)
    return Matches([run], len(pairs), len(records), join.score_name, total, n_steps, algorithm)


def find_matches_in_buckets(
    found: Bucketed, plan: PairPlan, workspace: Workspace, runner: Runner
) -> Matches:
    """Join what shares a bucket and spell the pairs out; what does not fit goes to files.

    Raises
    ------
    ResultLimitError
        At more pairs than the options allow.
    """
    from neardup.jobs.pairs.bucketed import join_partitions

    pairs = join_partitions(found, plan, workspace, runner)
    score_name = None if plan.measure_of_sets.is_weighted else SetSizes.score_name
    return Matches(pairs.runs, pairs.n_pairs, pairs.n_records, score_name, pairs.counts, 1)
