"""How input files are read: the options that say what is in a file, and which sources use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from neardup.options import table
from neardup.options.choices import InputFormat
from neardup.options.option import CheckedOptions, Option, no_effect

if TYPE_CHECKING:
    from neardup.files.rows import Source

# For each option where it has no effect, what to do about it, and the options that this names.
_WITHOUT_EFFECT = {
    "input_format": ("on data in memory", "name files", ()),
    "encoding": ("where no input is text, CSV or JSON", "name one", ()),
    "delimiter": (
        "where no input is CSV or TSV",
        "read files as such with input_format csv",
        ("input_format",),
    ),
    "lines": (
        "where no input is text",
        "read files as text with input_format text",
        ("input_format",),
    ),
}


@dataclass(frozen=True, kw_only=True)
class InputOptions(CheckedOptions):
    """What input files hold.

    Parameters
    ----------
    input_format
        What all files are read as; with ``auto`` their endings decide.
    encoding
        Of text, CSV and JSON, by Python's name; None is UTF-8.
    delimiter
        What separates fields of CSV and TSV; None is a comma, or a tab for TSV.
    lines
        Text files hold one document a line; else each is one.
    """

    known: ClassVar[Iterable[Option]] = (
        table.INPUT_FORMAT,
        table.ENCODING,
        table.DELIMITER,
        table.LINES,
    )

    input_format: InputFormat = "auto"
    encoding: str | None = None
    delimiter: str | None = None
    lines: bool = False


def check_effect(options: InputOptions, *collections: Sequence[Source]) -> None:
    """Raise if an option that was given concerns no source of some collections.

    Raises
    ------
    InvalidParameterError
        Naming the option.
    """
    concerned = {
        name for sources in collections for source in sources for name in source.input_options
    }
    for name, (where, remedy, others) in _WITHOUT_EFFECT.items():
        if getattr(options, name) != getattr(InputOptions, name) and name not in concerned:
            raise no_effect(name, where, remedy, *others)
