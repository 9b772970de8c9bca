"""Commands built from classes of options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from neardup.cli.call import Call
from neardup.errors import InvalidParameterError, on_command_line
from neardup.options.kinds import (
    Address,
    Choice,
    Columns,
    Documents,
    Flag,
    Kind,
    ListedColumns,
    Location,
    Number,
    PathOrUrl,
    Switch,
    TokenizerName,
    Whole,
)
from neardup.options.option import Option, Options

OptionsT = TypeVar("OptionsT", bound=Options)

# Width of the column of names in help; a longer name has a line of its own.
_NAMES_WIDTH = 30
# Sections of help, in order.
_HEADINGS = ("Required", "Matching", "Sketches", "Text", "Input", "Service", "Output")
_LAST_HEADING = "Running"


class JobCommand(click.Command):
    """A command with a class of options.

    ``-h`` prints a line per option, ``--help`` the whole description; errors name options as they
    are written. ``function`` is called with a ``Call`` that has the options, and with the arguments
    by name. Its docstring is the description, and ``epilog`` has examples.
    """

    def __init__(
        self,
        name: str,
        options: type[Options],
        arguments: tuple[click.Argument, ...],
        function: Callable[..., Any],
        epilog: str,
    ) -> None:
        def called(**values: Any) -> Any:
            # Empty tuples are repeatable options that were not given.
            own = {each: values.pop(each) for each in options.known if each in values}
            given = {each: value for each, value in own.items() if value not in (None, ())}
            return function(Call(options(**given)), **values)

        entries = [each for each in options.known.values() if each.name not in options.in_python]
        super().__init__(
            name,
            callback=called,
            params=[*arguments, *map(_as_click, entries)],
            help=inspect.cleandoc(function.__doc__ or ""),
            epilog=epilog,
            add_help_option=False,
        )
        self.entries = {entry.name: entry for entry in entries}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters, with --help at the end."""
        return [
            *super().get_params(ctx),
            _help_option("--help", "Describe all options and exit.", click.Command.get_help),
        ]

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """Return -h, which errors of usage recommend."""
        return _help_option("-h", "Print these lines and exit.", self._brief_help)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with its spelling of options in messages."""
        try:
            with nullcontext() if ctx.params.get("quiet") else _showing_logs():
                return super().invoke(ctx)
        except InvalidParameterError as error:
            raise InvalidParameterError(spell_options(error, self), *error.parameters) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the whole description of the options, section by section."""
        sections = self.option_records(ctx)
        names = [name for records in sections.values() for name, _ in records]
        width = min(_NAMES_WIDTH, max(map(len, names)))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in records])

    def _brief_help(self, _: click.Command, ctx: click.Context) -> str:
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text((self.help or "").partition("\n")[0])
        lines = [formatter.getvalue().rstrip("\n") + "\n"]
        for heading, records in self.option_records(ctx, is_brief=True).items():
            lines.append(f"{heading}:")
            lines += [f"  {name:<{_NAMES_WIDTH}}{text}" for name, text in records]
        return "\n".join(lines)

    def option_records(
        self, ctx: click.Context, *, is_brief: bool = False
    ) -> dict[str, list[tuple[str, str]]]:
        """Return the spelling and help of each option, by section."""
        sections: dict[str, list[tuple[str, str]]] = {
            heading: [] for heading in (*_HEADINGS, _LAST_HEADING)
        }
        for each in self.get_params(ctx):
            if isinstance(each, click.Argument):
                continue
            record, entry = each.get_help_record(ctx), self.entries.get(each.name or "")
            heading = _LAST_HEADING
            if entry is not None:
                heading = "Required" if entry.is_required else entry.heading or heading
                record = (_brief_spelling(entry), _brief_text(entry)) if is_brief else record
            if record is not None:
                sections[heading].append(record)
        return {heading: records for heading, records in sections.items() if records}


def job_command(
    name: str, options: type[Options], *arguments: click.Argument, epilog: str = ""
) -> Callable[[Callable[..., Any]], JobCommand]:
    """Make a decorator that turns a function into a command."""

    def decorate(function: Callable[..., Any]) -> JobCommand:
        return JobCommand(name, options, arguments, function, epilog)

    return decorate


def _help_option(
    flag: str, text: str, make: Callable[[click.Command, click.Context], str]
) -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given and not ctx.resilient_parsing:
            click.echo(make(ctx.command, ctx), color=ctx.color)
            ctx.exit()

    return click.Option(
        [flag, flag.strip("-") if flag == "--help" else "brief"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=text,
    )


@contextmanager
def _showing_logs() -> Iterator[None]:
    """Show logged messages on standard error while a job runs.

    Kernels log that they compile on call, and jobs log hints that may make the run unnecessary.
    """
    # Help need not wait for it.
    import logging

    handler = logging.StreamHandler()
    loggers = [logging.getLogger(f"neardup.{name}") for name in ("kernels", "hints")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


def spell_options(error: InvalidParameterError, command: click.Command) -> str:
    """Return an error's message with the command's spelling of parameters.

    Values in quotes and names of files are left alone, whatever they read.
    """
    # The parameter ``data`` of functions is INPUT on the command line.
    known = {"data": "INPUT"}
    for parameter in command.params:
        known |= {option: option for option in parameter.opts}
        known[str(parameter.name)] = parameter.opts[-1]
    options = {}
    for name in error.parameters:
        flag = "--" + name.replace("_", "-")
        # An option of another command is no English word.
        unknown = flag if "_" in name and name.isidentifier() else name
        options[name] = known.get(flag, known.get(name, unknown))
    message = on_command_line(error.in_both)
    words = list(map(re.escape, options))
    if not words:
        return message
    pattern = rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-]|\.\w)"
    return re.sub(pattern, lambda found: options[found[0]], message)


# Any path, glob or URL, which a shell completes as a path.
_PLACE = click.Path(readable=False)


def argument(
    name: str,
    metavar: str,
    *,
    nargs: int = 1,
    required: bool = True,
    type: Any = _PLACE,  # noqa: A002
) -> click.Argument:
    """Make a positional argument, by default a path, glob or URL."""
    return click.Argument([name], nargs=nargs, required=required, metavar=metavar, type=type)


INPUTS = argument("inputs", "INPUT...", nargs=-1)
ANY_INPUTS = argument("inputs", "[INPUT...]", nargs=-1, required=False)


class TargetType(click.Path):
    """A path or a URL, with double slashes kept."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path or URL."""
        # Loaded with a value: help and completion do without Arrow.
        from neardup.files.destinations import target_of

        target = target_of(value)
        return super().convert(str(target), param, ctx) if isinstance(target, Path) else target


def _as_click(entry: Option) -> click.Option:
    settings: dict[str, Any] = {"type": _type_of(entry.kind), "metavar": entry.metavar}
    flags = entry.spelling
    if isinstance(entry.kind, Switch):
        flags = (f"{flags[0]}/{_off(entry)}",)
        settings["default"] = None
    elif isinstance(entry.kind, Flag):
        settings["is_flag"] = True
    elif isinstance(entry.kind, ListedColumns):
        settings["callback"] = _split_names
    text = f"{entry.help} {entry.more}".rstrip()
    if entry.shown_default:
        text += f"  [default: {entry.shown_default}]"
    return click.Option(
        [*flags, entry.name],
        required=entry.is_required,
        multiple=isinstance(entry.kind, Columns | Documents),
        help=text,
        **settings,
    )


def _split_names(_context: Any, _option: Any, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for names in values for name in names.split(","))


def _off(entry: Option) -> str:
    """Return a switch's negation: --no-text for --with-text."""
    return f"--no-{entry.spelling[0].removeprefix('--').removeprefix('with-')}"


def _brief_spelling(entry: Option) -> str:
    """Return an option's spelling with one word for its value."""
    names = ", ".join(entry.spelling)
    if isinstance(entry.kind, Switch):
        return f"{names}, {_off(entry)}"
    if isinstance(entry.kind, Flag):
        return names
    word = "N" if isinstance(entry.kind, Number) else "NAME"
    if isinstance(entry.kind, Location):
        word = "PATH"
    return f"{names} {entry.metavar or word}"


def _brief_text(entry: Option) -> str:
    """Return an option's help with its default."""
    default = entry.shown_default.partition(";")[0]
    return f"{entry.help} [{default}]" if default else entry.help


def _type_of(kind: Kind) -> Any:
    if isinstance(kind, Whole):
        return click.INT
    if isinstance(kind, Choice):
        return click.Choice(kind.values)
    if isinstance(kind, PathOrUrl):
        return TargetType()
    if isinstance(kind, Location):
        return click.Path(path_type=Path, dir_okay=not kind.is_file)
    if isinstance(kind, Documents | Address | TokenizerName):
        return _PLACE
    return None
