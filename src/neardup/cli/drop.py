"""``neardup drop``: a collection without the documents that a table names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import wording
from neardup.cli.command import TableCommand, configuration
from neardup.cli.display import Display, say, say_json
from neardup.cli.hints import hint_for_drop
from neardup.cli.options import complete_paths, options_of
from neardup.cli.wording import counted, list_passed_over, say_ids, tables_of_groups, took

if TYPE_CHECKING:
    from neardup.outputs.targets import Target

_EPILOG = """\b
Examples:
  neardup drop corpus/*.jsonl --named-in hits.jsonl -o clean
  neardup drop train.parquet --id-column id --named-in pairs.csv --column id_a -o clean
  neardup drop pages/ --named-in ids.txt --missing ignore -o clean
"""


@click.command("drop", cls=TableCommand, epilog=_EPILOG)
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=complete_paths
)
@options_of("drop")
def command(
    inputs: tuple[str, ...],
    named_in: str,
    output: Target,
    column: str | None,
    missing: Any,
    output_format: Any,
    overwrite: bool,
    memory: str | None,
    work: Path | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Remove the documents that a table names.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. Without a
    column of ids these are made from file names and rows, so name INPUT as it was named when the
    ids of FILE were made.

    Writes to the output folder: kept/ and removed/ with the input's rows, removed.parquet with id,
    file and row of each removed document, and summary.json. With --on-error skip also skipped/ with
    the bad rows as they came in, and skipped.parquet with file, row and reason of each.
    """
    from neardup.files.convert import check_conversion
    from neardup.files.fitting import to_fit
    from neardup.files.resolve import STANDARD_INPUT, resolve_paths
    from neardup.jobs.drop import drop_documents
    from neardup.jobs.workspaces import open_workspace
    from neardup.options.jobs import DropOptions
    from neardup.outputs.folder import check_apart, check_output
    from neardup.runtime.runner import Runner

    if named_in == STANDARD_INPUT and STANDARD_INPUT in inputs:
        message = "INPUT and --named-in cannot both be standard input"
        raise click.UsageError(message)
    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    check_output(output, overwrite=overwrite)
    options = DropOptions(column=column, missing=missing, **reading)
    sources = resolve_paths(inputs, options)
    check_apart(output, [*(source.origin for source in sources), named_in])
    check_conversion(sources, output_format)
    to_fit(sources, output_format)
    with open_workspace(memory, work, output=output) as workspace, display:
        result = drop_documents(sources, named_in, options, runner, workspace)
        result.summary |= configuration()
        result.write(output, overwrite=overwrite, format=output_format, progress=display)
    if as_json:
        say_json(result.summary)
    elif not quiet:
        say(_report(result.summary, output))


def _report(summary: dict[str, Any], output: Target) -> str:
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed"
    ]
    lines += tables_of_groups(summary)
    lines += say_ids(summary)
    if summary["missing_documents"]:
        named = counted(summary["missing_documents"], "named document")
        lines.append(f"{named} not there")
    skipped = wording.note_skipped(summary, has_folder=True)
    lines += wording.lines(skipped, hint_for_drop(summary))
    lines += list_passed_over(summary["passed_over"])
    return "\n".join([*lines, f"written to {output} in {took(summary['seconds'])}"])
