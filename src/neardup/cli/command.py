"""Commands of the command line, made from the table of options, and what all of them do alike."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli.call import SETTINGS, Call, settings_taken
from neardup.cli.configuration import find_file, key_of, read_settings
from neardup.errors import InvalidParameterError, on_command_line
from neardup.options.commands import COMMANDS, GROUPS, grouped
from neardup.options.kinds import (
    Address,
    Choice,
    Columns,
    Documents,
    Flag,
    Kind,
    Location,
    PathOrUrl,
    Switch,
    Tokenizer,
    Whole,
    check_length,
)
from neardup.options.option import Option
from neardup.outputs.targets import Url, target_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from neardup.cli.configuration import Setting

# The most that help gives the options' names; longer ones have a line of their own.
_NAMES_WIDTH = 30
_LAST_HEADING = list(GROUPS)[-1]


class TableOption(click.Option):
    """An option of the command line that remembers its entry in the table."""

    def __init__(self, *arguments: Any, entry: Option, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.entry = entry


# What to do in place of giving an option twice, where that is more than to give it once.
_JOINED = {
    "where": "join conditions by and",
    "keep": "part keys by commas",
    "output": "name one, and run the command again for the other",
}


class TableCommand(click.Command):
    """A command with options of the table.

    Those that the command line lacks are taken from ``neardup.toml``. Help lists options
    under headings, and errors name them as they are written.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take options from the command line, and those that it lacks from ``neardup.toml``."""
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, args)
        rest = super().parse_args(ctx, args)
        # Help has ended the command before, and completion is not concerned.
        if not ctx.resilient_parsing and not ctx.find_root().params.get("no_config"):
            ctx.meta[SETTINGS] = self._take_settings(ctx)
        return rest

    def _check_given_once(self, ctx: click.Context, args: list[str]) -> None:
        """Raise if an option that takes one value has two, of which one would be dropped."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        given = set[str]()
        for each in order:
            if not isinstance(each, click.Option) or each.multiple:
                continue
            # A plain flag means the same however often it is given.
            if each.is_flag and not each.secondary_opts:
                continue
            if each.name in given:
                remedy = _JOINED.get(str(each.name), "give it once")
                message = f"{each.opts[0]} is given twice, and takes one value; {remedy}"
                raise click.UsageError(message, ctx)
            given.add(str(each.name))

    def _take_settings(self, ctx: click.Context) -> dict[str, Setting]:
        """Set options that the command line lacks; return them by their keys in the file."""
        file = find_file()
        if file is None:
            return {}
        command = tuple(ctx.command_path.split()[1:])
        entries = self._entries()
        settings = read_settings(command, entries, file)
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
        """Print what was taken from ``neardup.toml``, and run the command."""
        taken = settings_taken(ctx)
        is_quiet = ctx.params.get("quiet")
        if taken and not is_quiet:
            said = (
                f"{key} {_shown(found.value)} from {found.source}" for key, found in taken.items()
            )
            click.echo(", ".join(said), err=True)
        try:
            with nullcontext() if is_quiet else _showing_logs():
                return super().invoke(ctx)
        except InvalidParameterError as error:
            spelled = spell_options(error, self)
            # Which of the options that it names are not on the command line.
            keys = [name.replace("_", "-") for name in error.parameters]
            if found := [f"--{key} is from {taken[key].source}" for key in keys if key in taken]:
                spelled += f" ({', '.join(found)})"
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


@contextmanager
def _showing_logs() -> Iterator[None]:
    """Show on standard error what is logged for users while a job runs.

    That is of kernels that they are compiled as they are called, and of hints those that may spare
    the rest of the job. They are logged, so that nothing has to be loaded before they are.
    """
    # Help need not wait for it.
    import logging

    class Formatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            said = getattr(record, "in_both", None)
            return super().format(record) if said is None else on_command_line(said)

    handler = logging.StreamHandler()
    handler.setFormatter(Formatter())
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


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " and ".join(value) if isinstance(value, tuple) else str(value)


def spell_options(error: InvalidParameterError, command: click.Command) -> str:
    """Write an error's message with the command's options in place of the parameters it names.

    Values in quotes and names of files are left alone, whatever they read.
    """
    # Those of other commands, if their names are no English words.
    others = (option for name in COMMANDS for option in COMMANDS[name] if "_" in option.name)
    known = {option.name: option.spelling[-1] for option in others}
    known |= {option: option for parameter in command.params for option in parameter.opts}
    # An option may be written otherwise than it is called in Python.
    known |= {parameter.name: parameter.opts[-1] for parameter in command.params if parameter.name}
    named = {name: ("--" + name.replace("_", "-"), name) for name in error.parameters}
    options = {
        name: next(known[key] for key in keys if key in known)
        for name, keys in named.items()
        if not known.keys().isdisjoint(keys)
    }
    message = on_command_line(error.in_both)
    words = list(map(re.escape, options))
    if not words:
        return message
    pattern = rf"(?<![\w'-])(?:{'|'.join(words)})(?![\w'-]|\.\w)"
    return re.sub(pattern, lambda found: options[found[0]], message)


# What the shell offers for a value, where click does not know it by itself.


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell, which completes paths."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_tokenizers(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of tokenizers, and paths."""
    from click.shell_completion import CompletionItem

    # Paths come first: bash forgets for them what it was offered before.
    return [
        *complete_paths(ctx, param, incomplete),
        *(CompletionItem(name) for name in Tokenizer.names if name.startswith(incomplete)),
    ]


INPUTS = click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=complete_paths
)
ANY_INPUTS = click.argument("inputs", nargs=-1, metavar="[INPUT...]", shell_complete=complete_paths)


class TargetType(click.Path):
    """A path or a URL, of which a path would take a slash away."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return what was named."""
        named = target_of(value)
        return named if isinstance(named, Url) else super().convert(str(named), param, ctx)


class WholeType(click.types.IntParamType):
    """A whole number; a text that is too long for one is not repeated."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number."""
        if isinstance(value, str):
            try:
                check_length("a whole number", value)
            except InvalidParameterError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


class ChoiceType(click.Choice[str]):
    """One of a few values; one that other commands have is refused with the reason."""

    def __init__(self, kind: Choice) -> None:
        super().__init__(kind.values)
        self._kind = kind

    def get_invalid_choice_message(self, value: Any, ctx: Any) -> str:
        """Return click's message, and the reason if there is one."""
        message = super().get_invalid_choice_message(value, ctx)
        advice = self._kind.advice(value)
        return f"{message.removesuffix('.')}; {advice}." if advice else message


def options_of(name: str) -> Callable[[Callable[[Call], Any]], Callable[..., Any]]:
    """Make a decorator that adds all options of a command, in the order of help."""

    def decorate(function: Callable[[Call], Any]) -> Callable[..., Any]:
        options = COMMANDS[name]

        @functools.wraps(function)
        def called(**values: Any) -> Any:
            # Types and ranges, before the command does anything, so before it looks for inputs.
            for option in options:
                option.checked(values[option.name])
                if option.is_repeatable:
                    values[option.name] = values[option.name] or None
            return function(Call(values))

        members = [option for part in grouped(options).values() for option in part]
        command: Callable[..., Any] = called
        # The last that is added comes first.
        for option in reversed(members):
            command = _as_click(option)(command)
        return command

    return decorate


def _as_click(option: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    settings: dict[str, Any] = {"type": _type_of(option.kind), "metavar": option.metavar}
    flags = option.spelling
    if isinstance(option.kind, Switch):
        flags = tuple(f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags)
        settings["default"] = None
    elif isinstance(option.kind, Flag):
        settings["is_flag"] = True
    elif option.default is not None:
        settings["default"] = [option.default] if option.is_repeatable else option.default
    elif isinstance(option.kind, Columns):
        # Nothing is named, and something else decides.
        settings["callback"] = lambda _, __, names: names or None
    if isinstance(option.kind, Tokenizer):
        settings["shell_complete"] = complete_tokenizers
    elif isinstance(option.kind, Documents | Address):
        settings["shell_complete"] = complete_paths
    if option.is_required:
        settings["required"] = True
    if option.is_repeatable:
        settings["multiple"] = True
    shown = f"  [default: {option.shown_default}]" if option.shown_default else ""
    settings |= {"cls": TableOption, "entry": option, "help": option.help + shown}
    return click.option(*flags, option.name, **settings)


def _type_of(kind: Kind) -> Any:
    if isinstance(kind, Whole):
        return WholeType()
    if isinstance(kind, Choice):
        return ChoiceType(kind)
    if isinstance(kind, PathOrUrl):
        return TargetType()
    if isinstance(kind, Location):
        return click.Path(path_type=Path, dir_okay=not kind.is_file)
    return None
