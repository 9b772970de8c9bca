"""The page of a deduplication: which documents it shows, and their texts."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from neardup.jobs.dedup.output import DedupOutput
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.report.collection import Collection
from neardup.jobs.report.dedup_counts import count_by_values, with_values
from neardup.jobs.report.dedup_shingles import ShingleCounter
from neardup.jobs.report.dedup_texts import FolderOutcome, Outcome, ResultOutcome, ShownTexts
from neardup.jobs.report.kept_pairs import find_kept_pairs
from neardup.reports.dedup.agreement import agreement_of
from neardup.reports.dedup.clusters import count_clusters
from neardup.reports.dedup.examples import KeptPairs, choose_examples
from neardup.reports.dedup.exchange import exchange_of
from neardup.reports.dedup.flows import flows_of
from neardup.reports.dedup.page import DedupData, render_dedup
from neardup.reports.dedup.wording import say_title
from neardup.reports.report import Report
from neardup.runtime.memory import release_memory
from neardup.runtime.runner import Runner


def report_of_dedup(
    output: DedupOutput,
    runner: Runner,
    *,
    against: Collection | None = None,
    by: str | None = None,
) -> Report:
    """Return the page of an output folder.

    Parameters
    ----------
    output
        It has the texts of all documents but those of another collection.
    runner
        Reads the texts of another collection, and compares some documents that stay.
    against
        The other collection, if there was one and its texts are to be shown.
    by
        A column of the input: documents are counted by its values. None is that of the run.

    Raises
    ------
    ReadError, InvalidInputError
        If the documents are not what they were.

    Notes
    -----
    Files are read up to the last document that is shown. Memory for the tables of removed documents
    and of clusters, and the texts that are shown or compared.
    """
    return _report(FolderOutcome(output), runner, against, by)


def report_of_result(
    result: DeduplicationResult, runner: Runner, *, by: str | None = None
) -> Report:
    """Return the page of a result in memory, for which its inputs are read again.

    Parameters
    ----------
    result
        What is shown.
    runner, by
        As of ``report_of_dedup``.

    Raises
    ------
    ReadError, InvalidInputError
        If they are not what they were.
    """
    _, other = result.collections()
    against = None
    if other.sources and result.summary.get("against_documents"):
        against = Collection(other.sources, other.columns, bool(other.skipped))
    return _report(ResultOutcome(result), runner, against, by)


def _report(outcome: Outcome, runner: Runner, against: Collection | None, by: str | None) -> Report:
    summary, removed = outcome.summary, outcome.removed
    # What reading a table has left behind would stay beside what comes next.
    release_memory()
    documents = outcome.documents()
    clusters = count_clusters(removed, summary["documents_kept"])
    release_memory()
    kept_pairs = find_kept_pairs(outcome, documents, runner.workers)
    chosen = choose_examples(removed)
    largest = [each.place for each in clusters.largest]
    shown = ShownTexts(removed)
    shown.read(
        outcome,
        against,
        runner,
        removed=chain(*chosen.values()),
        keepers=chain(*chosen.values(), largest),
    )
    counter = ShingleCounter(summary)
    counts = [("file", "file", summary["by_file"])]
    counted = summary.get("by")
    if by is not None and (counted is None or counted["column"] != by):
        values = outcome.values(by)
        counted = count_by_values(values, documents, removed)
        without = [name for name in removed.column_names if name not in ("by", "kept_by")]
        removed = with_values(values, documents, removed.select(without))
    agreement = None
    if counted is not None:
        counts.append((counted["column"], "value", counted))
        agreement = agreement_of(counted["column"], removed)
    data = DedupData(
        summary,
        removed,
        clusters,
        [flows_of(*each) for each in counts],
        [exchange_of(*each) for each in counts],
        {
            kind: [counter.check(shown.removal(place)) for place in places]
            for kind, places in chosen.items()
        },
        _with_counts(kept_pairs, counter),
        [shown.keeper(place).text for place in largest],
        agreement=agreement,
        is_written=outcome.is_written,
    )
    release_memory()
    return Report(render_dedup(data), say_title(summary))


def _with_counts(found: KeptPairs | str, counter: ShingleCounter) -> KeptPairs | str:
    if isinstance(found, str):
        return found
    below, missed = ([counter.count(pair) for pair in each] for each in (found.below, found.missed))
    return replace(found, below=below, missed=missed)
