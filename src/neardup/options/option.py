"""One option, and options that check themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from neardup.errors import InvalidParameterError
from neardup.options.kinds import Flag, Kind


@dataclass(frozen=True)
class Option:
    """An option of one job or of several.

    Parameters
    ----------
    name
        In Python; on the command line with hyphens, after two of them.
    kind
        What values it takes.
    help
        One line.
    default
        Its value where it is not given; None where something else decides.
    usual
        What is taken then, as help says it.
    metavar
        What stands for the value in help; None leaves that to its type.
    flags
        How the command line writes it, where that is not the name.
    is_required
        The command line does not do without it.
    is_repeatable
        The command line takes it several times.
    """

    name: str
    kind: Kind
    help: str
    default: Any = None
    usual: str = ""
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    is_required: bool = False
    is_repeatable: bool = False

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

    def but(self, **changes: Any) -> Option:
        """Return the option as a job has it that differs in something."""
        return replace(self, **changes)

    def checked(self, value: Any) -> Any:
        """Return the value, which may be None if that is the default.

        Raises
        ------
        InvalidParameterError
            If it has the wrong type or is out of range.
        """
        if value is None and self.default is None:
            return None
        return self.given(value)

    def given(self, value: Any) -> Any:
        """Return the value, which may not be None.

        Raises
        ------
        InvalidParameterError
            As ``checked``.
        """
        return self.kind.checked(self.name, value)


def check_options(known: Iterable[Option], **values: Any) -> dict[str, Any]:
    """Check those of some options that are given; return them, whole numbers as ``int``.

    Raises
    ------
    InvalidParameterError
        For the first that has the wrong type or is out of range.
    """
    return {
        option.name: option.checked(values[option.name])
        for option in known
        if option.name in values
    }


class CheckedOptions:
    """Base of the options of a job: each field that ``known`` lists is checked when one is made.

    What goes with what, the job checks.
    """

    known: ClassVar[Iterable[Option]] = ()

    def __post_init__(self) -> None:
        for name, value in check_options(self.known, **vars(self)).items():
            # Frozen for all others.
            object.__setattr__(self, name, value)


def no_effect(parameter: str, where: str, remedy: str, *others: str) -> InvalidParameterError:
    """Make the error for an option that was given but can have no effect.

    ``others`` are parameters that ``where`` and ``remedy`` name.
    """
    message = f"{parameter} has no effect {where}; leave it out, or {remedy}"
    return InvalidParameterError(message, parameter, *others)
