"""What the user sees: progress on standard error, results on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import configuration
from neardup.errors import WriteError
from neardup.runtime.display import Display

if TYPE_CHECKING:
    from neardup.storage.work import WorkFolder

__all__ = ["Display", "say", "say_json"]


def say(text: str) -> None:
    """Print a result on standard output."""
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"cannot write to standard output: {error.strerror}; all else is done"
        raise WriteError(message) from None


def say_json(values: dict[str, Any]) -> None:
    """Print a result as JSON, with the options that were not on the command line."""
    say(json.dumps({**values, **configuration()}, ensure_ascii=False))


def discard_standard_output() -> None:
    """Let nothing more come of standard output, whose reader has gone.

    Python flushes it once more at exit, which must not fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What the user hears of a work folder: what a run goes on with, and what was damaged in it.


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
