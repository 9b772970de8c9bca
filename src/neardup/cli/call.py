"""Options, messages and outputs of one command call.

Progress is on standard error, results on standard output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

import click

from neardup.errors import WriteError, on_command_line
from neardup.options.option import Options, no_effect
from neardup.runs.progress import Display, counted, plural

if TYPE_CHECKING:
    from neardup.engine.engine import Engine
    from neardup.engine.spark.work import SharedWork
    from neardup.files.destinations import Target
    from neardup.files.inputs import Inputs
    from neardup.files.rows import Source
    from neardup.options.groups import AgainstOptions, InputOptions
    from neardup.results import TableResult
    from neardup.runs.runner import Runner
    from neardup.runs.work import LastingWork, Workspace


# Formats whose texts of passages are read by people or programs, unlike columns.
_WITH_TEXTS = ("jsonl", "xlsx")
# As the shell reports a command that a closed pipe has ended: 128 and the number of SIGPIPE.
_CLOSED_PIPE = 141


class Call:
    """One run of a command, from options to printed result."""

    def __init__(self, options: Options) -> None:
        # Each command knows the class of its options.
        self.options: Any = options
        self._shared: SharedWork | None = None

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing but errors is printed."""
        return bool(getattr(self.options, "quiet", False))

    @cached_property
    def display(self) -> Display:
        """Return the progress display of the user."""
        return Display(quiet=self.is_quiet)

    @cached_property
    def runner(self) -> Runner:
        """Return the threads that work."""
        from neardup.runs.runner import Runner

        command = click.get_current_context().command_path.split()[1:]
        workers = getattr(self.options, "workers", None)
        return Runner(workers, self.display, "-".join(command) or "job")

    @property
    def is_on_spark(self) -> bool:
        """Return whether a Spark session does the work."""
        return bool(self.options.engine == "spark")

    def check_spark(self, whole: Sequence[str] = ()) -> None:
        """Raise if Spark is missing or cannot take the options."""
        from neardup.engine.spark.cluster import check_pyspark, check_tasks

        check_tasks(whole)
        options = self.options
        if options.workers is not None:
            remedy = "set spark.executor.cores and spark.executor.instances"
            raise no_effect("workers", "with engine spark", remedy, "engine")
        check_pyspark()

    def engine_within(self, workspace: Workspace) -> Engine:
        """Return the engine of --engine, with its workspace."""
        if self.is_on_spark:
            from neardup.engine.spark.cluster import current_cluster
            from neardup.engine.spark.engine import SparkEngine

            # Executors keep their results in the folder of ``working``.
            return SparkEngine(lambda: current_cluster(self._shared), self.runner, workspace)
        from neardup.engine.threads import ThreadEngine

        return ThreadEngine(self.runner, workspace)

    @contextmanager
    def working(self, output: Target | None, key: Mapping[str, Any] | None) -> Iterator[Workspace]:
        """Open a job's workspace and list results of earlier runs.

        ``output`` and ``key`` are as of ``open_workspace``. On Spark executors and driver keep
        results in the folder of ``--work``.
        """
        from neardup.engine.opening import open_workspace, work_parent

        with ExitStack() as stack:
            memory, work = self.options.memory, self.options.work
            key = None if output is None else key
            lasting: LastingWork | None
            if not self.is_on_spark:
                workspace = open_workspace(memory, work, output=output, key=key)
                # Results of other jobs do not matter to a run that resumes nothing.
                lasting = None if key is None else workspace.work
            elif work is None or output is None or key is None:
                workspace = open_workspace(memory, work, output=output)
                lasting = None
            else:
                from neardup.engine.spark.work import SharedWork

                key = {**key, "engine": "spark"}
                lasting = self._shared = SharedWork.open(work_parent(work), output.name, key)
                stack.enter_context(lasting)
                workspace = open_workspace(memory, lasting.folder)
            stack.enter_context(workspace)
            stack.enter_context(_reported(lasting, quiet=self.is_quiet))
            yield workspace

    def sources(self, inputs: Sequence[str], options: InputOptions) -> Inputs:
        """Return the sources of INPUT, with the rows that meet ``--where``."""
        from neardup.files.inputs import resolve_paths
        from neardup.reading.sign import rows_where

        return rows_where(resolve_paths(inputs, options), self.options.where)

    def other_sources(self, options: AgainstOptions, tokenizer: Any = None) -> Inputs | None:
        """Return the sources of ``--against``, None without."""
        from neardup.documents.other import resolve_other
        from neardup.files.inputs import resolve_paths

        if not (against := self.options.against):
            return None
        named = [Path(each) for each in against]
        return resolve_other(named, lambda _: resolve_paths(against, options), tokenizer)

    def print_result(self, facts: Mapping[str, Any], *lines: str, err: bool = False) -> None:
        """Print a result as JSON or lines, unless quiet."""
        if self.options.json:
            # Help and tables need no JSON.
            import json

            print_output(json.dumps(facts, ensure_ascii=False))
        elif not self.is_quiet:
            print_output("\n".join(lines), err=err)


def print_output(text: str, *, err: bool = False) -> None:
    """Print a result on standard output, or on standard error."""
    try:
        click.echo(text, err=err)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}; all else is done"
        raise WriteError(message) from None


def discard_standard_output() -> None:
    """Discard further standard output after its reader has gone.

    Python flushes it once more at exit, which must not fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _reported(work: LastingWork | None, *, quiet: bool) -> Iterator[None]:
    """List results of earlier runs, and remove them on success.

    Reused and damaged results get a line on standard error, unless ``quiet``.
    """
    if work is None:
        yield
        return

    def print_lines(lines: list[str]) -> None:
        for line in [] if quiet else lines:
            click.echo(on_command_line(line), err=True)

    n_printed = len(work.problems)
    print_lines(work.account_of_earlier())
    try:
        yield
        work.remove_stale()
    finally:
        print_lines(work.problems[n_printed:])


def hold(target: Target, *, overwrite: bool) -> None:
    """Reserve a local output for this run until the command ends."""
    from neardup.files.destinations import holding

    if isinstance(target, Path):
        click.get_current_context().with_resource(holding(target, overwrite=overwrite))


@contextmanager
def _closed_by_reader() -> Iterator[None]:
    """End the command silently when standard output is closed."""
    try:
        yield
    except (BrokenPipeError, WriteError) as error:
        if not isinstance(error, BrokenPipeError) and not isinstance(
            error.__cause__, BrokenPipeError
        ):
            raise
        discard_standard_output()
        raise click.exceptions.Exit(_CLOSED_PIPE) from None


class FolderOutput:
    """The folder for documents, tables and summary of a command."""

    def __init__(self, call: Call) -> None:
        from neardup.files.destinations import check_output
        from neardup.files.formats import format_of

        self._call, self._options = call, call.options
        output: Target = call.options.output
        self.place = output
        # Other commands write one file of rows.
        name = str(output)
        if format_of(name) is not None and not os.path.isdir(name):  # noqa: PTH112
            message = (
                f"{name} has the name of a file, and the output is a folder, of rows and tables; "
                "name a folder"
            )
            raise WriteError(message)
        check_output(output, overwrite=call.options.overwrite)
        hold(output, overwrite=call.options.overwrite)

    def __str__(self) -> str:
        return str(self.place)

    def print_result(self, facts: Mapping[str, Any], *lines: str) -> None:
        """Print a result."""
        self._call.print_result(facts, *lines)

    def check(
        self,
        sources: Sequence[Source],
        others: Iterable[str | None],
        *,
        index: Path | None = None,
    ) -> None:
        """Raise for outputs that replace inputs or cannot hold rows.

        ``others`` are other inputs. ``index`` may not hold the output.
        """
        from neardup.files.destinations import check_apart, check_outside
        from neardup.files.inputs import origins_of
        from neardup.files.writers import check_conversion

        origins = [*origins_of(sources), *others]
        if index is not None:
            origins.append(str(index))
            check_outside(self.place, index)
        check_apart(self.place, origins)
        if self._options.format != "none":
            check_conversion(sources, self._options.format)

    def write(self, result: Any, **more: Any) -> None:
        """Write a result with more arguments of ``result.write``."""
        given = self._options
        result.write(
            self.place,
            overwrite=given.overwrite,
            format=given.format,
            progress=self._call.display,
            **more,
        )


class TableOutput:
    """The output of one table: file, pipe or standard output."""

    def __init__(self, call: Call) -> None:
        from neardup.outputs.tables import plan_table

        self._call, self._options = call, call.options
        given = call.options
        self._target = plan_table(given.output, overwrite=given.overwrite)
        if given.json and self._target.is_standard_output:
            message = (
                "--json prints the summary to standard output, where --output "
                f"{given.output} writes the table; name a file, or leave out --json"
            )
            raise click.UsageError(message)
        if self.place is not None:
            hold(self.place, overwrite=given.overwrite)

    def __str__(self) -> str:
        return str(self._target)

    def print_result(self, facts: Mapping[str, Any], *lines: str) -> None:
        """Print a result, on standard error if output is streamed."""
        self._call.print_result(facts, *lines, err=self._target.is_standard_output)

    def takes_texts(self) -> bool:
        """Return whether passages get texts, as asked or by format."""
        given = self._options
        if given.with_text is not None:
            return bool(given.with_text)
        return self._target.format in _WITH_TEXTS

    @property
    def place(self) -> Target | None:
        """Return the file or URL, None for a stream."""
        return None if self._target.is_stream else self._target.path

    def check_apart(self, inputs: Iterable[str | None], index: Path | None = None) -> None:
        """Raise if the output replaces an input or index file."""
        from neardup.files.destinations import check_apart, check_outside

        if not self._target.is_stream:
            if index is not None:
                check_outside(self._target.path, index)
            check_apart(self._target.path, inputs)

    def write(self, result: TableResult) -> None:
        """Write the table of a result."""
        with _closed_by_reader():
            self._target.write(result.rows(), overwrite=self._options.overwrite)


def printable(text: str) -> str:
    """Return text with control characters spelled out for terminals."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def written(summary: Mapping[str, Any], output: object) -> str:
    """Describe a result's location and the time of all stages."""
    return f"written to {output} in {sum(summary['seconds'].values()):.1f} s"


def list_passed_over(counts: Mapping[str, int]) -> list[str]:
    """Return a line on skipped files by ending, or none."""
    from neardup.files.formats import missing_extras
    from neardup.files.inputs import list_endings

    if not counts:
        return []
    line = f"{list_endings(counts)}; name them, or give --input-format, to have them read"
    return [line, *missing_extras(counts)]


def describe_ids(summary: Mapping[str, Any]) -> list[str]:
    """Describe the column of ids unless the user named it."""
    collections = (("", "", "all inputs"), ("against_", "of OTHER ", "all files of OTHER"))
    return [
        f"ids {of_whom}are from column {summary[f'{prefix}id_column']!r}, which {who} have; "
        f"--{prefix.replace('_', '-')}id-column '' makes them <file>:<row>"
        for prefix, of_whom, who in collections
        if summary.get(f"{prefix}id_column") and summary[f"{prefix}id_column_by_default"]
    ]


def describe_preset(summary: Mapping[str, Any]) -> list[str]:
    """List the options that a preset has chosen."""
    preset = summary.get("preset")
    if preset is None:
        return []
    flags = _as_flags(preset["chosen"])
    return [f"for {preset['name']}: {', '.join(flags) or 'nothing chosen'}"]


def _as_flags(options: Mapping[str, Any]) -> list[str]:
    return [
        f"--{name.replace('_', '-')}{'' if value is True else f' {value}'}"
        for name, value in options.items()
    ]


def describe_bands(summary: Mapping[str, Any]) -> str:
    """Describe the probability that bands find a threshold pair."""
    bands = counted(summary["bands"], "band")
    return (
        f"{bands} of {counted(summary['rows'], 'row')} {plural(summary['bands'], 'finds', 'find')} "
        f"a pair at the threshold with probability {summary['predicted_recall']:.4f}"
    )


def describe_weights(scheme: Mapping[str, Any]) -> str:
    """Describe the weights of shingles."""
    if "tf" not in scheme:
        return ""
    return f", weighted by tf {scheme['tf']} and idf {scheme['idf']}"


def describe_recall(summary: Mapping[str, Any]) -> str:
    """Describe the predicted recall."""
    recall = summary["predicted_recall"]
    return " for certain" if recall == 1 else f" with probability {recall:.4f}"


def warn_of_recall(summary: Mapping[str, Any]) -> list[str]:
    """Warn if the user's bands miss the recall."""
    if summary.get("predicted_recall", 1) >= summary.get("recall", 1):
        return []
    return [
        f"that is less than the recall of {summary['recall']:g}; "
        "leave out --bands to have it chosen for it"
    ]


# Counts by groups of documents, such as their files, as a small table.

# Groups that a terminal is shown.
_SHOWN = 10
# Of longer names the end.
_NAME_WIDTH = 60

_HEADINGS = {
    "documents_in": "in",
    "documents_kept": "kept",
    "documents_removed": "removed",
    "removed_for_against": "for OTHER",
    "exact_copies": "exact copies",
}


def table_by_file(summary: Mapping[str, Any]) -> list[str]:
    """Return a table of the files with most removals."""
    by_file = summary["by_file"]
    every, others = by_file["counts"], by_file["others"]
    if len(every) + (others["groups"] if others else 0) < 2:
        return []
    order = sorted(range(len(every)), key=lambda i: -every[i]["documents_removed"])
    shown = [every[i] for i in sorted(order[:_SHOWN])]
    wanted = [name for name in _HEADINGS if name in every[0]]
    if not any(row.get("removed_for_against") for row in every):
        wanted = [name for name in wanted if name != "removed_for_against"]
    cells = [[_HEADINGS[name] for name in wanted]]
    cells += [[f"{row[name]:,}" for name in wanted] for row in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    names = ["file", *(_shown(row["file"]) for row in shown)]
    lines = [
        "  ".join(["", *(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), name])
        for row, name in zip(cells, names, strict=True)
    ]
    n_more = len(every) - len(shown) + (others["groups"] if others else 0)
    if n_more:
        lines.append(f"  and {n_more:,} more")
    return lines


def _shown(name: str | None) -> str:
    text = "(none)" if name is None else printable(name)
    return text if len(text) <= _NAME_WIDTH else f"...{text[3 - _NAME_WIDTH :]}"


# The last lines of a report: documents that were left out, or that can hardly be found, and why.
#
# Each is one line, and there only if it concerns a document.


def note_empty(n_documents: int, fate: str, one: str = "document", many: str | None = None) -> str:
    """Describe documents without tokens and their ``fate``, if any."""
    return f"{counted(n_documents, one, many)} without tokens, {fate}" if n_documents else ""


def note_short(n_short: int, ngram: int) -> str:
    """Describe documents that are shorter than a shingle."""
    if not n_short:
        return ""
    return f"{counted(n_short, 'document')} shorter than {ngram} tokens, similar only to equal ones"


def note_single(n_single: int, ngram: int) -> str:
    """Describe sketches of a single shingle."""
    if not n_single:
        return ""
    return (
        f"{counted(n_single, 'document')} of a single shingle, {ngram} tokens or fewer, similar "
        "only to equal ones"
    )


def hints(summary: Mapping[str, Any]) -> list[str]:
    """Return the hints of a summary with the command's options."""
    notes = []
    for hint in summary.get("hints", ()):
        ways = (" ".join(_as_flags(way)) for way in hint["try"])
        where = "an index with " if hint["index"] else ""
        notes.append(f"hint: {hint['message']}; try {where}{' or '.join(ways)}")
    return notes


def note_marked(summary: Mapping[str, Any]) -> str:
    """Describe places without a marker, if any."""
    counts = summary.get("marked_places", ())
    if all(count == summary["passages"] for count in counts):
        return ""
    first, second = (f"{count:,} of {counted(summary['passages'], 'place')}" for count in counts)
    return (
        f"--place-marker matched for {first} on the first side, {second} on the second; the others "
        "are lines, or pages, paragraphs and chapters of files that have them"
    )


def note_outside(n_documents: int, columns: Sequence[str]) -> str:
    """Describe documents without a value in the blocking columns."""
    if not n_documents:
        return ""
    named = " or ".join(columns)
    return f"{counted(n_documents, 'document')} without a value in {named}, compared with none"


def note_nothing(summary: Mapping[str, Any], n_documents: int, n_found: int, remedy: str) -> str:
    """Describe an empty result and its remedy."""
    if n_found or n_documents == 1:
        return ""
    if n_documents:
        return remedy
    is_left_out = summary["skipped_rows"] or summary.get("filtered_rows")
    return "" if is_left_out else "INPUT has no rows, so there was nothing to compare"


def note_skipped(summary: Mapping[str, Any], *, has_folder: bool = False) -> str:
    """Describe rows left out by --where or as bad.

    The lines name the place that lists bad rows: files of the folder, or the JSON.
    """
    n_own, n_against = summary["skipped_rows"], summary.get("against_skipped_rows", 0)
    notes = []
    if "filtered_rows" in summary:
        n_rows = summary["filtered_rows"]
        meet = "does not meet" if n_rows == 1 else "do not meet"
        notes.append(f"{counted(n_rows, 'row')} {meet} --where")
    if n_own:
        where = "skipped/ has them, skipped.parquet says why" if has_folder else "--json lists them"
        notes.append(f"{counted(n_own, 'bad row')} skipped; {where}")
    if n_against:
        notes.append(
            f"{counted(n_against, 'bad row')} of --against skipped; summary.json lists them"
        )
    return "\n".join(notes)


def ending(
    summary: Mapping[str, Any], *notes: str, nothing: str = "", has_folder: bool = False
) -> list[str]:
    """Return the last lines on documents, with notes and hints.

    ``nothing`` is the note of an empty result; bad rows are listed in a folder with ``has_folder``.
    """
    skipped = note_skipped(summary, has_folder=has_folder)
    every = (*notes, skipped, note_marked(summary), nothing, *hints(summary))
    return [*filter(None, every), *list_passed_over(summary["passed_over"])]
