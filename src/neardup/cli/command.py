"""What every command of the command line does alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli.configuration import find_files, has_variables
from neardup.errors import InvalidParameterError
from neardup.options.commands import GROUPS, grouped
from neardup.options.option import Option

if TYPE_CHECKING:
    from neardup.cli.settings import Setting

# The most that help gives the options' names; longer ones have a line of their own.
_NAMES_WIDTH = 30
_LAST_HEADING = list(GROUPS)[-1]

# Where a context keeps what was taken from files and the environment.
_SETTINGS = "neardup.settings"


class TableOption(click.Option):
    """An option of the command line that remembers its entry in the table."""

    def __init__(self, *arguments: Any, entry: Option, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.entry = entry


class TableCommand(click.Command):
    """A command with options of the table.

    Those that the command line lacks are taken from files and the environment. Help lists options
    under headings, and errors name them as they are written.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options from the command line, and what it lacks from elsewhere."""
        rest = super().parse_args(ctx, args)
        # Help has ended the command before, and completion is not concerned.
        if not ctx.resilient_parsing and not ctx.find_root().params.get("no_config"):
            ctx.meta[_SETTINGS] = self._take_settings(ctx)
        return rest

    def _take_settings(self, ctx: click.Context) -> dict[str, Setting]:
        """Set what the command line did not; return that, by the keys of files."""
        files = find_files()
        if not files and not has_variables():
            return {}
        from neardup.cli.settings import key_of, read_settings

        command = tuple(ctx.command_path.split()[1:])
        entries = self._entries()
        settings = read_settings(command, entries, files)
        taken = {}
        for entry in entries:
            is_given = ctx.get_parameter_source(entry.name) is ParameterSource.COMMANDLINE
            if entry.name in settings and not is_given:
                setting = taken[key_of(entry)] = settings[entry.name]
                ctx.params[entry.name] = setting.value
                ctx.set_parameter_source(entry.name, ParameterSource.DEFAULT_MAP)
        return taken

    def _entries(self) -> list[Option]:
        return [option.entry for option in self.params if isinstance(option, TableOption)]

    def invoke(self, ctx: click.Context) -> Any:
        """Say what was taken from elsewhere, and run the command."""
        taken = settings_taken(ctx)
        is_quiet = ctx.params.get("quiet")
        if taken and not is_quiet:
            click.echo(_describe(taken), err=True)
        try:
            with nullcontext() if is_quiet else _showing_compilation():
                return super().invoke(ctx)
        except InvalidParameterError as error:
            spelled = spell_options(error, self) + _sources(error, taken)
            raise InvalidParameterError(spelled, *error.parameters) from error

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
        records = {option.name: option.get_help_record(ctx) for option in options}
        parts = {
            heading: [record for option in members if (record := records.pop(option.name))]
            for heading, members in grouped(self._entries()).items()
        }
        rest = [record for record in records.values() if record]
        parts[_LAST_HEADING] = parts.get(_LAST_HEADING, []) + rest
        return parts


class TableGroup(click.Group):
    """A group of such commands; help lists them in the order in which they were defined."""

    command_class = TableCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(self.commands)


def settings_taken(ctx: click.Context) -> dict[str, Setting]:
    """Return what the command being run took from files and the environment."""
    taken: dict[str, Setting] = ctx.meta.get(_SETTINGS, {})
    return taken


def configuration() -> dict[str, Any]:
    """Return what a summary says of the options that were taken from elsewhere, if any were."""
    taken = settings_taken(click.get_current_context())
    return {"configuration": {key: vars(found) for key, found in taken.items()}} if taken else {}


@contextmanager
def _showing_compilation() -> Iterator[None]:
    """Show on standard error what is logged of kernels: that they are compiled as they are called.

    It is logged, so that nothing of the kernels has to be loaded before they are.
    """
    # Help need not wait for it.
    import logging

    logger, handler = logging.getLogger("neardup.kernels"), logging.StreamHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _describe(taken: dict[str, Setting]) -> str:
    """Write what was taken, and from where, as one line."""
    return ", ".join(
        f"{key} {_shown(found.value)} from {found.source}" for key, found in taken.items()
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " and ".join(value) if isinstance(value, tuple) else str(value)


def _sources(error: InvalidParameterError, taken: dict[str, Setting]) -> str:
    """Say which of the options that an error names are not on the command line."""
    keys = [name.replace("_", "-") for name in error.parameters]
    found = [f"--{key} is from {taken[key].source}" for key in keys if key in taken]
    return f" ({', '.join(found)})" if found else ""


def spell_options(error: InvalidParameterError, command: click.Command) -> str:
    """Write an error's message with the command's options in place of the parameters it names.

    Values in quotes and names of files are left alone, whatever they read.
    """
    known = {option: option for parameter in command.params for option in parameter.opts}
    # An option may be written otherwise than it is called in Python.
    known |= {parameter.name: parameter.opts[-1] for parameter in command.params if parameter.name}
    named = {name: ("--" + name.replace("_", "-"), name) for name in error.parameters}
    options = {
        name: next(known[key] for key in keys if key in known)
        for name, keys in named.items()
        if not known.keys().isdisjoint(keys)
    }
    words = list(map(re.escape, options))
    if not words:
        return str(error)
    pattern = rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-]|\.\w)"
    return re.sub(pattern, lambda found: options[found[0]], str(error))
