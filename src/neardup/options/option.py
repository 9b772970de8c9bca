"""One option, options that travel together and check themselves, and functions that take them.

A class of options declares each of them once, with what the type alone does not say::

    class TextOptions(Options):
        ngram: int | None = option("Tokens in a shingle.", Whole(1, 65536), default=None)

Its instances are values: checked when they are made, and never changed. A class that extends
others declares again what has another default or type there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, NoneType
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    overload,
)

from neardup.errors import InvalidInputError, InvalidParameterError, OutputExistsError
from neardup.options.kinds import Choice, Documents, Flag, Kind, Switch, Text

P = ParamSpec("P")
OptionsT = TypeVar("OptionsT", bound="Options")
ResultT = TypeVar("ResultT")
SelfT = TypeVar("SelfT")

# Errors that say what a caller has to change, which is in the caller's code.
_USERS_ERRORS = (InvalidInputError, InvalidParameterError, OutputExistsError)

# The default of what has to be given.
REQUIRED = object()


class _AsItIs(Documents):
    """Whatever a function works on, which it checks itself."""


class _Together(Documents):
    """A value of a group of options."""

    def __init__(self, group: type[Group]) -> None:
        self._group = group

    def checked(self, name: str, value: Any) -> Any:
        """Return the value."""
        if not isinstance(value, self._group):
            message = f"{name} must be {self._group.__name__}(...), got {value!r}"
            raise InvalidParameterError(message, name)
        return value


class MisfitError(TypeError):
    """Arguments that a function does not take."""


@dataclass(frozen=True)
class Option:
    """An option of one job or of several.

    Parameters
    ----------
    help
        One line, for the command line.
    kind
        What values it takes; where it is not given the type says it.
    usual
        What is taken where it is not given and something else decides, as help says it.
    python
        What docstrings say, where that is more than ``help`` and ``usual``.
    metavar
        What stands for the value in help; None leaves that to its type.
    flags
        How the command line writes it, where that is not the name.
    is_required
        The command line does not do without it.
    is_repeatable
        The command line takes it several times.
    name, default, type
        In Python: of the class that declares it.
    """

    help: str
    kind: Kind = field(default_factory=Documents)
    usual: str = ""
    python: str = ""
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    is_required: bool = False
    is_repeatable: bool = False
    name: str = ""
    default: Any = None
    type: Any = Any

    @property
    def spelling(self) -> tuple[str, ...]:
        """How the command line writes it."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def shown_default(self) -> str:
        """What help says of the default; empty if nothing."""
        if self.usual or self.default is None or isinstance(self.kind, Flag):
            return self.usual
        return str(self.default)

    @property
    def described(self) -> str:
        """What docstrings say of it."""
        if self.python:
            return self.python
        return f"{self.help} None: {self.usual}." if self.usual else self.help

    def but(self, **changes: Any) -> Option:
        """Return the option as a job has it that differs in something."""
        # Many times as fast as dataclasses.replace, for the start of every command.
        made = object.__new__(Option)
        vars(made).update(vars(self), **changes)
        return made

    def checked(self, value: Any) -> Any:
        """Return the value, which may be None if that is the default; a whole number as ``int``.

        Raises
        ------
        InvalidParameterError
            If it has the wrong type or is out of range.
        """
        if value is None and self.default is None:
            return None
        return self.kind.checked(self.name, value)

    def given(self, value: Any) -> Any:
        """Return the value as ``checked`` does; it may not be None."""
        return self.kind.checked(self.name, value)


def option(
    like: str | Option, kind: Kind | None = None, *, default: Any = REQUIRED, **others: Any
) -> Any:
    """Declare an option of a class, by its help or by one that it is like; as ``Option``."""
    if kind is not None:
        others["kind"] = kind
    found = like.but(**others) if isinstance(like, Option) else Option(like, **others)
    return found.but(default=default)


def argument(text: str, *, default: Any = REQUIRED) -> Any:
    """Declare what a function works on; ``text`` is what its docstring says of it."""
    return Option("", _AsItIs(), python=text, default=default)


def together(group: type[Group], *, default: Any = REQUIRED) -> Any:
    """Declare an argument that takes options of a function together, beside their own names."""
    text = (
        f"``{group.__name__}(...)``: such options as one value, for many calls. Those that this "
        "function has not, and those that are given by their own names, too, are refused."
    )
    return Option("", _Together(group), python=text, default=default)


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(option, argument, together)
)
class Options:
    """Base of options that travel together, each checked when a value is made.

    What goes with what, the job checks. ``known`` are the options by their names, ``own``
    the names of those that the class itself declares or changes, ``positional`` those that need
    not be named; ``groups`` those that are options together; ``differs`` says what a class changes
    in the help, or the range, of those that it inherits.
    """

    known: ClassVar[Mapping[str, Option]] = {}
    positional: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[tuple[str, ...]] = ()
    own: ClassVar[frozenset[str]] = frozenset()
    differs: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:
        inherited = dict.fromkeys(name for base in cls.__bases__ for name in _known(base))
        known = {name: _nearest(cls, name) for name in inherited}
        declared = []
        for name, annotation in _annotations(cls).items():
            value = vars(cls).get(name)
            if isinstance(value, Option):
                # A kind that was not given follows from the type.
                kind = _kind_of(annotation) if type(value.kind) is Documents else value.kind
                known[name] = value.but(name=name, kind=kind, type=annotation)
            elif name in known:
                # Another default, or a narrower type.
                usual = known[name].usual if value is None else ""
                known[name] = known[name].but(default=value, type=annotation, usual=usual)
            else:
                continue
            declared.append(name)
        changed = vars(cls).get("differs", {})
        for name, changes in changed.items():
            known[name] = known[name].but(**changes)
        # What a class adds comes first.
        added = [name for name in declared if name not in inherited]
        cls.known = {name: known[name] for name in (*added, *inherited)}
        cls.own = frozenset([*declared, *changed])
        cls.groups = tuple(name for name in known if isinstance(known[name].kind, _Together))
        if not kw_only:
            cls.positional = tuple(declared)

    def __init__(self, *arguments: Any, **given: Any) -> None:
        known, positional = self.known, self.positional
        for name, value in zip(positional, arguments, strict=False):
            if name in given:
                raise MisfitError(f"got multiple values for argument {name!r}")
            given[name] = value
        for name in self.groups:
            self._spread(name, given)
        # What is not given, or None, which is the same.
        chosen = self.usual(given)
        given |= {name: value for name, value in chosen.items() if given.get(name) is None}
        values = {name: given.pop(name, option.default) for name, option in known.items()}
        if given:
            raise MisfitError(f"got an unexpected keyword argument {next(iter(given))!r}")
        if len(arguments) > len(positional):
            raise MisfitError(f"takes {len(positional)} positional arguments at most")
        for name, value in values.items():
            if value is REQUIRED:
                raise MisfitError(f"missing a required argument: {name!r}")
        vars(self).update((name, known[name].checked(value)) for name, value in values.items())
        self.check_together()

    def _spread(self, name: str, given: dict[str, Any]) -> None:
        """Put the options of a group where they would be if they were given by their names."""
        group = self.known[name].checked(given.pop(name, None))
        for each, value in vars(group).items() if group is not None else ():
            if each not in self.known:
                raise MisfitError(f"got an unexpected option {each!r} in {name}")
            if given.get(each) is not None:
                raise MisfitError(f"got {each!r} twice, by its name and in {name}; leave one out")
            given[each] = value

    @classmethod
    def usual(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what other values than the defaults are usual beside those that are given."""
        return {}

    def check_together(self) -> None:
        """Raise for options that exclude each other, whatever the job does with them."""

    def __setattr__(self, name: str, value: Any) -> None:
        message = f"options do not change: {name}"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}"
            for name, value in vars(self).items()
            if value is not self.known[name].default
        )
        return f"{type(self).__name__}({given})"

    def but(self, **changes: Any) -> Self:
        """Return these options with some changed."""
        return type(self)(**{**vars(self), **changes})

    def part(self, kind: type[OptionsT], **others: Any) -> OptionsT:
        """Return those of these options that are also of a ``kind``, and ``others``.

        What is None is not given, and as it is usual there.
        """
        both = {name: value for name, value in vars(self).items() if name in kind.known}
        own = {name: value for name, value in both.items() if value is not None}
        return kind(**{**own, **others})


def _annotations(cls: type) -> dict[str, Any]:
    """Return the annotations of a class; those put off are evaluated in its module."""
    module = vars(sys.modules[cls.__module__])
    return {
        name: eval(found, module) if isinstance(found, str) else found
        for name, found in cls.__annotations__.items()
    }


def _known(base: type) -> Mapping[str, Option]:
    found: Mapping[str, Option] = getattr(base, "known", {})
    return found


def _nearest(cls: type, name: str) -> Option:
    """Return an option as the nearest class that ``cls`` extends declares or changes it."""
    return next(_known(base)[name] for base in cls.__mro__[1:] if name in vars(base).get("own", ()))


def _kind_of(plain: Any) -> Kind:
    """Return the kind of values that a type has, if it leaves no choice."""
    if get_origin(plain) is Literal:
        return Choice(plain)
    parts = [part for part in get_args(plain) or (plain,) if part is not NoneType]
    if parts == [bool]:
        return Flag() if plain is bool else Switch()
    if parts == [str]:
        return Text()
    if any(get_origin(part) is Literal for part in parts):
        return Choice(plain)
    return Documents()


class takes(Generic[P, OptionsT]):
    """Make a decorator: a function of one value of options takes each of them as an argument.

    Type checkers, ``inspect.signature`` and ``help`` see them; they become a section of its
    docstring.
    """

    def __init__(self, given: Callable[P, OptionsT]) -> None:
        self._given: Any = given

    @overload
    def __call__(self, function: Callable[[OptionsT], ResultT]) -> Callable[P, ResultT]: ...
    @overload
    def __call__(
        self, function: Callable[[SelfT, OptionsT], ResultT]
    ) -> Callable[Concatenate[SelfT, P], ResultT]: ...
    def __call__(self, function: Any) -> Any:
        """Return the function that takes arguments."""
        import functools
        import inspect

        given, misfit, users, name = self._given, MisfitError, _USERS_ERRORS, function.__name__
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        n_own = len(own)

        def called(*arguments: Any, **options: Any) -> Any:
            try:
                value = given(*arguments[n_own:], **options)
                return function(*arguments[:n_own], value)
            except misfit as error:
                message = f"{name}() {error}"
                raise TypeError(message) from None
            except users as error:
                # The message says what to change; where in here that was noticed does not help.
                raise error.with_traceback(None) from error.__cause__

        # Of the function's own module, where doctest and others look for it.
        made: Any = FunctionType(
            called.__code__, function.__globals__, name, None, called.__closure__
        )
        functools.update_wrapper(made, function)
        return _with_signature(made, given, own)


class shows(Generic[P]):
    """Make a decorator: a function shows options that it hands on unseen, as ``takes`` does."""

    def __init__(self, given: Callable[P, Options]) -> None:
        self._given: Any = given

    def __call__(self, function: Callable[..., ResultT]) -> Callable[P, ResultT]:
        """Return the function."""
        found: Callable[P, ResultT] = _with_signature(function, self._given, [])
        return found


def _with_signature(function: Any, given: type[Options], own: list[Any]) -> Any:
    """Give a function signature, annotations and docstring of the options that it takes."""
    import inspect

    options = [given.known[each] for each in given.positional]
    options += [found for found in given.known.values() if found.name not in given.positional]
    parameters = [*own, *(_parameter(option, given.positional) for option in options)]
    returned = inspect.signature(function).return_annotation
    function.__signature__ = inspect.Signature(parameters, return_annotation=returned)
    function.__annotations__ = {option.name: option.type for option in options}
    function.__annotations__ |= {"return": returned}
    function.__doc__ = _with_parameters(function.__doc__, options)
    function.takes = given
    return function


def _parameter(option: Option, positional: tuple[str, ...]) -> Any:
    from inspect import Parameter

    is_positional = option.name in positional
    return Parameter(
        option.name,
        Parameter.POSITIONAL_OR_KEYWORD if is_positional else Parameter.KEYWORD_ONLY,
        default=Parameter.empty if option.default is REQUIRED else option.default,
        annotation=option.type,
    )


def _with_parameters(docstring: str | None, options: list[Option]) -> str | None:
    """Return a docstring with the section of parameters, which is before all others."""
    from inspect import cleandoc
    from itertools import groupby
    from textwrap import fill

    if docstring is None:
        return None
    entries = ["Parameters\n----------"]
    for text, found in groupby(options, key=lambda option: option.described):
        names = ", ".join(option.name for option in found)
        filled = fill(text, 96, initial_indent="    ", subsequent_indent="    ")
        entries.append(f"{names}\n{filled}")
    text = cleandoc(docstring)
    heading = re.search(r"(?m)^\w+\n-+$", text)
    place = len(text) + 2 if heading is None else heading.start()
    parts = [text[:place].rstrip(), "\n".join(entries), text[place:]]
    return "\n\n".join(filter(None, parts)) + "\n"


class Group(Options):
    """Base of options that functions take together, under one name.

    A value has those that were given, whatever their defaults are: of all others the function has
    defaults of its own. Its class shows its options, as ``takes`` shows those of a function.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _with_signature(cls, cls, [])
        for name, option in cls.known.items():
            setattr(cls, name, option.default)

    def __init__(self, *places: Any, **given: Any) -> None:
        name = type(self).__name__
        if places:
            message = f"{name}() takes options by their names, such as {next(iter(self.known))}=..."
            raise TypeError(message)
        try:
            super().__init__(**given)
        except MisfitError as error:
            message = f"{name}() {error}"
            raise TypeError(message) from None
        for name in self.known:
            if given.get(name) is None:
                del vars(self)[name]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"


def but(**changes: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Say by its name what differs of an option that a class inherits."""
    return changes


def no_effect(parameter: str, where: str, remedy: str, *others: str) -> InvalidParameterError:
    """Make the error for an option that was given but can have no effect.

    ``others`` are parameters that ``where`` and ``remedy`` name.
    """
    message = f"{parameter} has no effect {where}; leave it out, or {remedy}"
    return InvalidParameterError(message, parameter, *others)
