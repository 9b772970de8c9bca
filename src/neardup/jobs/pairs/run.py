"""The job: the stages of a search for pairs in order, from sources to the result."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from neardup.files.input_options import check_effect
from neardup.files.rows import Source
from neardup.jobs.pairs.matches import find_matches
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import read_records
from neardup.jobs.pairs.result import PairResult, pair_table
from neardup.jobs.pairs.summary import summarise_pairs
from neardup.reading.first_pass import read_collections
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.runner import Runner

_log = logging.getLogger(__name__)


def find_pairs_in_sources(
    left: Sequence[Source], right: Sequence[Source] | None, plan: PairPlan, runner: Runner
) -> PairResult:
    """Find all pairs, or the most similar; ``right`` is None for a self-join.

    Texts that are equal, and then records that are equal, are joined once; their documents come in
    when pairs are spelled out.
    """
    collections = [(left, plan.reading)]
    if right is not None:
        collections.append((right, plan.reading.for_other(plan.options.other_columns)))
    check_effect(plan.options, *(sources for sources, _ in collections))
    runner.prepare(KERNELS_OF["pairs"])
    with runner.stage("read") as note:
        found = read_collections(collections, runner)
        records = read_records(found, plan, runner)
        note(documents=sum(map(len, found.catalogues)), records=len(records))
    with runner.stage("join") as note:
        matches = find_matches(records, plan.options, runner)
        note(pairs=len(matches.pairs))
    _log.debug("join: filters %s", vars(matches.counts))
    pairs = pair_table(matches.pairs, records, found.catalogues)
    summary = summarise_pairs(found.catalogues, plan, records, matches, runner)
    return PairResult(pairs, matches.counts, summary)
