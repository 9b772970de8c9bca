"""What the user hears of a work folder: what a run goes on with, and what was damaged in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from neardup.storage.work import WorkFolder


@contextmanager
def reported(work: WorkFolder | None, *, quiet: bool) -> Iterator[None]:
    """Say what there is of earlier runs, and remove it when the block has ended without an error.

    Standard error has a line for each thing, nothing with ``quiet``.
    """
    if work is None:
        yield
        return
    from neardup.jobs.workspaces import account_of_earlier

    n_told = len(work.problems)
    _say(account_of_earlier(work), quiet=quiet)
    try:
        yield
        work.remove_stale()
    finally:
        _say(work.problems[n_told:], quiet=quiet)


def _say(lines: list[str], *, quiet: bool) -> None:
    for line in lines:
        if not quiet:
            click.echo(line, err=True)
