"""Whether a disk has room for an output, before the work is done that it is the result of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from neardup.errors import WriteError
from neardup.outputs.targets import Target
from neardup.runtime.progress import size


def check_room(target: Target, sizes: Iterable[int | None]) -> None:
    """Make sure that a disk has room for an output of all rows of its inputs.

    Parameters
    ----------
    target
        The output; of a URL nobody knows what is free there.
    sizes
        Of the inputs in bytes; where one is None nothing is known, and nothing checked.

    Raises
    ------
    WriteError
        If it has not; says how much is needed and how much is free.
    """
    known = list(sizes)
    needed = sum(n_bytes or 0 for n_bytes in known)
    if not isinstance(target, Path) or None in known or not needed:
        return
    around = next(folder for folder in target.absolute().parents if os.path.lexists(folder))
    free = shutil.disk_usage(around).free
    if needed > free:
        message = (
            f"{target} will take about {size(needed)}, as its inputs do, and {around} has "
            f"{size(free)} free; free some disk, or write to a larger one"
        )
        raise WriteError(message)
