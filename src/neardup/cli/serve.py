"""``neardup serve``: indexes over HTTP, with a page."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import TableCommand
from neardup.cli.display import say, say_json
from neardup.cli.options import options_of
from neardup.cli.wording import counted

if TYPE_CHECKING:
    from neardup.service.served import Served

_EPILOG = """\b
Examples:
  neardup serve idx
  neardup serve news=idx-2025 essays=essays-idx --port 9000 --writable
  neardup serve idx --host 0.0.0.0 --token-file tokens.txt
"""
_NEEDED = ("starlette", "uvicorn", "httptools", "msgspec", "jinja2", "prometheus_client")


@click.command("serve", cls=TableCommand, epilog=_EPILOG)
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@options_of("serve")
def command(folders: tuple[str, ...], quiet: bool, as_json: bool, **options: Any) -> None:
    """Answer over HTTP what indexes hold, with a page for people.

    DIR is the folder of an index, under the name of the folder; NAME=DIR gives it another name.
    Programs ask below /v1, which /openapi.json describes; `neardup.connect` does so in Python.

    Without more it answers this machine only, and changes nothing. It sees what other processes
    add. It ends at Control-C or SIGTERM: requests under way are answered, and what was inserted is
    made durable. A line of JSON for each request goes to standard error.
    """
    _check_extra()
    from neardup.options.commands import ServeOptions
    from neardup.service.serve import access_of, open_indexes, run

    chosen = ServeOptions(quiet=quiet, as_json=as_json, **options)
    access = access_of(chosen)
    indexes = open_indexes(folders, chosen)

    def announce(url: str | None) -> None:
        if as_json:
            say_json(_describe(indexes, url, needs_token=bool(access.tokens)))
        elif not quiet:
            say(_announcement(indexes, url, needs_token=bool(access.tokens)))

    if chosen.check:
        announce(None)
        return
    ended_by = run(indexes, chosen, announce)
    if not quiet and not as_json:
        name = "" if ended_by is None else f" by {signal.Signals(ended_by).name}"
        say(f"ended{name}{'; what was inserted is durable' if chosen.writable else ''}")


def _describe(indexes: list[Served], url: str | None, *, needs_token: bool) -> dict[str, Any]:
    entries = [
        {"name": served.name, "kind": served.kind, "documents": len(served)} for served in indexes
    ]
    return {"url": url, "token": needs_token, "indexes": entries}


def _announcement(indexes: list[Served], url: str | None, *, needs_token: bool) -> str:
    listed = ", ".join(f"{served.name} ({counted(len(served), 'document')})" for served in indexes)
    if url is None:
        return f"ready to serve {listed}"
    needed = "; a token is needed" if needs_token else ""
    return f"serving {listed} at {url}{needed}; Control-C ends it"


def _check_extra() -> None:
    """Raise if what the service is made of is not installed."""
    from importlib.util import find_spec

    from neardup.errors import MissingExtraError

    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingExtraError("serve", "neardup serve")
