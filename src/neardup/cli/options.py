"""The command line's options, made from their table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.call import Call
from neardup.cli.command import TableOption
from neardup.errors import InvalidParameterError
from neardup.options.commands import COMMANDS, grouped
from neardup.options.kinds import (
    Address,
    Choice,
    Columns,
    Conditions,
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
        self._elsewhere = dict(kind.elsewhere)

    def get_invalid_choice_message(self, value: Any, ctx: Any) -> str:
        """Return click's message, and the reason if there is one."""
        message = super().get_invalid_choice_message(value, ctx)
        reason = self._elsewhere.get(value)
        return message if reason is None else f"{message.removesuffix('.')}; {reason}."


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
    elif isinstance(option.kind, Columns | Conditions):
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
