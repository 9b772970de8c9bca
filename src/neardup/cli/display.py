"""What the user sees: progress on standard error, results on standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from neardup.cli.command import configuration
from neardup.errors import WriteError
from neardup.kernels._clock import CLOCK
from neardup.runtime.display import Display

__all__ = ["Display", "announce_compilation", "say", "say_json"]


def say(text: str) -> None:
    """Print a result on standard output.

    Raises
    ------
    WriteError
        If it cannot take it; a reader that has gone is no error.
    """
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


def announce_compilation(*, quiet: bool) -> None:
    """Have the user told, once, when kernels begin to be compiled."""
    CLOCK.announce = _hold_peace if quiet else _announce


def _announce() -> None:
    from neardup.kernels._cache import cache_folder

    CLOCK.announce = _hold_peace
    later = (
        "later runs load them (`neardup warmup` compiles those of every command)"
        if cache_folder() is not None
        else "the cache folder is not writable, so every run does (set NEARDUP_CACHE_DIR)"
    )
    click.echo(f"compiling neardup's kernels; {later}", err=True)


def _hold_peace() -> None:
    """Announce nothing."""
