"""``neardup cut`` removes repeated passages, ``neardup drop`` named documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from neardup.cli.call import Call, FolderOutput, describe_recall, footer
from neardup.cli.command import INPUTS, job_command
from neardup.options.document_options import DropOptions
from neardup.options.groups import (
    AgainstDataOptions,
    CommandOptions,
    EngineOptions,
    FolderOptions,
    WorkspaceOptions,
)
from neardup.options.kinds import Address
from neardup.options.option import but, option
from neardup.options.passage_options import CutOptions
from neardup.runs.progress import counted, size

# Characters of the most repeated text that fit on a line.
_SHOWN = 60

_EPILOG = """\b
Examples:
  neardup cut corpus/*.jsonl --exact -o clean
  neardup cut pages.parquet --unit paragraphs --min-documents 10 -o clean
  neardup cut train.jsonl --against tests/ --min-tokens 25 -o no-leaks
  neardup cut /shared/corpus --unit lines --engine spark -o /shared/clean
"""


class CutCommandOptions(
    CutOptions, AgainstDataOptions, FolderOptions, EngineOptions, CommandOptions
):
    """Options of ``neardup cut``."""

    differs = but(against={"help": "Cut only what documents of OTHER have."})


@job_command("cut", CutCommandOptions, INPUTS, epilog=_EPILOG)
def cut(call: Call, inputs: tuple[str, ...]) -> None:
    """Cut repeated passages, paragraphs or lines out of texts.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`.

    By default it finds similar passages, too, which takes much longer than --exact.

    Documents are processed in the order of --keep. A passage stays at its first occurrence. Later
    ones are removed, if they are equal or verified similar.

    Writes to the output folder: kept/ with the input's documents, whose texts are shorter;
    removed.parquet with id, start, end, kept_id, kept_start, kept_end, similarity, file, row and
    kept_in of each removed span, in characters of the original texts; and summary.json, which lists
    the most repeated texts. With --on-error skip also skipped/ with the bad rows, and
    skipped.parquet with file, row and reason of each.
    """
    from neardup.engine.opening import key_of
    from neardup.files.inputs import origins_of
    from neardup.jobs.cut.cut import cut_sources
    from neardup.jobs.cut.cut_plan import plan_cut

    given: CutCommandOptions = call.options
    output = FolderOutput(call)
    options = given.part(CutOptions)
    plan = plan_cut(options, has_other=bool(given.against))
    if call.is_on_spark:
        call.check_spark()
    can_resume = plan.alignment is None or call.is_on_spark
    sources = call.sources(inputs, options)
    others = call.other_sources(options, options.tokenizer)
    output.check(sources, origins_of(others or ()))
    key = None
    if can_resume:
        scheme = plan.reading.shingles.describe()
        key = key_of("cut", options, scheme, inputs=sources, against=others or [])
    with call.working(output.place, key) as workspace, call.display:
        result = cut_sources(call.engine_within(workspace), sources, others, plan)
        output.write(result)
    call.print_result(result.summary, *_report(result.summary), *footer(result.summary, output))


def _report(summary: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{counted(summary['spans'], 'span')} cut from {summary['documents_cut']:,} of "
        f"{counted(summary['documents_in'], 'document')}: "
        f"{counted(summary['characters_removed'], 'character')} of "
        f"{size(summary['text_bytes'])} of text"
    ]
    if summary["most_repeated"]:
        lines.append("repeated most:")
        lines += [
            f"  {counted(each['copies'], 'copy', 'copies')} in "
            f"{counted(each['documents'], 'document')}: {_excerpt(each['text'])}"
            for each in summary["most_repeated"]
        ]
    if not summary["exact"]:
        share = f"similarity {summary['threshold']:g}"
        found = f"a passage with {share} is found{describe_recall(summary)}"
        is_certain = summary["predicted_recall"] == 1
        lines.append(f"every passage with {share} or more is found" if is_certain else found)
    return lines


def _excerpt(text: str) -> str:
    """Return the start of a text as one printable line."""
    words = "".join(mark if mark.isprintable() else " " for mark in text).split()
    line = " ".join(words)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


_DROP_EPILOG = """\b
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


@job_command("drop", DropCommandOptions, INPUTS, epilog=_DROP_EPILOG)
def drop(call: Call, inputs: tuple[str, ...]) -> None:
    """Remove the documents that a table names.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. Without a
    column of ids these are made from file names and rows, so name INPUT as it was named when the
    ids of FILE were made.

    Writes to the output folder: kept/ and removed/ with the input's rows, removed.parquet with id,
    file and row of each removed document, and summary.json. With --on-error skip also skipped/ with
    the bad rows as they came in, and skipped.parquet with file, row and reason of each.
    """
    from neardup.engine.opening import open_workspace
    from neardup.engine.threads import ThreadEngine
    from neardup.files.inputs import STANDARD_INPUT
    from neardup.jobs.drop import drop_documents

    given: DropCommandOptions = call.options
    named_in = given.named_in or ""
    if named_in == STANDARD_INPUT and STANDARD_INPUT in inputs:
        message = "INPUT and --named-in cannot both be standard input"
        raise click.UsageError(message)
    output = FolderOutput(call)
    options = given.part(DropOptions)
    sources = call.sources(inputs, options)
    output.check(sources, [named_in])
    workspace = open_workspace(given.memory, given.work, output=output.place)
    with workspace, call.display:
        engine = ThreadEngine(call.runner, workspace)
        result = drop_documents(engine, sources, named_in, options)
        output.write(result)
    summary = result.summary
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed"
    ]
    if n_missing := summary["missing_documents"]:
        lines.append(f"{counted(n_missing, 'named document')} not there")
    call.print_result(summary, *lines, *footer(summary, output))
