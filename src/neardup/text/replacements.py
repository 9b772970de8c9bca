"""Words that stand for others, as a user writes them down: abbreviations, synonyms, additions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError

_ARROW = "->"
# They are part of the scheme, which every summary and index has.
_MOST = 10_000


@dataclass(frozen=True)
class Replacements:
    """What words and phrases become, in the order in which they were written.

    Parameters
    ----------
    rules
        Pairs of what is replaced and what stands for it, nothing if it is removed.
    lines
        The line of each in its file, from 1; empty without a file.
    path
        The file.
    """

    rules: tuple[tuple[str, str], ...]
    lines: tuple[int, ...] = ()
    path: str | None = None

    @cached_property
    def _hash(self) -> int:
        return hash(self.rules)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replacements) and self.rules == other.rules

    def describe(self) -> dict[str, str]:
        """Return the rules as plain values, of which ``read_replacements`` makes them again."""
        return dict(self.rules)

    def name_of(self, number: int) -> str:
        """Return what a message calls a rule: its line, or what it replaces."""
        return f"line {self.lines[number]}" if self.lines else repr(self.rules[number][0])

    def error(self, number: int, message: str) -> Exception:
        """Return the error for a rule that cannot be followed."""
        name = self.name_of(number)
        # Of a mapping a rule goes by what it replaces, with which the message may begin.
        if not message.startswith(f"{name} "):
            message = f"{name}: {message}"
        return _error(message, self.path)


def _error(message: str, path: str | None) -> Exception:
    if path is not None:
        return InvalidInputError(message, path=path)
    return InvalidParameterError(f"replace: {message}", "replace")


def read_replacements(
    given: str | PathLike[str] | Mapping[str, str] | None,
) -> Replacements | None:
    """Read replacements from a file or a mapping; None of nothing.

    Raises
    ------
    ReadError, InvalidInputError, InvalidParameterError
        If the file cannot be read, or a line of it is no replacement.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        found = Replacements(tuple((old.strip(), new.strip()) for old, new in given.items()))
    else:
        found = _read(str(given))
    if len(found.rules) > _MOST:
        message = f"there may be {_MOST:,} replacements at most, got {len(found.rules):,}"
        raise _error(message, found.path)
    return found


def replacements_in(given: str | PathLike[str] | Mapping[str, str]) -> dict[str, str]:
    """Return what a file or a mapping has, as schemes describe it."""
    found = read_replacements(given)
    return {} if found is None else found.describe()


def _read(path: str) -> Replacements:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=path) from None
    except UnicodeDecodeError:
        raise InvalidInputError("not in UTF-8; convert it first", path=path) from None
    rules: list[tuple[str, str]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        old, separator, new = line.partition(_ARROW if _ARROW in line else "\t")
        if not separator:
            message = (
                f"line {number}: neither {_ARROW} nor a tab in {line.strip()!r}; write St -> "
                "Street, or GmbH -> to remove a word"
            )
            raise InvalidInputError(message, path=path)
        rules.append((old.strip(), new.strip()))
        numbers.append(number)
    return Replacements(tuple(rules), tuple(numbers), path)
