"""Examples of a result that a command names: an output folder, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from neardup.documents.other import resolve_other
from neardup.files.input_options import InputOptions, check_effect
from neardup.files.inputs import Inputs
from neardup.files.resolve import resolve_paths
from neardup.files.streams import is_url
from neardup.jobs.dedup.output import DedupOutput, open_output
from neardup.jobs.document_options import AgainstOptions
from neardup.jobs.inputs import input_options_of
from neardup.jobs.report.collection import Collection
from neardup.jobs.report.kinds import kind_of_table
from neardup.jobs.report.tables import read_table
from neardup.jobs.show.examples import Examples, examples_of_folder, examples_of_table
from neardup.jobs.show.options import ShowOptions
from neardup.options.option import no_effect
from neardup.outputs.table_parts import part_name
from neardup.runtime.runner import Runner


def find_examples(
    result: str,
    inputs: Sequence[str],
    against: Sequence[str],
    options: ShowOptions,
    runner: Runner,
) -> Examples:
    """Choose examples of a result, and read their texts.

    Raises
    ------
    InvalidParameterError
        For an option or an input that has no effect on this result.
    InvalidInputError, ReadError
        If the result is none of which examples can be shown, or something cannot be read.
    """
    # Options are checked before anything is read.
    _ = options.which
    options.check_other("against", is_given=bool(against))
    if _is_output(result):
        output = open_output(result, trust=options.trust)
        if inputs:
            raise no_effect("INPUT", "on a folder, which has the texts", "name its table")
        options.check_unread("on a folder, which says how its texts were read", "name a table")
        other = _other_of_folder(output, against, options)
        return examples_of_folder(output, other, options, runner)
    own = resolve_paths(inputs, options) if inputs else None
    others = _resolve(against, options) if against else None
    check_effect(options, own or (), others or ())
    table, _ = read_table(result, runner, trust=options.trust)
    return examples_of_table(
        table,
        kind_of_table(table.column_names, result),
        None if own is None else Collection(own, options.columns, options.skip_bad),
        None if others is None else Collection(others, options.other_columns, options.skip_bad),
        options,
        runner,
    )


def _is_output(result: str) -> bool:
    """Return whether a result is no table: a folder, but for the parts of a long one."""
    if is_url(result):
        return not PurePosixPath(result).suffix
    return Path(result).is_dir() and not Path(result, part_name(0)).exists()


def _resolve(paths: Sequence[str], options: InputOptions) -> Inputs:
    return resolve_other([Path(path) for path in paths], lambda _: resolve_paths(paths, options))


def _other_of_folder(
    output: DedupOutput, against: Sequence[str], options: ShowOptions
) -> Collection | None:
    """Return the other collection of a deduplication, read as it was."""
    if not against:
        return None
    read = output.summary["reading"]
    text = options.against_text_column or read.get("against_text_column") or read["text_column"]
    identifier = options.against_id_column
    own = output.summary.get("against_id_column")
    chosen = AgainstOptions(
        text_column=text,
        id_column=own if identifier is None else identifier,
        on_error="skip",
        **vars(input_options_of(read)),
    )
    return Collection(_resolve(against, chosen), chosen.columns, skip_bad=True)
