"""What the user sees: progress on standard error, results on standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from neardup.cli.command import configuration
from neardup.errors import WriteError
from neardup.runtime.display import Display

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
