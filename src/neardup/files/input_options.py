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

_NO_PAGE = (
    "where no input is a web page",
    "read files and columns as such with input_format html",
    ("input_format",),
)

# For each option where it has no effect, what to do about it, and the options that this names.
_WITHOUT_EFFECT = {
    "input_format": ("on data in memory", "name files", ()),
    "encoding": ("where no input is text, CSV, JSON or a web page", "name one", ()),
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
    "main_text": _NO_PAGE,
    "alternative_texts": _NO_PAGE,
}


@dataclass(frozen=True, kw_only=True)
class InputOptions(CheckedOptions):
    """What input files hold.

    Parameters
    ----------
    input_format
        What all files are read as; with ``auto`` their endings decide.
    encoding
        Of text, CSV, JSON and web pages, by Python's name; None is what a page says of itself, else
        UTF-8.
    delimiter
        What separates fields of CSV and TSV; None is a comma, or a tab for TSV.
    lines
        Text files hold one document a line; else each is one.
    main_text
        Of web pages the main text is read, not all that is visible.
    alternative_texts
        Visible text includes the alternative texts of images.
    """

    known: ClassVar[Iterable[Option]] = (
        table.INPUT_FORMAT,
        table.ENCODING,
        table.DELIMITER,
        table.LINES,
        table.MAIN_TEXT,
        table.ALTERNATIVE_TEXTS,
    )

    input_format: InputFormat = "auto"
    encoding: str | None = None
    delimiter: str | None = None
    lines: bool = False
    main_text: bool = False
    alternative_texts: bool = False


def check_effect(options: InputOptions, *collections: Sequence[Source]) -> None:
    """Raise if an option that was given concerns no source of some collections."""
    concerned = {
        name for sources in collections for source in sources for name in source.input_options
    }
    if options.main_text and options.alternative_texts:
        raise no_effect("alternative_texts", "on the main text", "leave out main_text", "main_text")
    for name, (where, remedy, others) in _WITHOUT_EFFECT.items():
        if getattr(options, name) != getattr(InputOptions, name) and name not in concerned:
            raise no_effect(name, where, remedy, *others)
