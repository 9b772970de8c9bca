"""Declaration, checks and combination of options.

A class of options declares each option as a field::

    class TextOptions(Options):
        ngram: int | None = option("Tokens per shingle.", Whole(1, 65536), default=None)

Its instances are values: they are checked when they are made, and never change. A subclass may
declare an option again, with another default, range or help. The command line uses these fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import get_annotations
from types import NoneType
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform, get_args, get_origin

from neardup.errors import InvalidParameterError
from neardup.options.kinds import Choice, Documents, Flag, Kind, Switch, Text

OptionsT = TypeVar("OptionsT", bound="Options")

# Place in the docstring of a class where its options are listed.
_LISTED = "{options}"


@dataclass(frozen=True)
class Option:
    """An option of one job or of several.

    ``help`` is a line of at most ten words for ``-h``, ``more`` sentences that ``--help`` prints
    after it. Without ``kind`` the range of values follows from the annotation. ``usual`` is the
    value that a job chooses where the option is not given. ``metavar`` names the value in help, by
    default its type; ``flags`` is the spelling on the command line, by default from the name.
    ``name``, ``default``, ``type`` and ``heading`` are those of the declaring class.
    """

    help: str
    kind: Kind = field(default_factory=Documents)
    more: str = ""
    usual: str = ""
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    is_required: bool = False
    name: str = ""
    default: Any = None
    type: Any = Any
    heading: str = ""

    @property
    def spelling(self) -> tuple[str, ...]:
        """Return the spelling on the command line."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def shown_default(self) -> str:
        """Return the default for help, possibly empty."""
        if self.usual or self.default is None or isinstance(self.kind, Flag):
            return self.usual
        return str(self.default)

    def but(self, **changes: Any) -> Option:
        """Return the option with some changes."""
        # Many times as fast as dataclasses.replace, for the start of every command.
        changed = object.__new__(Option)
        vars(changed).update(vars(self), **changes)
        return changed

    def checked(self, value: Any) -> Any:
        """Return a checked value, a whole number as ``int``."""
        # Defaults are values as they are checked, and most options have theirs.
        return value if _is_equal(value, self.default) else self.kind.checked(self.name, value)


def option(like: str | Option, kind: Kind | None = None, *, default: Any, **others: Any) -> Any:
    """Declare an option by its help or by another option."""
    if kind is not None:
        others["kind"] = kind
    declared = like.but(**others) if isinstance(like, Option) else Option(like, **others)
    return declared.but(default=default)


class _OnDemand:
    """A class attribute that is computed on access."""

    def __init__(self, make: Callable[[type[Options]], Any]) -> None:
        self._make = make

    def __get__(self, _: object, cls: type[Options]) -> Any:
        return self._make(cls)


def _signature(cls: type[Options]) -> Any:
    from inspect import Parameter, Signature

    return Signature(
        [
            Parameter(
                option.name,
                Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=option.type,
            )
            for option in cls.known.values()
        ]
    )


def _docstring(text: str, cls: type[Options]) -> str:
    from textwrap import fill

    indent, listed = " " * 8, []
    for option in cls.known.values():
        parts = [option.help, option.more]
        if isinstance(option.kind, Choice):
            parts.append(f"One of {', '.join(option.kind.values)}.")
        parts.append(option.usual and f"None: {option.usual}.")
        words = " ".join(filter(None, parts))
        words = words.replace("INPUT", "data").replace("OTHER", "against")
        words = re.sub(r"--([a-z-]+)", lambda flag: flag[1].replace("-", "_"), words)
        described = fill(words, 96, initial_indent=indent, subsequent_indent=indent)
        listed.append(f"{option.name}\n{described}")
    return text.replace(_LISTED, "\n    ".join(listed))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
class Options:
    """Base class of options, with values checked on creation.

    ``known`` has the options by name: first those of the class, then inherited ones. ``changes``
    has the fields of options that the class declares or changes, and ``differs`` its changes of the
    help, range or default of inherited ones. ``heading`` is above the declared options in help. The
    command line does not have the options ``in_python``.
    """

    known: ClassVar[dict[str, Option]] = {}
    changes: ClassVar[dict[str, dict[str, Any]]] = {}
    differs: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    heading: ClassVar[str] = ""
    in_python: ClassVar[frozenset[str]] = frozenset()
    __signature__: ClassVar[Any] = _OnDemand(_signature)

    def __init_subclass__(cls) -> None:
        """Set ``changes`` to the options that the class declares, and ``known`` to all."""
        inherited = [name for base in cls.__bases__ for name in getattr(base, "known", ())]
        cls.changes = {}
        for name, annotation in get_annotations(cls, eval_str=True).items():
            value = vars(cls).get(name)
            if isinstance(value, Option):
                # A kind that was not given follows from the type.
                kind = _kind_of(annotation) if type(value.kind) is Documents else value.kind
                change = {**vars(value), "name": name, "kind": kind, "type": annotation}
                change["heading"] = value.heading or cls.heading
                if name in inherited:
                    # It stays below the heading of the class that declared it first.
                    del change["heading"]
            else:
                # Another default, or a narrower type.
                change = {"default": value, "type": annotation}
                if value is not None:
                    change["usual"] = ""
            cls.changes[name] = change
        own = [name for name in cls.changes if name not in inherited]
        for name, change in vars(cls).get("differs", {}).items():
            cls.changes[name] = {**cls.changes.get(name, {}), **change}
        cls.known = {name: Option("") for name in (*own, *inherited)}
        for base in reversed(cls.__mro__):
            for name, change in vars(base).get("changes", {}).items():
                cls.known[name] = cls.known[name].but(**change)
        if cls.__doc__ and _LISTED in cls.__doc__:
            cls.__doc__ = _OnDemand(partial(_docstring, cls.__doc__))  # type: ignore[assignment]

    def __init__(self, **given: Any) -> None:
        # An option that is None counts as not given.
        implied = self.implied(given)
        given |= {name: value for name, value in implied.items() if given.get(name) is None}
        for name, option in self.known.items():
            vars(self)[name] = option.checked(given.pop(name, option.default))
        if given:
            message = f"{type(self).__name__}() has no option {next(iter(given))!r}"
            raise TypeError(message)
        self.check_together()

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values that given options choose instead of defaults."""
        return {}

    def check_together(self) -> None:
        """Raise for options that exclude each other in every job."""

    def __setattr__(self, name: str, value: Any) -> None:
        message = f"options do not change: {name}"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.given().items())
        return f"{type(self).__name__}({given})"

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        return {
            name: value
            for name, value in vars(self).items()
            if not _is_equal(value, self.known[name].default)
        }

    def check_left_out(self, names: Iterable[str], where: str, remedy: str, *others: str) -> None:
        """Raise, as ``no_effect``, if one of some options is given."""
        given = self.given()
        for name in names:
            if name in given:
                raise no_effect(name, where, remedy, *others)

    def but(self, **changes: Any) -> Self:
        """Return a copy with changed options."""
        return type(self)(**{**vars(self), **changes})

    def part(self, kind: type[OptionsT], **others: Any) -> OptionsT:
        """Return the shared options and ``others`` as another class.

        An option that is None is left to the defaults of that class.
        """
        own = {name: value for name, value in vars(self).items() if name in kind.known}
        return kind(**{name: value for name, value in own.items() if value is not None} | others)


def merge(kind: type[OptionsT], arguments: Mapping[str, Any]) -> OptionsT:
    """Merge a function's arguments, its ``locals()``, into a job's options.

    ``text`` and ``read`` are groups of options. Arguments that are no options, or None, count as
    not given. An invalid option, or one that the job does not have, raises InvalidParameterError.
    """
    merged: dict[str, Any] = {}
    for argument in ("text", "read"):
        group = arguments.get(argument)
        if group is None:
            continue
        if not isinstance(group, Options):
            kinds = "TextOptions" if argument == "text" else "ReadOptions"
            message = f"{argument} must be neardup.{kinds}(...), got {group!r}"
            raise InvalidParameterError(message)
        for name, value in group.given().items():
            if name not in kind.known:
                message = f"{name} of {type(group).__name__} has no effect here; leave it out"
                raise InvalidParameterError(message, name)
            merged[name] = value
    for name, value in arguments.items():
        if name in kind.known and value is not None:
            merged[name] = value
    return kind(**merged)


def _is_equal(value: Any, default: Any) -> bool:
    # Tables compare element by element.
    return value is default or (type(value) is type(default) and bool(value == default))


def _kind_of(annotation: Any) -> Kind:
    if get_origin(annotation) is Literal:
        return Choice(annotation)
    parts = [part for part in get_args(annotation) or (annotation,) if part is not NoneType]
    if parts == [bool]:
        return Flag() if annotation is bool else Switch()
    if parts == [str]:
        return Text()
    if any(get_origin(part) is Literal for part in parts):
        return Choice(annotation)
    return Documents()


def but(**changes: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the changes of inherited options, for ``differs``."""
    return changes


def no_effect(parameter: str, where: str, remedy: str, *others: str) -> InvalidParameterError:
    """Make the error for an option without effect."""
    message = f"{parameter} has no effect {where}; leave it out, or {remedy}"
    return InvalidParameterError(message, parameter.split()[0], *others)
