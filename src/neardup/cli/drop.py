"""``neardup drop``: remove the documents that a table names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from neardup.cli import wording
from neardup.cli.call import Call, FolderOutput
from neardup.cli.command import INPUTS, job_command
from neardup.cli.wording import describe_ids, table_by_file
from neardup.options.documents import DropOptions
from neardup.options.groups import CommandOptions, FolderOptions, WorkspaceOptions
from neardup.options.kinds import Address
from neardup.options.option import option
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup drop corpus/*.jsonl --named-in hits.jsonl -o clean
  neardup drop train.parquet --id-column id --named-in pairs.csv --column id_a -o clean
  neardup drop pages/ --named-in ids.txt --missing ignore -o clean
  neardup drop corpus/*.jsonl --named-in decided -o clean
"""


class DropCommandOptions(DropOptions, FolderOptions, WorkspaceOptions, CommandOptions):
    """Options of ``neardup drop``."""

    named_in: str | None = option(
        "Table, list or output folder that names the documents.",
        Address(),
        default=None,
        more="As written by `neardup search`, `align` or `pairs`, a .txt file with one id a line, "
        "or a folder of `neardup dedup`, whose removed documents are meant.",
        metavar="FILE",
        is_required=True,
    )


@job_command("drop", DropCommandOptions, INPUTS, epilog=_EPILOG)
def command(call: Call, inputs: tuple[str, ...]) -> None:
    """Remove the documents that a table names.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. Without a
    column of ids these are made from file names and rows, so name INPUT as it was named when the
    ids of FILE were made.

    Writes to the output folder: kept/ and removed/ with the input's rows, removed.parquet with id,
    file and row of each removed document, and summary.json. With --on-error skip also skipped/ with
    the bad rows as they came in, and skipped.parquet with file, row and reason of each.
    """
    from neardup.engine.opening import open_workspace
    from neardup.files.inputs import STANDARD_INPUT, resolve_paths
    from neardup.jobs.drop import drop_documents
    from neardup.reading.where import rows_where

    given: DropCommandOptions = call.options
    named_in = given.named_in or ""
    if named_in == STANDARD_INPUT and STANDARD_INPUT in inputs:
        message = "INPUT and --named-in cannot both be standard input"
        raise click.UsageError(message)
    output = FolderOutput(call)
    options = given.part(DropOptions)
    sources = rows_where(resolve_paths(inputs, options), options.where)
    output.check(sources, [named_in])
    workspace = open_workspace(given.memory, given.work, output=output.place)
    with workspace, call.display:
        result = drop_documents(sources, named_in, options, call.runner, workspace)
        output.write(result)
    output.print_result(result.summary, _report(result.summary, output))


def _report(summary: Mapping[str, Any], output: FolderOutput) -> str:
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed"
    ]
    lines += table_by_file(summary)
    lines += describe_ids(summary)
    if summary["missing_documents"]:
        named = counted(summary["missing_documents"], "named document")
        lines.append(f"{named} not there")
    skipped = wording.note_skipped(summary, has_folder=True)
    return "\n".join(lines + wording.ending(summary, output, skipped, _hint(summary)))


def _hint(summary: Mapping[str, Any]) -> str:
    """Suggest options if no document is removed."""
    if summary["documents_removed"]:
        return ""
    if not summary["named_documents"]:
        return "the table of --named-in has no rows, so nothing is named, and all documents stay"
    return (
        "no document has one of these ids: give INPUT and --id-column as when the ids were made, "
        "or choose another --column"
    )
