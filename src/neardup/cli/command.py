"""What every command of the command line does alike."""

from __future__ import annotations

import re
from typing import Any

import click

from neardup.cli.options import TableOption
from neardup.errors import InvalidParameterError
from neardup.options.groups import GROUPS, grouped

# The most that help gives the options' names; longer ones have a line of their own.
_NAMES_WIDTH = 30
_LAST_HEADING = list(GROUPS)[-1]


class TableCommand(click.Command):
    """A command with options of the table.

    Help lists them under headings, and errors name them as they are written.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group, all in the same columns."""
        parts = self.option_records(ctx)
        names = [name for records in parts.values() for name, _ in records]
        width = min(_NAMES_WIDTH, max(map(len, names)))
        for heading, records in parts.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in records])

    def option_records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return how each option is written and what it does, by headings; --help comes last."""
        options = [found for found in self.get_params(ctx) if isinstance(found, click.Option)]
        entries = [option.entry for option in options if isinstance(option, TableOption)]
        records = {option.name: option.get_help_record(ctx) for option in options}
        parts = {
            heading: [record for option in members if (record := records.pop(option.name))]
            for heading, members in grouped(entries).items()
        }
        rest = [record for record in records.values() if record]
        parts[_LAST_HEADING] = parts.get(_LAST_HEADING, []) + rest
        return parts

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except InvalidParameterError as error:
            spelled = spell_options(error, self)
            raise InvalidParameterError(spelled, *error.parameters) from error


class TableGroup(click.Group):
    """A group of such commands; help lists them in the order in which they were defined."""

    command_class = TableCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(self.commands)


def spell_options(error: InvalidParameterError, command: click.Command) -> str:
    """Write an error's message with the command's options in place of the parameters it names.

    Values in quotes and names of files are left alone, whatever they read.
    """
    known = {option for parameter in command.params for option in parameter.opts}
    options = {name: "--" + name.replace("_", "-") for name in error.parameters}
    words = [re.escape(name) for name, option in options.items() if option in known]
    if not words:
        return str(error)
    pattern = rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-]|\.\w)"
    return re.sub(pattern, lambda found: options[found[0]], str(error))
