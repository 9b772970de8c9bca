"""Inputs of a user: sources, files passed over, and options without effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from neardup.files.streams import ending_of
from neardup.options.groups import InputOptions
from neardup.options.option import no_effect

if TYPE_CHECKING:
    from neardup.files.rows import Source

# Endings that a message names, the most frequent ones.
_MOST_ENDINGS = 8


class NoFile(str):
    """The path of a pipe, a device or a socket: to read one may never end."""


class Inputs(Sequence["Source"]):
    """The sources of a collection, and how many files of its folders are none.

    Parameters
    ----------
    sources
        In the order of the arguments.
    passed_over
        Files of folders that were not read, because their endings mean no format, or because they
        are pipes, devices or sockets.
    """

    def __init__(self, sources: Iterable[Source], passed_over: Iterable[str] = ()) -> None:
        self._sources = tuple(sources)
        self.passed_over: Mapping[str, int] = Counter(map(_shown_ending, passed_over))

    def __len__(self) -> int:
        return len(self._sources)

    def changed(self, change: Callable[[Source], Source]) -> Inputs:
        """Return other sources in the places of these."""
        made = Inputs(map(change, self._sources))
        made.passed_over = self.passed_over
        return made

    @overload
    def __getitem__(self, index: int) -> Source: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Source]: ...
    def __getitem__(self, index: int | slice) -> Source | Sequence[Source]:
        return self._sources[index]


def _shown_ending(name: str) -> str:
    """Return the ending of a file name as Unicode, which messages and summaries can hold."""
    if isinstance(name, NoFile):
        return "(pipe, device or socket)"
    return ending_of(name).encode("utf-8", "backslashreplace").decode()


def origins_of(*collections: Iterable[Source]) -> list[str | None]:
    """Return the paths and URLs of all files of some collections; None for data in memory."""
    return [file.origin for sources in collections for each in sources for file in each.files]


def passed_over(*collections: Sequence[Source]) -> dict[str, int]:
    """Count the files that some collections have passed over, by ending, frequent ones first.

    The ending of a name without one is empty.
    """
    counts: Counter[str] = Counter()
    for sources in collections:
        if isinstance(sources, Inputs):
            counts.update(sources.passed_over)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def list_endings(counts: Mapping[str, int]) -> str:
    """Write down how many files have been passed over, by ending."""
    shown = [f"{ending or 'without ending'} {number:,}" for ending, number in counts.items()]
    if len(shown) > _MOST_ENDINGS:
        shown[_MOST_ENDINGS:] = [f"and {len(shown) - _MOST_ENDINGS} more endings"]
    total = sum(counts.values())
    return f"{total:,} {'file' if total == 1 else 'files'} passed over: {', '.join(shown)}"


_NO_PAGE = (
    "where no input is a web page",
    "read files and columns as such with input_format html",
    ("input_format",),
)

# For each option, or value of one, the inputs on which it has no effect, a remedy, and the options
# that the remedy names.
_WITHOUT_EFFECT = {
    "input_format": ("on data in memory", "name files", ()),
    "encoding": ("where no input is text, CSV, JSON or a web page", "name one", ()),
    "delimiter": (
        "where no input is CSV or TSV",
        "read files as such with input_format csv",
        ("input_format",),
    ),
    "document line": (
        "where no input is text",
        "read files as text with input_format text",
        ("input_format",),
    ),
    "main_text": _NO_PAGE,
    "document folder": ("where no input is a folder of texts", "name folders", ()),
}


def check_effect(options: InputOptions, *collections: Sequence[Source]) -> None:
    """Raise if an option that was given concerns no source of some collections."""
    concerned = {
        name for sources in collections for source in sources for name in source.input_options
    }
    for key, (where, remedy, others) in _WITHOUT_EFFECT.items():
        name, _, value = key.partition(" ")
        given = getattr(options, name)
        is_given = given == value if value else given != InputOptions.known[name].default
        if is_given and key not in concerned:
            raise no_effect(key, where, remedy, *others)
