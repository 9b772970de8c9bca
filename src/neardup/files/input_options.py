"""How input files are read: the options that say what is in a file, and which sources use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.options.groups import InputOptions
from neardup.options.option import no_effect

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


def check_effect(options: InputOptions, *collections: Sequence[Source]) -> None:
    """Raise if an option that was given concerns no source of some collections."""
    concerned = {
        name for sources in collections for source in sources for name in source.input_options
    }
    if options.main_text and options.alternative_texts:
        raise no_effect("alternative_texts", "on the main text", "leave out main_text", "main_text")
    for name, (where, remedy, others) in _WITHOUT_EFFECT.items():
        if getattr(options, name) != InputOptions.known[name].default and name not in concerned:
            raise no_effect(name, where, remedy, *others)
