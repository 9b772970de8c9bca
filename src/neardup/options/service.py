"""Options of ``neardup serve``."""

from pathlib import Path
from typing import Any

from neardup.options.groups import CommandOptions, OpenOptions
from neardup.options.kinds import ByteSize, Host, Location, Seconds, Whole
from neardup.options.option import option


class ServeOptions(CommandOptions):
    """Address, access and limits of the service."""

    heading = "Service"

    host: str = option(
        "Address to listen at.",
        Host(),
        default="127.0.0.1",
        more="An address that other machines reach needs --token-file.",
        metavar="ADDRESS",
    )
    port: int = option("Port to listen at; 0 takes a free one.", Whole(0, 65535), default=8600)
    token_file: Path | None = option(
        "File with one token per line; other requests are refused.",
        Location(is_file=True),
        default=None,
        more="Each has role=read or role=write, and name=NAME for the log. The file is read again "
        "when it changes.",
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
        "Longest time for a body, and for an operation.",
        Seconds(0.1),
        default=30.0,
        metavar="SECONDS",
    )
    check: bool = option("Read and verify the indexes and options, then end.", default=False)
    tokenizer: str | Path | None = option(
        OpenOptions.known["tokenizer"],
        default=None,
        help="The tokenizer.json file of the indexes, if they have one.",
    )
