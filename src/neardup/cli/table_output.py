"""Where a command writes its table, and where it then says what it did."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.display import discard_standard_output, say

if TYPE_CHECKING:
    from neardup.options.choices import TableFormat
    from neardup.outputs.targets import Target
    from neardup.results import TableResult

# Formats of which the texts of passages are read, by people or by programs, rather than columns.
_WITH_TEXTS = ("jsonl", "xlsx")

# As the shell reports a command that a closed pipe has ended: 128 and the number of SIGPIPE.
_CLOSED_PIPE = 141


class TableOutput:
    """The output of a command whose result is one table.

    Parameters
    ----------
    output
        A file, a pipe or a device, or ``-`` for standard output.
    table_format
        Its format, if the name does not say it.
    overwrite
        Whether a file may be replaced.
    as_json
        Whether the summary goes to standard output, as JSON.
    """

    def __init__(
        self,
        output: Target,
        table_format: TableFormat | None,
        *,
        overwrite: bool,
        as_json: bool,
    ) -> None:
        from neardup.outputs.table_target import plan_table

        self._target = plan_table(output, table_format, overwrite=overwrite)
        self._overwrite = overwrite
        if as_json and self._target.is_standard_output:
            message = (
                f"--json prints the summary to standard output, where --output {output} writes "
                "the table; name a file, or leave out --json"
            )
            raise click.UsageError(message)

    def __str__(self) -> str:
        """Return what users call it."""
        return str(self._target)

    def takes_texts(self, *, with_text: bool, no_text: bool) -> bool:
        """Return whether passages have their texts: as asked for, else where texts are read."""
        if with_text and no_text:
            message = "choose either --with-text or --no-text"
            raise click.UsageError(message)
        return with_text or (not no_text and self._target.format in _WITH_TEXTS)

    @property
    def place(self) -> Target | None:
        """The file or URL, None for a stream."""
        return None if self._target.is_stream else self._target.path

    def check_apart(self, inputs: Iterable[str | None], index: Path | None = None) -> None:
        """Make sure that no input is replaced, and that the output is no file of an index."""
        from neardup.outputs.folder import check_apart, check_outside

        if not self._target.is_stream:
            if index is not None:
                check_outside(self._target.path, index)
            check_apart(self._target.path, inputs)

    def write(self, result: TableResult) -> None:
        """Write the table of a result."""
        try:
            self._target.write(result.rows(), overwrite=self._overwrite)
        except BrokenPipeError:
            discard_standard_output()
            raise click.exceptions.Exit(_CLOSED_PIPE) from None

    def say(self, text: str) -> None:
        """Print what a user should know: on standard error, if the table is on standard output."""
        if self._target.is_standard_output:
            click.echo(text, err=True)
        else:
            say(text)
