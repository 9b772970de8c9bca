"""What every command of the command line does alike."""

from __future__ import annotations

import re
from typing import Any

import click

from neardup.errors import InvalidParameterError


class TableCommand(click.Command):
    """A command with options of the table; its errors name them as they are written."""

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
