"""Everything that ``neardup serve`` and the service behind it may be told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.options.groups import OpenOptions, WorkerOptions
from neardup.options.kinds import (
    ByteSize,
    Host,
    Location,
    Origins,
    Seconds,
    Whole,
)
from neardup.options.option import Options, option
from neardup.options.running import OutputOptions


class ServeOptions(Options):
    """Everything that decides how the service runs."""

    host: str = option(
        "Address to listen at; one that other machines reach needs --token-file.",
        Host(),
        default="127.0.0.1",
        metavar="ADDRESS",
    )
    port: int = option("Port to listen at; 0 takes a free one.", Whole(0, 65535), default=8600)
    token_file: Path | None = option(
        "File with a token a line, and behind it what it may do: role=read, indexes=a,b. "
        "Who sends none of them gets no answer. It is read again when it changes.",
        Location(is_file=True),
        default=None,
    )
    allowed_origin: Sequence[str] | None = option(
        "Site whose pages may ask what programs ask, such as https://desk.example.org; may be "
        "given several times.",
        Origins(),
        default=None,
        metavar="URL",
        is_repeatable=True,
    )
    writable: bool = option("Documents may be inserted and removed, too.", default=False)
    refresh: float = option(
        "How often to look for what other processes have changed.",
        Seconds(0.1),
        default=2.0,
        metavar="SECONDS",
    )
    max_body: Any = option(
        "Largest body of a request.",
        ByteSize(1_000_000),
        default=None,
        usual="16MB",
        metavar="SIZE",
    )
    max_seconds: float = option(
        "Longest time for a body to arrive, and for a request to be worked on.",
        Seconds(0.1),
        default=30.0,
        metavar="SECONDS",
    )
    check: bool = option("Open the indexes, check the options, and end.", default=False)
    tokenizer: str | Path | None = option(
        OpenOptions.known["tokenizer"],
        default=None,
        help="The tokenizer.json file that the indexes were made with, if it was one.",
    )
    workers: int | None = option(WorkerOptions.known["workers"], default=None)
    quiet: bool = option(OutputOptions.known["quiet"], default=False)
    as_json: bool = option(
        OutputOptions.known["as_json"],
        default=False,
        help="Print what is served, and where, as one JSON object.",
    )
