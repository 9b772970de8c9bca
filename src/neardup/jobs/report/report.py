"""Public ``report``: one page that shows what a job has found, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from neardup.documents.other import resolve_against
from neardup.engine.workspaces import open_workspace
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.inputs import check_effect
from neardup.files.resolve import resolve_inputs, told_apart
from neardup.files.rows import Source
from neardup.index.store import Database, index_named
from neardup.jobs.cut.cut_result import CutResult
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.report.cut import report_of_cut, report_of_cut_result
from neardup.jobs.report.dedup import report_of_dedup, report_of_result
from neardup.jobs.report.passages import report_of_passages
from neardup.options.choices import Data
from neardup.options.documents import ReportOptions
from neardup.options.groups import AgainstDataOptions, WorkerOptions
from neardup.options.option import argument, but, no_effect, takes
from neardup.options.together import ReadArgument, RunArgument
from neardup.outputs.table_rows import TableRows
from neardup.passages.document_pairs import HiddenText
from neardup.reports.index import index_report
from neardup.reports.page import Report
from neardup.reports.pairs.judgements import Labels
from neardup.reports.pairs.labelled import hold_to_labels
from neardup.reports.pairs.page import render_pairs, select_examples
from neardup.reports.pairs.table import pairs_table
from neardup.results import PassageResult, Result
from neardup.runs.runner import Runner
from neardup.runs.work import BY_SYSTEM, Workspace
from neardup.stages.options import columns_of, other_columns_of
from neardup.stages.output import open_output
from neardup.stages.tables import (
    Collection,
    an_id_of_others,
    kind_of_folder,
    kind_of_table,
    open_labels,
    open_table,
)


class _Arguments(
    ReportOptions, AgainstDataOptions, WorkerOptions, ReadArgument, RunArgument, kw_only=False
):
    result: Data = argument(
        "What ``deduplicate``, ``find_pairs``, ``align``, ``cut``, ``estimate`` or a search "
        "returned; or what its command wrote: the path of a folder, or that of a table. Or the "
        "path of an index, whose page shows what came, went and stayed."
    )
    inputs: Data | None = argument(
        "The documents that the job has read, in any form that it takes: the page shows their "
        "texts. Folders of ``dedup`` have them, and need none.",
        default=None,
    )
    labels: Data | None = argument(
        "Pairs that are right, a file or a table with ``id_a`` and ``id_b``: the page shows "
        "precision and recall of pairs over their thresholds.",
        default=None,
    )
    differs = but(
        against={
            "python": "The other documents that the result names, if it was made of two "
            "collections."
        },
    )


@takes(_Arguments)
def report(given: _Arguments) -> Report:
    """Make a page that shows what a job has found, and why.

    Returns
    -------
    A ``Report``: ``write`` makes a file of it, a notebook shows it, ``html`` is the page. It loads
    nothing, and is the same each time.

    Raises
    ------
    InvalidParameterError
        For an option that is not known, or has no effect on this result.
    InvalidInputError, ReadError
        If the result is none that a report can be made of, cannot be read, or is not as it was
        written.

    Notes
    -----
    Tables are read some rows at a time; pairs that are held to labels are in memory, and of each
    document that shares a passage 100 bytes and its id. What is counted goes to temporary files, 80
    bytes a pair, 56 a span and 200 a passage. Inputs are read once.
    """
    options = given.part(ReportOptions)
    own = None if given.inputs is None else resolve_inputs(given.inputs, options)
    other = resolve_against(given.against, partial(resolve_inputs, options=options), options)
    with Runner(given.workers, given.progress, "report") as runner:
        return make_report(given.result, own, other, given.labels, options, runner)


def make_report(
    result: Any,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    labels: Any,
    options: ReportOptions,
    runner: Runner,
) -> Report:
    """Find out which job has made a result, and make its page; arguments as of ``report``."""
    given = _Given(
        None if own is None else Collection(own, columns_of(options), options.skip_bad),
        None if other is None else Collection(other, other_columns_of(options), options.skip_bad),
        labels,
    )
    index = index_named(result)
    if index is not None:
        given.check_only("an index")
        for name, option in options.known.items():
            if getattr(options, name) != option.default:
                raise no_effect(name, "on a report of an index", "name a table")
        with runner.stage("report"):
            database = Database(index)
            return index_report(index.name, database.read().manifest, database.read_history())
    check_effect(options, own or (), other or ())
    options.check_other("against", is_given=other is not None)
    if isinstance(result, DeduplicationResult):
        given.check_only("a deduplication in memory, which has its documents")
        return report_of_result(result, runner)
    if isinstance(result, CutResult):
        given.check_only("a cut in memory, which has its documents")
        with open_workspace(_MEMORY, None, elsewhere=BY_SYSTEM) as workspace:
            return report_of_cut_result(result, runner, workspace)
    if isinstance(result, Result):
        with open_workspace(_MEMORY, None, elsewhere=BY_SYSTEM) as workspace:
            # Where pairs of documents are told, their passages are there, too.
            table = result.passages if isinstance(result, PassageResult) else result.table
            rows = TableRows.of_table(table)
            hidden = getattr(result, "_hidden", None)
            name = type(result).__name__
            return _report_of_table(rows, result.summary, given, name, runner, workspace, hidden)
    folder_kind = None
    if isinstance(result, str | Path):
        folder_kind = kind_of_folder(str(result))
    if folder_kind == "cut":
        given.check_only("a cut", "inputs", "against")
        with open_workspace(_MEMORY, None, elsewhere=BY_SYSTEM) as workspace:
            return report_of_cut(result, runner, workspace, given.inputs, given.against)
    if folder_kind is not None:
        given.check_only("a folder of dedup, which has its documents", "against")
        output = open_output(result)
        return report_of_dedup(output, runner, against=given.against)
    name = str(result) if isinstance(result, str | Path) else "the table"
    if isinstance(result, str | Path) and Path(result).is_dir():
        message = (
            "a folder that is no output of dedup or cut, which has a summary.json; name such a "
            "folder, or a table that pairs, estimate, align or search has written"
        )
        raise InvalidInputError(message, path=name)
    with open_workspace(_MEMORY, None, elsewhere=BY_SYSTEM) as workspace:
        rows, summary = open_table(result, runner, workspace)
        return _report_of_table(rows, summary, given, name, runner, workspace)


# Bytes that rows of a table may take while they are counted and ranked; more are in files.
_MEMORY = 1 << 28


@dataclass(frozen=True)
class _Given:
    """What a report was given beside the result."""

    inputs: Collection | None
    against: Collection | None
    labels: Any

    def check_only(self, result: str, *names: str) -> None:
        """Raise if anything else was given than what a report of this result can use."""
        for name, value in vars(self).items():
            if value is not None and name not in names:
                message = f"{name} has no effect on a report of {result}; leave it out"
                raise InvalidParameterError(message, name)


def _report_of_table(
    rows: TableRows,
    summary: Mapping[str, Any] | None,
    given: _Given,
    name: str,
    runner: Runner,
    workspace: Workspace,
    hidden: HiddenText | None = None,
) -> Report:
    if given.inputs is not None and given.against is not None:
        told_apart(given.against.sources, given.inputs.sources, an_id_of_others(rows))
    if kind_of_table(rows.schema.names, name) != "passages":
        if "similarity" not in rows.schema.names:
            message = (
                "the pairs of this table have no column 'similarity', by which a report ranks "
                "them; name a table that pairs or estimate has written"
            )
            raise InvalidInputError(message, path=name)
        given.check_only("pairs", "inputs", "against", "labels")
        labels = None
        if given.labels is not None:
            labels = open_labels(given.labels, runner).decided()
        return report_of_pairs(
            rows, summary, given.inputs, given.against, runner, workspace, labels=labels
        )
    given.check_only("passages", "inputs", "against")
    return report_of_passages(
        rows,
        runner,
        given.inputs,
        given.against,
        summary=summary,
        hidden=hidden,
        workspace=workspace,
    )


def report_of_pairs(
    rows: TableRows,
    summary: Mapping[str, Any] | None,
    own: Collection | None,
    other: Collection | None,
    runner: Runner,
    workspace: Workspace,
    *,
    labels: Labels | None = None,
) -> Report:
    """Make the page of a table of pairs, estimates or matches.

    ``own`` are the documents a, ``other`` the documents b where these are of another collection;
    None if their texts are not at hand.
    """
    two_sided = True if other is not None else None
    pairs = pairs_table(rows, summary, workspace, two_sided=two_sided)
    labelled = None if labels is None else hold_to_labels(pairs, labels)
    selection = select_examples(pairs, labelled)
    ids_a, ids_b = selection.ids()
    if not pairs.two_sided:
        ids_a = ids_b = ids_a | ids_b
    texts_a = {} if own is None else own.texts(ids_a, runner)
    texts_b = texts_a
    if pairs.two_sided:
        texts_b = {} if other is None else other.texts(ids_b, runner)

    def find_text(side: str, identifier: str) -> tuple[str, str] | None:
        found = (texts_a if side == "a" else texts_b).get(identifier)
        return None if found is None else (found.text, f"{found.file}, row {found.row:,}")

    # How texts are seen that are not known.
    advice = (
        "Documents that are listed without a text are not in the files named; name the same files "
        "as when the pairs were found, with the same column of ids."
    )
    if own is None and not pairs.two_sided:
        advice = "To see the texts, name the documents: neardup report TABLE INPUT -o PAGE.html."
    elif own is None or (other is None and pairs.two_sided):
        advice = (
            "To see the texts, name both collections: neardup report TABLE INPUT --against OTHER "
            "-o PAGE.html."
        )
    return render_pairs(pairs, labelled, selection, find_text, advice)
