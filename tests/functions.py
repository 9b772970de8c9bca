"""The public functions that take options, by the names that users write."""

from __future__ import annotations

from typing import Any

import neardup
from neardup.options.documents import DocumentSearchOptions, MostOptions
from neardup.options.groups import OpenOptions
from neardup.options.option import REQUIRED, Option

CLASSES = {"DocumentIndex": neardup.DocumentIndex, "PassageIndex": neardup.PassageIndex}

GROUPS = (neardup.TextOptions, neardup.ReadOptions, neardup.RunOptions)


def _found() -> dict[str, Any]:
    functions = {name: getattr(neardup, name) for name in neardup.__all__}
    functions = {name: found for name, found in functions.items() if found not in GROUPS}
    for name, kind in CLASSES.items():
        functions |= {f"{name}.{each}": getattr(kind, each) for each in dir(kind)}
    return {name: found for name, found in functions.items() if hasattr(found, "takes")}


_ASKED = DocumentSearchOptions.known["threshold"]
TAKING = {name: found for name, found in _found().items() if not name.endswith("__")}


def _options(found: Any) -> tuple[Option, ...]:
    """List the options of a function: what it works on is none."""
    known = found.takes.known.values()
    return tuple(option for option in known if option.help and option.default is not REQUIRED)


# With those that take so few that they write them out.
FUNCTIONS = {name: _options(found) for name, found in TAKING.items()} | {
    "open_index": (OpenOptions.known["tokenizer"],),
    "DocumentIndex.query": (_ASKED, *MostOptions.known.values()),
    "DocumentIndex.insert_if_new": (_ASKED,),
}
