"""The job: the stages of a cut in order, from sources to the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neardup.files.input_options import check_effect
from neardup.files.rows import Source
from neardup.jobs.cut.collections import keep_ranks, read_collections
from neardup.jobs.cut.keepers import ReadKeepers
from neardup.jobs.cut.named import cut_named, read_named_spans
from neardup.jobs.cut.passages import cut_passages
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.repeated import most_repeated
from neardup.jobs.cut.result import CutResult
from neardup.jobs.cut.spans import CutSpans, merge_spans
from neardup.jobs.cut.summary import summarise, summarise_gaps
from neardup.jobs.cut.units import cut_units
from neardup.options.choices import Side
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign_pass import list_documents
from neardup.runtime.runner import Runner
from neardup.storage.workspace import IN_MEMORY

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace


def cut_sources(
    sources: Sequence[Source],
    against: Sequence[Source] | None,
    plan: CutJobPlan,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> CutResult:
    """Run all stages but the writing.

    With ``against`` nothing goes but what documents of these sources have, which all stay.

    Raises
    ------
    InvalidInputError
        For a bad row, unless these are to be skipped, and for a repeated id; if text cannot be cut
        out of a source.
    ReadError, WriteError
        If a file cannot be read, or the work folder not be written.
    """
    others = against or []
    check_effect(plan.options, sources, others)
    _check_cuttable(sources)
    if plan.units is not None:
        other, own, spans = cut_units(sources, others, plan, workspace, runner)
    else:
        with runner.stage("read") as note:
            collections = read_collections(sources, others, plan, workspace, runner)
            other, own = collections.catalogues
            note(documents=len(own), tokens=len(collections.tokens.values))
        spans = cut_passages(collections, plan, runner)
    if against is not None and not len(other):
        # Stages take this for a collection by itself.
        spans = CutSpans.of_none()
    gaps = merge_spans(spans)
    with runner.stage("report"):
        most = most_repeated(own, spans, plan.reading, runner)
    summary = summarise(own, other, spans, gaps, plan, most, runner)
    keepers = ReadKeepers(own, other, spans)
    return CutResult(own, other, spans, gaps, keepers, plan.options.replacement, summary)


def _check_cuttable(sources: Sequence[Source]) -> None:
    """Raise InvalidInputError for the first source that no text can be cut out of."""
    for source in sources:
        refusal = source.cut_refusal()
        if refusal is not None:
            raise refusal


def cut_as_named(
    sources: Sequence[Source],
    named_in: Any,
    side: Side | None,
    plan: CutJobPlan,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> CutResult:
    """Cut out what a table names.

    Raises
    ------
    InvalidInputError, ReadError, WriteError
        As ``cut_sources``; if the table does not fit to the documents.
    """
    check_effect(plan.options, sources)
    _check_cuttable(sources)
    with runner.stage("read") as note:
        table = read_named_spans(named_in, trust=plan.options.trust)
        own = list_documents(
            sources,
            plan.reading.columns,
            workspace,
            runner,
            skip_bad=plan.reading.skip_bad,
            with_lengths=True,
        )
        note(documents=len(own), spans=len(table))
    with runner.stage("cut") as note:
        spans, keepers = cut_named(own, table, side, keep_ranks(own, plan.keep))
        note(spans=len(spans))
    gaps, other = merge_spans(spans), Catalogue.of_none()
    with runner.stage("report"):
        most = most_repeated(own, spans, plan.reading, runner)
    summary = summarise_gaps(own, other, spans, gaps, plan, most, runner)
    return CutResult(own, other, spans, gaps, keepers, plan.options.replacement, summary)
