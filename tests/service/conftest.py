"""A service that runs in a thread, asked by a client that is not ours."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import httpx
import pytest

from neardup.options.service import ServeOptions
from neardup.service.records import Log
from neardup.service.serve import Server, address_of, limits_of, listen, make_server
from neardup.service.served import Served, ServedDocuments
from neardup.service.service import Limits, Service
from tests.service.fake_documents import FakeDocumentIndex
from tests.service.processes import folder, serve
from tests.service.waiting import wait_for

__all__ = ["folder", "serve"]

TEXTS = {
    "cat": "the cat sat on the mat and looked at the moon",
    "dog": "the dog sat on the mat and looked at the moon",
    "markup": '<script>alert("x")</script> & more of the same \0 thing',
    "a/b c?ü": "something else altogether that nobody would look for",
}

TOKEN = "a-token-that-nobody-guesses"
OTHER = "another-token-of-the-same-file"


@pytest.fixture(scope="session", autouse=True)
def _no_authorities(tmp_path_factory) -> Iterator[None]:
    """Let httpx read no certificates of others, 20 ms a request: these go to this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("no-certificates")))
        yield


class _Hasty(ModuleType):
    """``asyncio`` as uvicorn sees it: it looks a hundred times a second whether it is to end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 10)


@pytest.fixture(scope="session", autouse=True)
def _ends_soon() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uvicorn.server.asyncio", _Hasty("asyncio"))
        yield


# Kernels may have to be compiled before a first answer, by all that run tests at once.
PATIENT = Limits(seconds=300)


@dataclass
class Running:
    """A service that runs."""

    url: str
    service: Service
    server: Server
    lines: list[str] = field(default_factory=list)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=310, **options)

    def post(self, path: str, body: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=310)

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return httpx.get(self.url + path, params=parameters, timeout=310)


def start_service(
    indexes: list[Served],
    limits: Limits | None = None,
    warm_up: Callable[[], object] = lambda: None,
    **options: Any,
) -> Iterator[Running]:
    """Run a service in a thread until the generator goes on."""
    chosen = ServeOptions(port=0, **options)
    lines: list[str] = []
    service = Service(
        indexes,
        limits or limits_of(chosen),
        refresh_seconds=chosen.refresh,
        log=Log(lines.append),
        warm_up=warm_up,
    )
    server = make_server(service, chosen)
    with listen(chosen) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        wait_for(lambda: server.started and service.status == "ok")
        yield Running(address_of(listener), service, server, lines)
        server.should_exit = True
        thread.join(120)
    assert not thread.is_alive()


def make_fake(name: str = "docs", *, is_writable: bool = True) -> ServedDocuments:
    index = FakeDocumentIndex()
    for key, text in TEXTS.items():
        index.insert(key, text)
    return ServedDocuments(name, index, is_writable=is_writable)


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text(f"# who reads\n{OTHER}\n\n  {TOKEN}  \n")
    path.chmod(0o600)
    return path


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Start services, which end with the test."""
    running = []

    def start_one(indexes: list[Served] | None = None, **options: Any) -> Running:
        generator = start_service(indexes or [make_fake()], **options)
        running.append(generator)
        return next(generator)

    yield start_one
    for generator in running:
        assert next(generator, None) is None


@pytest.fixture(scope="module")
def fake() -> Iterator[Running]:
    """Give a service of one fake index that no test changes, and two that may be changed."""
    names = {"docs": False, "other": True}
    yield from start_service(
        [make_fake(name, is_writable=writable) for name, writable in names.items()]
    )
