"""The command line, with errors turned into messages only here."""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import sys
from typing import Any

import click

from neardup.errors import InvalidParameterError, NeardupError, on_command_line
from neardup.lazy import hide_pandas
from neardup.runs.disk import GOES_ON, UNFINISHED
from neardup.version import __version__

# New objects after which garbage is collected.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000

COMMANDS = {
    "dedup": (
        "neardup.cli.dedup_command",
        "Remove near-duplicate documents, with proof for each removal.",
    ),
    "pairs": ("neardup.cli.pairs_command", "Find all pairs of similar documents."),
    "explain": ("neardup.cli.compare_command", "Explain why a document was removed or kept."),
    "compare": ("neardup.cli.compare_command", "Compare two texts in detail."),
    "index": ("neardup.cli.index_command", "Build and change an index of documents."),
    "search": ("neardup.cli.search_command", "Search an index for texts similar to the queries."),
    "align": ("neardup.cli.align_command", "Find the passages that documents share."),
    "cut": ("neardup.cli.cut_command", "Cut repeated passages, paragraphs or lines out of texts."),
    "drop": ("neardup.cli.cut_command", "Remove the documents that a table names."),
    "sketch": ("neardup.cli.sketch_command", "Make sketches: a few bytes per document."),
    "estimate": (
        "neardup.cli.sketch_command",
        "Estimate similarities of documents from their sketches.",
    ),
    "report": ("neardup.cli.report_command", "Show a result and its reasons as one HTML page."),
    "review": ("neardup.cli.report_command", "Make a page on which people judge pairs."),
    "serve": ("neardup.cli.serve_command", "Serve indexes over HTTP, with a web page."),
    "plan": ("neardup.cli.dedup_command", "Show bands, rows and the S-curve for a threshold."),
}


class _LazyGroup(click.Group):
    """A group that loads a command's module on use."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Caught before click, which would print an empty line.
            raise click.Abort from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  neardup dedup corpus/*.jsonl -o clean",
)
@click.version_option(__version__, prog_name="neardup")
def cli() -> None:
    """Find near-duplicate text.

    Every reported pair is verified exactly; nothing is removed without direct proof.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    0 done, 1 a NeardupError, 2 wrong usage, 130 interrupted, 141 a table's reader has gone, 143
    terminated.
    """
    # Modules stay loaded. A garbage collection after each 700 objects, the default, would cost a
    # short command some hundredths of a second.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # NumPy's OpenBLAS starts a thread for each further core as it is loaded, and each spins for
    # up to a tenth of a second before it sleeps. No command multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Schedulers and containers end a process with SIGTERM, which by itself would leave the
    # temporary folder behind.
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _print_unless_interrupted
    hide_pandas()
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is shown with escapes.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = run(arguments)
    # No collection before the process ends.
    gc.freeze()
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    UNFINISHED.set(None)
    try:
        for argument in sys.argv[1:] if arguments is None else arguments:
            _check_unicode(argument)
        result: Any = cli.main(arguments, prog_name="neardup", standalone_mode=False)
    except NeardupError as error:
        message = _one_line(on_command_line(error.in_both))
        click.echo(f"error: {message}{_way_on(str(error))}", err=True)
        return 1
    except ImportError as error:
        # Kernels that were not compiled for this machine: this one is named.
        if error.name != "neardup.kernels":
            raise
        click.echo(f"error: {_one_line(str(error))}", err=True)
        return 1
    except MemoryError:
        click.echo(f"error: out of memory; a smaller --memory needs less{_way_on()}", err=True)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(f"interrupted{_way_on()}", err=True)
        return 130
    except _TerminatedError:
        click.echo(f"terminated{_way_on()}", err=True)
        return 143
    except BrokenPipeError:
        # The reader of standard output has gone, after the work was done. Only now, for this module
        # loads the options, which --version and --help do without.
        from neardup.cli.call import discard_standard_output

        discard_standard_output()
        return 0
    return result if isinstance(result, int) else 0


def _check_unicode(argument: str) -> None:
    """Raise for an argument with bytes that are not text."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
        message = f"an argument is not valid UTF-8: {shown}; rename the file, or convert the text"
        raise InvalidParameterError(message) from None


def _way_on(message: str = "") -> str:
    """Describe how to resume an unfinished run."""
    folder = UNFINISHED.get()
    if folder is None or GOES_ON in message:
        return ""
    return (
        f"; finished work is in {folder}: repeat the command to continue, or remove the folder to "
        "start over"
    )


class _TerminatedError(BaseException):
    """The process was asked to end."""


def _terminate(*_: object) -> None:
    raise _TerminatedError


def _print_unless_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
    # A second signal may come in a destructor or a generator that nobody ends.
    if not issubclass(unraisable.exc_type, KeyboardInterrupt | _TerminatedError):
        sys.__unraisablehook__(unraisable)


def _one_line(message: str) -> str:
    return " ".join(message.split())
