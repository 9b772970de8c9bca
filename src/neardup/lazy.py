"""Names of a module that are loaded when they are used, with what they need."""

from __future__ import annotations

import importlib
from typing import Any


def load_name(namespace: dict[str, Any], name: str) -> Any:
    """Return a name of a module, which its ``_HOMES`` says where to find, and keep it there.

    Raises
    ------
    AttributeError
        If the module has no such name.
    """
    if name not in namespace["_HOMES"]:
        message = f"module {namespace['__name__']!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(namespace["_HOMES"][name]), name)
    namespace[name] = value
    return value
