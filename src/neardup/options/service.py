"""Options of ``neardup serve``."""

from pathlib import Path
from typing import Any

from neardup.options.groups import OpenOptions, WorkerOptions
from neardup.options.kinds import ByteSize, Host, Location, Seconds, Whole
from neardup.options.option import Options, option
from neardup.options.running import OutputOptions


class ServeOptions(Options):
    """Address, access and limits of the service."""

    host: str = option(
        "Address to listen at; one that other machines reach needs --token-file.",
        Host(),
        default="127.0.0.1",
        metavar="ADDRESS",
    )
    port: int = option("Port to listen at; 0 takes a free one.", Whole(0, 65535), default=8600)
    token_file: Path | None = option(
        "File with one token per line, each with role=read or role=write, and name=NAME for the "
        "log. Requests without a token are refused. The file is read again when it changes.",
        Location(is_file=True),
        default=None,
    )
    writable: bool = option("Allow requests to insert and remove documents.", default=False)
    max_body: Any = option(
        "Largest body of a request.",
        ByteSize(1_000_000),
        default=None,
        usual="16MB",
        metavar="SIZE",
    )
    max_seconds: float = option(
        "Longest time for a body to arrive, and for an operation to run.",
        Seconds(0.1),
        default=30.0,
        metavar="SECONDS",
    )
    check: bool = option("Read and verify the indexes and the options, then end.", default=False)
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
        help="Print the indexes and the address as one JSON object.",
    )
