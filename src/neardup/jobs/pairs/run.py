"""The job: the stages of a search for pairs in order, from sources to the result."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from neardup.files.input_options import check_effect
from neardup.files.rows import Source
from neardup.jobs.document_options import to_be_counted
from neardup.jobs.pairs.about import metadata_of
from neardup.jobs.pairs.blocks import count_outside
from neardup.jobs.pairs.matches import Matches, find_matches, find_matches_in_buckets
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import read_records
from neardup.jobs.pairs.result import PairResult
from neardup.jobs.pairs.rows import PairRows
from neardup.jobs.pairs.summary import summarise_pairs
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import read_collections
from neardup.reading.frequencies import count_shingles, with_frequencies
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign_pass import sign_collections
from neardup.runtime.runner import Runner
from neardup.storage.workspace import IN_MEMORY, Workspace

if TYPE_CHECKING:
    from neardup.jobs.pairs.conditions import Condition

_log = logging.getLogger(__name__)


def find_pairs_in_sources(
    left: Sequence[Source],
    right: Sequence[Source] | None,
    plan: PairPlan,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
    counted: Sequence[Source] | None = None,
) -> PairResult:
    """Find all pairs, or the most similar; ``right`` is None for a self-join.

    Texts that are equal, and then records that are equal, are joined once; their documents come in
    when pairs are spelled out. What method minhash has not enough memory for goes to files. Where
    shingles are weighed by how many documents have them, those of ``counted`` are counted; None:
    those of which pairs are found.
    """
    collections = [(left, plan.reading)]
    if right is not None:
        collections.append((right, plan.reading.for_other(plan.options.other_columns)))
    check_effect(plan.options, *(sources for sources, _ in collections), counted or ())
    names, there = plan.options.shown_columns, list[tuple[str, ...]]()
    if names:
        # Few runs need it.
        from neardup.jobs.pairs.columns import check_columns, read_columns

        there = check_columns(
            names, [each for each, _ in collections], [own.columns for _, own in collections]
        )
    conditions: list[Condition] = []
    if plan.options.conditions:
        # Nor this.
        from neardup.jobs.pairs.conditions import check_condition_columns, parse_conditions

        conditions = parse_conditions(plan.options)
        check_condition_columns(conditions, [each for each, _ in collections])
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            reference = to_be_counted(plan.options, left, right or [], counted)
            frequencies = count_shingles(reference, plan.reading, runner)
        collections = [(each, with_frequencies(own, frequencies)) for each, own in collections]
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    find = _find_exactly if plan.banding is None else _find_in_buckets
    catalogues, matches, n_outside = find(collections, plan, workspace, runner)
    _log.debug("join: filters %s", vars(matches.counts))
    n_joined = matches.n_pairs
    if conditions:
        keeps = plan.options.also_missing != "drop"
        matches, without_value = _keep_fulfilling(
            matches, catalogues, conditions, workspace, runner, keep_missing=keeps
        )
    n_similar = matches.n_pairs
    if plan.options.one_to_one:
        matches = _match_one_to_one(matches, catalogues, plan, runner)
    columns = None
    if names:
        with runner.stage("columns"):
            columns = read_columns(matches.runs, catalogues, names, there, workspace, runner)
    summary = summarise_pairs(catalogues, plan, matches, runner)
    if plan.options.blocking_columns:
        summary |= {"blocking": list(plan.options.blocking_columns), "unblocked": n_outside}
    if conditions:
        summary |= {
            "also": list(plan.options.conditions),
            "also_missing": "keep" if keeps else "drop",
            "pairs_before_also": n_joined,
            "without_value": without_value,
        }
    if plan.options.one_to_one:
        summary |= {"one_to_one": True, "similar_pairs": n_similar}
    if names:
        summary["with_columns"] = list(names)
    rows = PairRows(
        matches.runs,
        catalogues,
        matches.score_name,
        metadata_of(summary),
        columns,
        [each.name for each in conditions],
    )
    return PairResult(rows, matches.counts, summary)


def _find_exactly(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]],
    plan: PairPlan,
    _: Workspace,
    runner: Runner,
) -> tuple[Sequence[Catalogue], Matches, int]:
    with runner.stage("read") as note:
        found = read_collections(collections, runner)
        n_outside = count_outside(
            found.catalogues, found.blocking_keys, plan.options.blocking_columns
        )
        records = read_records(found, plan, runner)
        note(documents=sum(map(len, found.catalogues)), records=len(records))
    with runner.stage("join") as note:
        matches = find_matches(records, plan.options, runner)
        note(pairs=matches.n_pairs)
    return found.catalogues, matches, n_outside


def _find_in_buckets(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]],
    plan: PairPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[Sequence[Catalogue], Matches, int]:
    from neardup.jobs.pairs.bucketed import meet_in_buckets

    with runner.stage("read") as note:
        signed = sign_collections(collections, workspace, runner)
        keys = signed.batches.blocking_keys()
        n_outside = count_outside(signed.catalogues, keys, plan.options.blocking_columns)
        found = meet_in_buckets(signed, plan, workspace, runner)
        n_documents = sum(map(len, signed.catalogues))
        note(documents=n_documents, candidates=len(found.partitions.documents))
    with runner.stage("join") as note:
        matches = find_matches_in_buckets(found, plan, workspace, runner)
        note(records=matches.n_records, pairs=matches.n_pairs)
    return signed.catalogues, matches, n_outside


def _keep_fulfilling(
    matches: Matches,
    catalogues: Sequence[Catalogue],
    conditions: Sequence[Condition],
    workspace: Workspace,
    runner: Runner,
    *,
    keep_missing: bool,
) -> tuple[Matches, dict[str, dict[str, int]]]:
    from neardup.jobs.pairs.conditions import keep_fulfilling

    with runner.stage("also") as note:
        found = keep_fulfilling(
            matches.runs, catalogues, conditions, workspace, runner, keep_missing=keep_missing
        )
        n_pairs = sum(map(len, found.pairs))
        note(pairs=n_pairs)
    return replace(matches, runs=found.pairs, n_pairs=n_pairs), found.without_value


def _match_one_to_one(
    matches: Matches, catalogues: Sequence[Catalogue], plan: PairPlan, runner: Runner
) -> Matches:
    # One more kernel, which most runs do not need.
    from neardup.jobs.pairs.one_to_one import choose_one_to_one

    with runner.stage("match") as note:
        n_documents = sum(map(len, catalogues))
        runs = choose_one_to_one(matches.runs, n_documents, by_distance=plan.is_by_distance)
        n_pairs = sum(map(len, runs))
        note(pairs=n_pairs)
    return replace(matches, runs=runs, n_pairs=n_pairs)
