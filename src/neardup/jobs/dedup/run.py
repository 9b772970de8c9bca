"""The job: the stages of deduplication in order, from sources to the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.files.input_options import check_effect
from neardup.files.rows import Source
from neardup.jobs.dedup.audit import audit_contents
from neardup.jobs.dedup.candidates import all_candidates, bucket_contents
from neardup.jobs.dedup.contents import read_contents
from neardup.jobs.dedup.decide import decide
from neardup.jobs.dedup.method import choose_method
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.dedup.summary import summarise
from neardup.reading.frequencies import count_shingles, with_frequencies
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.runner import Runner


def deduplicate_sources(
    sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan, runner: Runner
) -> DeduplicationResult:
    """Run all stages but the writing.

    Two passes over the files: the first signs every document, the second reads those again that
    may have a near-duplicate, for exact comparison. Weights by document frequencies need a pass of
    their own before, which counts.
    """
    check_effect(plan.options, sources, against)
    runner.prepare(KERNELS_OF["dedup"])
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            collections = [
                (against, plan.options.other_columns),
                (sources, plan.options.columns),
            ]
            frequencies = count_shingles(collections, plan.reading, runner)
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    with runner.stage("read") as note:
        contents, keys = read_contents(sources, against, plan, runner)
        note(documents=sum(map(len, contents.catalogues)), distinct_texts=len(contents))
    method, choice = plan.options.method, None
    if method == "auto":
        with runner.stage("choose method") as note:
            choice = choose_method(contents, plan, runner)
            note(method=choice.method)
        method = choice.method
    if method == "minhash":
        with runner.stage("bucket") as note:
            candidates = bucket_contents(keys, contents, plan, runner)
            note(candidates=len(candidates.places))
    else:
        candidates = all_candidates(contents)
    del keys
    with runner.stage("compare"):
        sets = contents.read_comparable(contents.order[candidates.places], plan, runner)
        lists = candidates.keys_of(sets, plan.measure)
    with runner.stage("choose") as note:
        decision = decide(contents, candidates, lists, sets, plan, runner)
        note(compared=decision.removals.n_compared, similar=decision.removals.n_verified)
    audit = None
    if candidates.buckets is not None:
        with runner.stage("audit"):
            audit = audit_contents(contents, candidates, decision.removals, plan, runner)
    summary = summarise(contents, decision, plan, method, choice, audit, runner)
    return DeduplicationResult(contents.own, contents.other, decision.assignment, summary)
