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

import click

from neardup.errors import WriteError, on_command_line
from neardup.options.option import Options, no_effect
from neardup.runs.progress import Display, counted, plural

if TYPE_CHECKING:
    from neardup.engine.engine import Engine
    from neardup.engine.spark.shared_work import SharedWork
    from neardup.files.destinations import Target
    from neardup.files.inputs import Inputs
    from neardup.files.rows import Source
    from neardup.options.groups import AgainstOptions, InputOptions
    from neardup.results import TableResult
    from neardup.runs.runner import Runner
    from neardup.runs.work import WorkFolder, Workspace


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

        workers = getattr(self.options, "workers", None)
        return Runner(workers, self.display)

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
            from neardup.engine.spark.spark_engine import SparkEngine

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
            lasting: WorkFolder | None
            if not self.is_on_spark:
                workspace = open_workspace(memory, work, output=output, key=key)
                # Results of other jobs do not matter to a run that resumes nothing.
                lasting = None if key is None else workspace.work
            elif work is None or output is None or key is None:
                workspace = open_workspace(memory, work, output=output)
                lasting = None
            else:
                from neardup.engine.spark.shared_work import SharedWork

                key = {**key, "engine": "spark"}
                lasting = self._shared = SharedWork.open(
                    work_parent(work).absolute(), output.name, key, at_once=True
                )
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
def _reported(work: WorkFolder | None, *, quiet: bool) -> Iterator[None]:
    """List results of earlier runs, and remove them on success."""
    if work is None:
        yield
        return

    def print_lines(lines: list[str]) -> None:
        for line in [] if quiet else lines:
            click.echo(on_command_line(line), err=True)

    n_printed = len(work.problems)
    print_lines(work.describe_earlier_runs())
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


class _Output:
    """The output of a command; ``place`` is None if it is streamed."""

    def __init__(self, call: Call, place: Target | None) -> None:
        self._call, self._options, self.place = call, call.options, place
        if place is not None:
            hold(place, overwrite=call.options.overwrite)

    def __str__(self) -> str:
        return str(self.place)

    def check_apart(self, inputs: Iterable[str | None], index: Path | None = None) -> None:
        """Raise if the output replaces an input, or lies in an index."""
        from neardup.files.destinations import check_apart, check_outside

        if self.place is None:
            return
        if index is not None:
            check_outside(self.place, index)
            inputs = [*inputs, str(index)]
        check_apart(self.place, inputs)


class FolderOutput(_Output):
    """The folder for documents, tables and summary of a command."""

    def __init__(self, call: Call) -> None:
        from neardup.files.destinations import check_output
        from neardup.files.formats import format_of

        output: Target = call.options.output
        # Other commands write one file of rows.
        name = str(output)
        if format_of(name) is not None and not os.path.isdir(name):  # noqa: PTH112
            message = (
                f"{click.get_current_context().info_name} writes a folder, and {name!r} looks like "
                "a file; choose a name without an ending"
            )
            raise WriteError(message)
        check_output(output, overwrite=call.options.overwrite)
        super().__init__(call, output)

    def check(
        self, sources: Sequence[Source], others: Iterable[str | None], *, index: Path | None = None
    ) -> None:
        """Raise for outputs that replace inputs or cannot hold rows.

        ``others`` are other inputs. ``index`` may not hold the output.
        """
        from neardup.files.inputs import origins_of
        from neardup.files.writers import check_conversion

        self.check_apart([*origins_of(sources), *others], index)
        if self._options.format != "none":
            check_conversion(sources, self._options.format)

    def write(self, result: Any) -> None:
        """Write a result."""
        given, display = self._options, self._call.display
        result.write(self.place, overwrite=given.overwrite, format=given.format, progress=display)


class TableOutput(_Output):
    """The output of one table: file, pipe or standard output."""

    def __init__(self, call: Call) -> None:
        from neardup.outputs.output_tables import plan_table

        given = call.options
        self._target = plan_table(given.output, overwrite=given.overwrite)
        if given.json and self._target.is_standard_output:
            message = (
                "--json prints the summary to standard output, where --output "
                f"{given.output} writes the table; name a file, or leave out --json"
            )
            raise click.UsageError(message)
        super().__init__(call, None if self._target.is_stream else self._target.path)

    def __str__(self) -> str:
        return str(self._target)

    def print_result(self, facts: Mapping[str, Any], *lines: str) -> None:
        """Print a result to the stream without the table."""
        self._call.print_result(facts, *lines, err=self._target.is_standard_output)

    def takes_texts(self) -> bool:
        """Return whether passages get texts, as asked or by format."""
        given = self._options
        if given.with_text is not None:
            return bool(given.with_text)
        return self._target.format in _WITH_TEXTS

    def write(self, result: TableResult) -> None:
        """Write a result's table, or end silently without a reader."""
        try:
            self._target.write(result.rows(), overwrite=self._options.overwrite)
        except (BrokenPipeError, WriteError) as error:
            if BrokenPipeError not in (type(error), type(error.__cause__)):
                raise
            discard_standard_output()
            raise click.exceptions.Exit(_CLOSED_PIPE) from None


# Lines that reports of several commands share.


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


def _describe_preset(summary: Mapping[str, Any]) -> list[str]:
    """List the options that a preset has chosen."""
    preset = summary.get("preset")
    if preset is None:
        return []
    flags = [
        f"--{name.replace('_', '-')}{'' if value is True else f' {value}'}"
        for name, value in preset["chosen"].items()
    ]
    return [f"for {preset['name']}: {', '.join(flags) or 'nothing chosen'}"]


def footer(summary: Mapping[str, Any], output: _Output | None = None) -> list[str]:
    """Return the last lines of a report."""
    lines = [*_describe_preset(summary), *_describe_ids(summary), *_note_odd(summary)]
    lines += _note_left_out(summary, isinstance(output, FolderOutput))
    lines += (f"hint: {hint['message']}" for hint in summary.get("hints", ()))
    if output is not None:
        seconds = summary["seconds"]
        total = seconds if isinstance(seconds, float) else sum(seconds.values())
        memory = summary.get("peak_memory_bytes")
        size = f", {memory / 1e6:,.0f} MB of memory at most" if memory else ""
        lines.append(f"written to {output} in {total:.1f} s{size}")
    return lines


def _describe_ids(summary: Mapping[str, Any]) -> Iterator[str]:
    """Describe the column of ids unless the user named it."""
    for prefix, of_whom in (("", ""), ("against_", " of OTHER")):
        if summary.get(f"{prefix}id_column") and summary[f"{prefix}id_column_by_default"]:
            yield (
                f"ids{of_whom}: column {summary[f'{prefix}id_column']!r} (for <file>:<row> use "
                f"--{prefix.replace('_', '-')}id-column '')"
            )


def _note_odd(summary: Mapping[str, Any]) -> Iterator[str]:
    """Describe documents that are similar to few others or to none."""
    if n_empty := _total(summary, "empty"):
        yield f"{counted(n_empty, 'document')} without tokens, similar to nothing"
    if n_short := _total(summary, "short"):
        if "scheme" in summary:
            than = f"{summary['scheme'].get('ngram', 1)} tokens, similar only to equal ones"
        else:
            than = f"{summary['min_tokens']} tokens" if "min_tokens" in summary else "--min-tokens"
        yield f"{counted(n_short, 'document')} shorter than {than}"
    if n_single := _total(summary, "single_shingle"):
        ngram = summary["scheme"].get("ngram", 1)
        yield (
            f"{counted(n_single, 'document')} of a single shingle, {ngram} tokens or fewer, "
            "similar only to equal ones"
        )


def _total(summary: Mapping[str, Any], what: str) -> int:
    n = summary.get(f"{what}_documents", summary.get(f"{what}_queries", 0))
    return sum(n) if isinstance(n, list | tuple) else int(n)


def _note_left_out(summary: Mapping[str, Any], has_folder: bool) -> Iterator[str]:
    """Describe excluded rows, bad rows and ignored files."""
    if "filtered_rows" in summary:
        n_rows = summary["filtered_rows"]
        yield f"{counted(n_rows, 'row')} {plural(n_rows, 'does', 'do')} not meet --where"
    if n_own := summary.get("skipped_rows"):
        where = "see skipped/ and skipped.parquet (reasons)" if has_folder else "--json lists them"
        yield f"{counted(n_own, 'bad row')} skipped; {where}"
    if n_against := summary.get("against_skipped_rows"):
        yield f"{counted(n_against, 'bad row')} of --against skipped; summary.json lists them"
    if passed_over := summary.get("passed_over"):
        from neardup.files.formats import missing_extras
        from neardup.files.inputs import list_endings

        yield f"{list_endings(passed_over)}; name them, or give --input-format, to have them read"
        yield from missing_extras(passed_over)
