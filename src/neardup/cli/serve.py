"""``neardup serve``: indexes over HTTP, with a page."""

from __future__ import annotations

import signal

import click

from neardup.cli.call import Call
from neardup.cli.command import TableCommand, options_of
from neardup.runs.progress import counted

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
def command(call: Call) -> None:
    """Answer over HTTP what indexes hold, with a page for people.

    DIR is the folder of an index, under the name of the folder; NAME=DIR gives it another name.
    Programs ask below /v1, which /openapi.json describes; `neardup.connect` does so in Python.

    Without more it answers this machine only, and changes nothing. It sees what other processes
    add. It ends at Control-C or SIGTERM: requests under way are answered, and what was inserted is
    made durable. A line of JSON for each request goes to standard error.
    """
    from importlib.util import find_spec

    from neardup.errors import MissingExtraError

    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingExtraError("serve", "neardup serve")
    from neardup.options.service import ServeOptions
    from neardup.service.serve import access_of, open_indexes, run

    options = call.of(ServeOptions)
    access = access_of(options)
    indexes = open_indexes(call.folders, options)
    entries = [
        {"name": served.name, "kind": served.kind, "documents": len(served)} for served in indexes
    ]
    listed = ", ".join(f"{served.name} ({counted(len(served), 'document')})" for served in indexes)

    def announce(url: str | None) -> None:
        needed = "; a token is needed" if access.tokens else ""
        said = f"serving {listed} at {url}{needed}; Control-C ends it"
        facts = {"url": url, "token": bool(access.tokens), "indexes": entries}
        call.tell(facts, f"ready to serve {listed}" if url is None else said)

    if options.check:
        announce(None)
        return
    ended_by = run(indexes, options, announce)
    if not call.as_json:
        name = "" if ended_by is None else f" by {signal.Signals(ended_by).name}"
        call.tell({}, f"ended{name}{'; what was inserted is durable' if options.writable else ''}")
