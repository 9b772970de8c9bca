"""``neardup serve``: indexes over HTTP, with a page."""

from __future__ import annotations

from neardup.cli.call import Call
from neardup.cli.command import argument, job_command
from neardup.options.groups import ServeOptions
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup serve idx
  neardup serve news=idx-2025 essays=essays-idx --port 9000 --writable
  neardup serve idx --host 0.0.0.0 --token-file tokens.txt
"""
_NEEDED = ("starlette", "uvicorn", "msgspec", "prometheus_client")


@job_command("serve", ServeOptions, argument("folders", "DIR...", nargs=-1), epilog=_EPILOG)
def serve(call: Call, folders: tuple[str, ...]) -> None:
    """Serve indexes over HTTP, with a web page.

    DIR is the folder of an index, under the name of the folder; NAME=DIR gives it another name.
    Programs send requests below /v1, which /openapi.json describes, or use `neardup.connect`.

    By default the service answers this machine only, and changes nothing. It sees the changes of
    other processes. It ends at Control-C or SIGTERM after the requests under way. Every change is
    durable before it is acknowledged. The log has a line of JSON per request on standard error.
    """
    from importlib.util import find_spec

    from neardup.errors import MissingExtraError

    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingExtraError("serve", "neardup serve")
    from neardup.service.application import open_service, run

    options: ServeOptions = call.options
    service = open_service(folders, options)
    sizes = {served.name: len(served.index) for served in service.indexes.values()}
    listed = ", ".join(f"{name} ({counted(size, 'document')})" for name, size in sizes.items())
    facts = {
        "token": options.token_file is not None,
        "indexes": [
            {"name": served.name, "kind": served.kind, "documents": sizes[served.name]}
            for served in service.indexes.values()
        ],
    }
    if options.check:
        for served in service.indexes.values():
            # Reads and verifies every file.
            served.index.info()
        call.print_result({**facts, "url": None}, f"read and verified {listed}")
        return

    def announce(url: str) -> None:
        needed = "; a token is needed" if options.token_file else ""
        call.print_result(
            {**facts, "url": url}, f"serving {listed} at {url}{needed}; Control-C ends it"
        )

    run(service, options, announce)
    if not options.json:
        call.print_result({}, "ended")
