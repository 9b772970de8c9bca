"""The options of ``neardup serve``, checked, and the indexes that it is to open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.jobs.documents.document_index import DocumentIndex
from neardup.jobs.indexes import kind_of
from neardup.jobs.passages.passage_index import PassageIndex
from neardup.options.jobs import SERVE
from neardup.options.option import CheckedOptions
from neardup.service.access import Access, allowed_hosts, check_address
from neardup.service.served import Served, ServedDocuments, ServedPassages
from neardup.service.service import Limits
from neardup.service.tokens import Tokens, read_tokens


@dataclass(frozen=True, kw_only=True)
class ServeOptions(CheckedOptions):
    """Everything that decides how the service runs; see ``neardup serve --help``."""

    known = SERVE

    host: str = "127.0.0.1"
    port: int = 8600
    allowed_host: Sequence[str] = ()
    token_file: Path | None = None
    writable: bool = False
    refresh: float = 2.0
    max_body: Any = None
    max_texts: int = 1000
    max_seconds: float = 30.0
    max_waiting: int = 256
    stop_seconds: float = 10.0
    check: bool = False
    tokenizer: str | Path | None = None
    workers: int | None = None
    quiet: bool = False
    as_json: bool = False

    @property
    def limits(self) -> Limits:
        """How much a request may ask for."""
        usual = Limits()
        return Limits(
            self.max_body or usual.body_bytes, self.max_texts, self.max_seconds, self.max_waiting
        )

    def access(self) -> Access:
        """Read the tokens, and return who may ask.

        Raises
        ------
        ReadError, InvalidParameterError
            If the file of tokens cannot be used, or there has to be one.
        """
        tokens = Tokens([] if self.token_file is None else read_tokens(self.token_file))
        check_address(self.host, tokens)
        return Access(tokens, allowed_hosts(self.host, self.allowed_host))


def open_indexes(folders: Iterable[str], options: ServeOptions) -> list[Served]:
    """Open indexes, each under the name before ``=``, else under that of its folder.

    Raises
    ------
    InvalidParameterError
        If two have the same name.
    ReadError, IndexFormatError
        If one cannot be opened.
    """
    found: dict[str, tuple[Path, Served]] = {}
    for argument in folders:
        name, folder = _split(argument)
        if name in found:
            message = (
                f"{found[name][0]} and {folder} would both be served as {name!r}; name one of "
                f"them: {name}-2={folder}"
            )
            raise InvalidParameterError(message)
        found[name] = (folder, _open(name, folder, options))
    return [served for _, served in found.values()]


def _split(argument: str) -> tuple[str, Path]:
    """Return the name and the folder that an argument of the command line says."""
    name, equals, folder = argument.partition("=")
    if equals and name and "/" not in name and not Path(argument).exists():
        return name, Path(folder)
    return Path(argument).resolve().name or "index", Path(argument)


def _open(name: str, folder: Path, options: ServeOptions) -> Served:
    # Waiting would keep a thread that others need, and it is the service that refreshes.
    tokenizer, is_writable = options.tokenizer, options.writable
    if kind_of(folder) == "passages":
        passages = PassageIndex.open(folder, tokenizer=tokenizer, timeout=0, refresh="manual")
        return ServedPassages(name, passages, is_writable=is_writable)
    documents = DocumentIndex.open(folder, tokenizer=tokenizer, timeout=0, refresh="manual")
    return ServedDocuments(name, documents, is_writable=is_writable)
