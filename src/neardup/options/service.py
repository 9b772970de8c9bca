"""Everything that ``neardup serve`` and the service behind it may be told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neardup.options.groups import OpenOptions, WorkerOptions
from neardup.options.kinds import (
    ByteSize,
    Hosts,
    Location,
    Networks,
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
        Hosts(),
        default="127.0.0.1",
        metavar="ADDRESS",
    )
    port: int = option("Port to listen at; 0 takes a free one.", Whole(0, 65535), default=8600)
    allowed_host: Sequence[str] | None = option(
        "Another name under which the service is asked, such as that of a proxy before it; may "
        "be given several times.",
        Hosts(),
        default=None,
        metavar="NAME",
        is_repeatable=True,
    )
    token_file: Path | None = option(
        "File with a token a line, and behind it what it may do: role=read, indexes=a,b, rate=50. "
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
    trusted_proxy: Sequence[str] | None = option(
        "Address or network of a proxy that says for whom it asks; may be given several times.",
        Networks(),
        default=None,
        metavar="ADDRESS",
        is_repeatable=True,
    )
    tls_cert: Path | None = option(
        "Certificate with its chain, in PEM: the service speaks TLS.",
        Location(is_file=True),
        default=None,
    )
    tls_key: Path | None = option(
        "Key of the certificate, in PEM.", Location(is_file=True), default=None
    )
    root: Path | None = option(
        "Folder of indexes: each folder in it that is one is served, too. With --writable others "
        "are made there, restored and dropped by requests.",
        Location(),
        default=None,
        metavar="DIR",
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
    max_texts: int = option("Most texts or ids in a request.", Whole(1), default=1000, metavar="N")
    max_seconds: float = option(
        "Longest time for a body to arrive, and for a request to be worked on.",
        Seconds(0.1),
        default=30.0,
        metavar="SECONDS",
    )
    max_waiting: int = option(
        "Most look-ups that wait for a thread; an eighth as many batches and comparisons.",
        Whole(1, 100_000),
        default=256,
        metavar="N",
    )
    stop_seconds: float = option(
        "How long requests under way may take when the service is asked to end.",
        Seconds(0),
        default=10.0,
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
