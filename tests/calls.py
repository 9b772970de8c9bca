"""Options by name, as tests list them, sorted into the values that public functions take."""

from __future__ import annotations

from typing import Any

from neardup import ReadOptions, RunOptions, TextOptions

GROUPS = {"text": TextOptions, "read": ReadOptions, "run": RunOptions}


def grouped(**options: Any) -> dict[str, Any]:
    """Return arguments of a public function, given all options by their own names."""
    arguments = {}
    for name, group in GROUPS.items():
        members = {each: options.pop(each) for each in list(options) if each in group.known}
        if members:
            arguments[name] = group(**members)
    return arguments | options
