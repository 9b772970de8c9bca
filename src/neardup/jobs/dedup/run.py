"""The job: the stages of deduplication in order, from sources to the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.files.input_options import check_effect
from neardup.files.rows import Source
from neardup.jobs.dedup.choose import choose_by_buckets, choose_exactly
from neardup.jobs.dedup.contents import find_contents, sign_documents
from neardup.jobs.dedup.decide import assign
from neardup.jobs.dedup.method import check_fits, choose_method
from neardup.jobs.dedup.other import Other
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.dedup.summary import summarise
from neardup.jobs.document_options import to_be_counted
from neardup.reading.signed_batches import count_shingles, with_frequencies
from neardup.runtime.runner import Runner
from neardup.storage.work import IN_MEMORY

if TYPE_CHECKING:
    from neardup.documents.additions import Adding
    from neardup.documents.index import OpenDocuments
    from neardup.storage.work import Workspace


def deduplicate_against(
    sources: Sequence[Source], other: Other, runner: Runner, workspace: Workspace = IN_MEMORY
) -> DeduplicationResult:
    """Run all stages but the writing against what ``open_index`` has opened."""
    result = deduplicate_sources(
        sources,
        other.sources,
        other.plan,
        runner,
        workspace,
        other.index,
        other.new,
        counted=other.counted,
    )
    if other.state is not None:
        folder = other.state["path"]
        listed = [{"name": Path(folder).name, "origin": folder}]
        result.summary |= {"against_files": 1, "against": listed}
    return result


def deduplicate_sources(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: DedupPlan,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
    index: OpenDocuments | None = None,
    new: Adding | None = None,
    *,
    counted: Sequence[Source] | None = None,
) -> DeduplicationResult:
    """Run all stages but the writing.

    What is compared against is ``against``, or the documents of an ``index``, which are looked up
    while the first pass reads; ``new`` gets what stays, and is told what went.

    Two passes over the files: the first signs every document, the second reads those again that
    may have a near-duplicate, for exact comparison. Weights by document frequencies need a pass of
    their own before, which counts documents: those of ``counted``, or, where that is None, those
    that are compared.
    """
    check_effect(plan.options, sources, against, counted or ())
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            collections = to_be_counted(plan.options, sources, against, counted)
            frequencies = count_shingles(collections, plan.reading, runner)
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    if index is not None:
        from neardup.jobs.dedup.against_index import IndexLookUp

        look_up = IndexLookUp(index, plan.measure)
        plan = replace(plan, reading=replace(plan.reading, look_up=look_up))
    with runner.stage("read") as note:
        signed = sign_documents(sources, against, plan, workspace, runner)
        is_looked_up = index is not None
        contents = find_contents(signed, plan.keep, workspace, is_looked_up=is_looked_up)
        n_contents = contents.count()
        note(documents=len(contents.firsts), distinct_texts=n_contents)
    method, choice = plan.options.method, None
    if method == "auto":
        with runner.stage("choose method") as note:
            choice = choose_method(contents, plan, runner)
            note(method=choice.method)
        method = choice.method
    if method == "exact" or plan.options.audit:
        check_fits(contents, plan, workspace, "audit" if method == "minhash" else "method")
    if method == "minhash":
        decision = choose_by_buckets(signed.batches, contents, plan, workspace, runner)
    else:
        decision = choose_exactly(contents, plan, runner)
    assignment = assign(contents, decision)
    audit = None
    if plan.options.audit and method == "minhash":
        from neardup.jobs.dedup.audit import audit_contents

        with runner.stage("audit"):
            audit = audit_contents(signed.batches, contents, decision, plan, runner)
    other, n_against = contents.other, None
    if index is not None and contents.earlier is not None:
        from neardup.jobs.dedup.against_index import catalogue_of

        other, n_against = catalogue_of(index, contents.earlier.index_documents), index.n_documents
    added: dict[str, int] = {}
    if new is not None:
        from neardup.jobs.dedup.additions import add_survivors, find_known

        with runner.stage("add") as note:
            own, batches = contents.own, signed.batches
            are_known = find_known(new.index, batches, own, assignment)
            # Where a run is repeated they stay, as they did before.
            assignment = assignment.without(are_known)
            n_added = add_survivors(new, batches, own, other, assignment, are_known, runner)
            note(documents=n_added)
        added = {"documents_added": n_added, "documents_known": int(are_known.sum())}
    summary = summarise(
        contents, decision, assignment, plan, method, choice, audit, runner, n_against=n_against
    )
    summary |= added
    shares_ids = plan.options.add
    return DeduplicationResult(contents.own, other, assignment, summary, shares_ids=shares_ids)
