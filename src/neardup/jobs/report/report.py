"""Public ``report``: one page that shows what a job has found, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.input_options import check_effect
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.cut.other import resolve_against
from neardup.jobs.cut.result import CutResult
from neardup.jobs.dedup.output import open_output
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.document_options import AgainstOptions
from neardup.jobs.report.cut import report_of_cut, report_of_cut_result
from neardup.jobs.report.dedup import report_of_dedup, report_of_result
from neardup.jobs.report.pairs import report_of_pairs
from neardup.jobs.report.passages import report_of_passages
from neardup.jobs.report.tables import Collection, kind_of_folder, kind_of_table, read_table
from neardup.options.choices import OnError, TextFormat
from neardup.options.jobs import COMMANDS
from neardup.options.option import no_effect
from neardup.reports.page import Report
from neardup.results import Result
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa


# What decides what a report shows.


@dataclass(frozen=True, kw_only=True)
class ReportOptions(AgainstOptions):
    """Which column counts are made by, and how the result and the documents it names are read."""

    known = COMMANDS["report"]

    by: str | None = None
    trust: bool = False


def report(
    result: Any,
    inputs: Any = None,
    *,
    against: Any = None,
    against_text_column: str | Sequence[str] | None = None,
    against_id_column: str | None = None,
    by: str | None = None,
    labels: Any = None,
    trust: bool = False,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    input_format: TextFormat = "auto",
    encoding: str | None = None,
    delimiter: str | None = None,
    lines: bool = False,
    main_text: bool = False,
    alternative_texts: bool = False,
    on_error: OnError = "raise",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make a page that shows what a job has found, and why.

    Parameters
    ----------
    result
        What ``deduplicate``, ``find_pairs``, ``align``, ``cut``, ``estimate`` or a search returned;
        or what its command wrote: the path of a folder, or that of a table.
    inputs
        The documents that the job has read, in any form that it takes: the page shows their texts.
        Folders of ``dedup`` have them, and need none.
    against
        The other documents that the result names, if it was made of two collections.
    against_text_column, against_id_column
        Columns of these, if they are others than those of the inputs.
    by
        A column of the inputs, such as their source: documents are counted by its values.
    labels
        Pairs that are right, a file or a table with ``id_a`` and ``id_b``: the page shows precision
        and recall of pairs over their thresholds.
    trust
        Take the tables of an output folder as they are, and its summary, if they have changed since
        they were written.
    text_column, id_column, input_format, encoding, delimiter, lines, main_text, alternative_texts
        How the documents are read, as when the result was made.
    on_error
        ``skip`` passes over bad rows.
    workers, progress
        As for ``deduplicate``.

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
    Tables are held in memory. Inputs are read once, up to the last document that the page shows.
    """
    options = ReportOptions(
        against_text_column=against_text_column,
        against_id_column=against_id_column,
        by=by,
        trust=trust,
        text_column=text_column,
        id_column=id_column,
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        lines=lines,
        main_text=main_text,
        alternative_texts=alternative_texts,
        on_error=on_error,
    )
    own = None if inputs is None else resolve_inputs(inputs, options)
    other = None
    if against is not None:
        other = resolve_against(against, partial(resolve_inputs, options=options), options)
    with Runner(workers, progress) as runner:
        return make_report(result, own, other, labels, options, runner)


def make_report(
    result: Any,
    own: Sequence[Source] | None,
    other: Sequence[Source] | None,
    labels: Any,
    options: ReportOptions,
    runner: Runner,
) -> Report:
    """Find out which job has made a result, and make its page; arguments as of ``report``."""
    check_effect(options, own or (), other or ())
    options.check_other("against", is_given=other is not None)
    given = _Given(
        None if own is None else Collection(own, options.columns, options.skip_bad),
        None if other is None else Collection(other, options.other_columns, options.skip_bad),
        labels,
        options.by,
        options.trust,
    )
    if options.trust and isinstance(result, Result):
        raise no_effect("trust", "on a result in memory", "name what was written")
    if isinstance(result, DeduplicationResult):
        given.check_only("a deduplication in memory, which has its documents", "by")
        return report_of_result(result, runner, by=given.by)
    if isinstance(result, CutResult):
        given.check_only("a cut in memory, which has its documents")
        return report_of_cut_result(result, runner)
    if isinstance(result, Result):
        return _report_of_table(result.table, result.summary, given, type(result).__name__, runner)
    folder_kind = None
    if isinstance(result, str | Path):
        folder_kind = kind_of_folder(str(result), trust=options.trust)
    if folder_kind == "cut":
        given.check_only("a cut", "inputs", "against")
        return report_of_cut(result, runner, given.inputs, given.against, trust=options.trust)
    if folder_kind is not None:
        given.check_only("a folder of dedup, which has its documents", "against", "by")
        output = open_output(result, trust=options.trust)
        return report_of_dedup(output, runner, against=given.against, by=given.by)
    name = str(result) if isinstance(result, str | Path) else "the table"
    table, summary = read_table(result, runner, trust=options.trust)
    return _report_of_table(table, summary, given, name, runner)


@dataclass(frozen=True)
class _Given:
    """What a report was given beside the result."""

    inputs: Collection | None
    against: Collection | None
    labels: Any
    by: str | None
    trust: bool

    def check_only(self, result: str, *names: str) -> None:
        """Raise if anything else was given than what a report of this result can use."""
        for name, value in vars(self).items():
            if value is not None and name not in ("trust", *names):
                message = f"{name} has no effect on a report of {result}; leave it out"
                raise InvalidParameterError(message, name)


def _report_of_table(
    table: pa.Table, summary: Mapping[str, Any] | None, given: _Given, name: str, runner: Runner
) -> Report:
    if kind_of_table(table.column_names, name) != "passages":
        if "similarity" not in table.column_names:
            message = (
                "the pairs of this table have no column 'similarity', by which a report ranks "
                "them; name a table that pairs or estimate has written"
            )
            raise InvalidInputError(message, path=name)
        given.check_only("pairs", "inputs", "against", "labels")
        labels = None
        if given.labels is not None:
            labels, _ = read_table(given.labels, runner, are_labels=True, trust=given.trust)
        return report_of_pairs(table, summary, given.inputs, given.against, runner, labels=labels)
    given.check_only("passages", "inputs", "against")
    return report_of_passages(table, runner, given.inputs, given.against, summary=summary)
