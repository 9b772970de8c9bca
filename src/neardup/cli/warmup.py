"""``neardup warmup``: all kernels compiled before they are needed."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.command import TableCommand
from neardup.cli.display import Display, say, say_json
from neardup.cli.options import options_of
from neardup.cli.wording import counted
from neardup.errors import NeardupError

_EPILOG = """\b
Examples:
  neardup warmup
  neardup warmup --workers 8 --quiet
"""


@click.command("warmup", cls=TableCommand, epilog=_EPILOG)
@options_of("warmup")
def command(workers: int | None, quiet: bool, as_json: bool) -> None:
    """Compile all kernels, so that no later run has to.

    The machine code is kept in a folder of the user's cache directory, or in NEARDUP_CACHE_DIR. It
    holds for this version of neardup, Python and Numba, on processors with the same features. Run
    it where a first job should not wait: in the image of a container, or on a new machine.
    """
    from neardup.kernels._cache import cache_folder
    from neardup.runtime.compilation import kernel_names
    from neardup.runtime.runner import Runner

    folder = cache_folder()
    if folder is None:
        message = "the cache folder is not writable; set NEARDUP_CACHE_DIR to one that is"
        raise NeardupError(message)
    names = kernel_names()
    with Display(quiet=quiet) as display:
        runner = Runner(workers, display)
        n_compiled = runner.prepare(names)
    summary: dict[str, Any] = {
        "kernels": len(names),
        "compiled": n_compiled,
        "folder": str(folder),
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    if as_json:
        say_json(summary)
    elif not quiet:
        say(
            f"{counted(n_compiled, 'kernel')} of {len(names)} compiled in "
            f"{runner.compile_seconds:.1f} s, kept in {folder}"
        )
