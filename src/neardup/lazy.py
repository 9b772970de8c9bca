"""Load names of modules at first use, and hide pandas."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import Any


def load_name(namespace: dict[str, Any], name: str) -> Any:
    """Load a name by the module's ``_HOMES`` and cache it."""
    if name not in namespace["_HOMES"]:
        message = f"module {namespace['__name__']!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(namespace["_HOMES"][name]), name)
    namespace[name] = value
    return value


class _WithoutPandas:
    """Import hook that hides pandas from Arrow."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            message = "a command loads no pandas"
            raise ModuleNotFoundError(message, name=name)


@cache
def hide_pandas() -> None:
    """Keep Arrow's first array from loading pandas, which is slow."""
    sys.meta_path.insert(0, _WithoutPandas)
