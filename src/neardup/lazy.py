"""Names that a module loads at their first use, and a library that a command never loads."""

from __future__ import annotations

import importlib
import sys
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


class _WithoutPandas:
    """Has Arrow find no pandas, as where it is not installed."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            message = "a command loads no pandas"
            raise ModuleNotFoundError(message, name=name)


def hide_pandas() -> None:
    """Keep Arrow from loading pandas in this process.

    Arrow looks for it at the first array. Loading it takes longer than the rest of a short command,
    and no command has a data frame.
    """
    sys.meta_path.insert(0, _WithoutPandas)
