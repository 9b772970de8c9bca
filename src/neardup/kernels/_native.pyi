from collections.abc import Callable
from typing import Any

DIGEST: str
LEVELS: list[str]

def kernels(level: str, /) -> dict[str, Callable[..., Any]]: ...
