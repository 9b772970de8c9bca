"""``neardup dedup --pairs``: documents decided by pairs that were found before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli import wording
from neardup.cli.command import configuration
from neardup.cli.display import Display, say, say_json
from neardup.cli.page_output import PageOutput
from neardup.cli.wording import counted, list_passed_over, say_ids, tables_of_groups, took
from neardup.options.commands import COMMANDS

if TYPE_CHECKING:
    from neardup.options.choices import OutputFormat
    from neardup.outputs.targets import Target

# What the command does beside choosing.
_OF_THE_COMMAND = {"output", "page", "output_format", "with_text", "overwrite", "pairs"}
_OF_THE_COMMAND |= {"quiet", "as_json"}


def decide_by_pairs(
    ctx: click.Context,
    inputs: tuple[str, ...],
    pairs: str,
    output: Target,
    page: Target | None,
    *,
    output_format: OutputFormat,
    with_text: bool,
    overwrite: bool,
    memory: str | None,
    work: Path | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run `neardup dedup` with pairs; other options are those of the context."""
    from neardup.files.convert import check_conversion
    from neardup.files.fitting import to_fit
    from neardup.files.resolve import STANDARD_INPUT, resolve_paths
    from neardup.jobs.dedup.choose_documents import choose_documents
    from neardup.jobs.dedup.pair_table import open_pair_table
    from neardup.jobs.workspaces import open_workspace
    from neardup.options.jobs import ChooseOptions
    from neardup.outputs.folder import check_apart, check_output
    from neardup.outputs.targets import check_room
    from neardup.runtime.runner import Runner

    if pairs == STANDARD_INPUT and STANDARD_INPUT in inputs:
        message = "INPUT and --pairs cannot both be standard input"
        raise click.UsageError(message)
    _check_effect(ctx)
    options = ChooseOptions(**_given(ctx, ChooseOptions.known))
    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    check_output(output, overwrite=overwrite)
    report = PageOutput(page, output, overwrite=overwrite)
    table = open_pair_table(pairs, trust=options.trust)
    sources = resolve_paths(inputs, options)
    origins = [source.origin for source in [*sources, *table.sources]]
    check_apart(output, origins)
    report.check_apart(origins)
    check_conversion(sources, output_format)
    to_fit(sources, output_format)
    if output_format == "same":
        check_room(output, (source.size for source in sources))
    with open_workspace(memory, work, output=output) as workspace, display:
        result = choose_documents(sources, table, options, runner, workspace)
        result.summary |= configuration()
        result.write(
            output,
            overwrite=overwrite,
            format=output_format,
            with_text=with_text,
            progress=display,
        )
        lines = report.write(str(output), options, runner)
    if as_json:
        say_json(result.summary)
    elif not quiet:
        say("\n".join([_report(result.summary, pairs, output), *lines]))


def _check_effect(ctx: click.Context) -> None:
    """Raise for an option that is only for the comparison.

    What a file sets for all runs may be there: pairs were found with it.
    """
    from neardup.options.groups import WorkspaceOptions
    from neardup.options.jobs import ChooseOptions
    from neardup.options.option import no_effect

    known = {*ChooseOptions.known, *WorkspaceOptions.known, "workers"} | _OF_THE_COMMAND
    for option in COMMANDS["dedup"]:
        source = ctx.get_parameter_source(option.name)
        if source is ParameterSource.COMMANDLINE and option.name not in known:
            where = "with pairs, whose texts were compared when they were found"
            raise no_effect(option.name, where, "leave out pairs", "pairs")


def _given(ctx: click.Context, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some options that somebody has set."""
    return {
        name: ctx.params[name]
        for name in names
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def _report(summary: dict[str, Any], pairs: str, output: Target) -> str:
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed",
        f"similar: {_condition(summary)}, by {summary['pairs_at_threshold']:,} of "
        f"{counted(summary['pairs'], 'pair')} in {pairs}{_how_found(summary)}",
    ]
    if summary["pairs"] and not summary["least_threshold_is_stated"]:
        lines.append(
            f"{pairs} does not say from which threshold on it has all pairs; its least similarity "
            f"is taken for that, {summary['least_threshold']:g}"
        )
    lines += tables_of_groups(summary)
    lines += say_ids(summary)
    if "removed_beyond_survivors" in summary:
        more = counted(summary["removed_beyond_survivors"], "document")
        lines.append(f"components remove {more} more than survivors")
    skipped = wording.note_skipped(summary, has_folder=True)
    lines += wording.lines(skipped)
    lines += list_passed_over(summary["passed_over"])
    return "\n".join([*lines, f"written to {output} in {took(summary['seconds'])}"])


def _condition(summary: dict[str, Any]) -> str:
    threshold = summary["threshold"]
    measure: str = summary["measure"]
    return measure if threshold is None else f"{measure} >= {threshold:g}"


def _how_found(summary: dict[str, Any]) -> str:
    """Say what pairs may be missing."""
    if summary["pairs_method"] != "minhash":
        return ""
    return (
        ", which bands found: one at their threshold with probability "
        f"{summary['predicted_recall']:.4f}"
    )
