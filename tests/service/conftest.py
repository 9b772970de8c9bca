"""A service that runs in a thread, and indexes on disk."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import neardup
from neardup.service.application import Service, address_of, listen, make_server
from neardup.service.served_index import Log, open_all
from tests.service.processes import folder, serve
from tests.service.waiting import wait_for

__all__ = ["folder", "serve"]

PASSAGE = "upon a midnight dreary while I pondered weak and weary over many a quaint volume"
DOCUMENTS = {
    "raven": f"Once {PASSAGE} of forgotten lore",
    "near": f"Once {PASSAGE} of forgotten law",
    "a/../b ü?#": "nothing of this kind is to be found in here by anybody at all",
    "nul": "a text with \0 and \u202e and <b> in it, and some words more",
}
TOKEN = "a-token-that-nobody-guesses"
READER = "a-token-of-one-who-reads"


@pytest.fixture(scope="session", autouse=True)
def _no_authorities(tmp_path_factory) -> Iterator[None]:
    """Let httpx read no certificates, 20 ms per client: requests stay on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("no-certificates")))
        yield


@dataclass
class Running:
    """A service that runs."""

    url: str
    service: Service
    lines: list[str] = field(default_factory=list)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=310, **options)

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=310, **options)

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return httpx.get(self.url + path, params=parameters, timeout=310)

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.lines) if line["event"] == name]


def start_service(
    folders: list[str], *, writable: bool = True, **options: Any
) -> Iterator[Running]:
    """Run a service in a thread until the generator goes on."""
    lines: list[str] = []
    indexes = open_all(folders, is_writable=writable)
    # Kernels may have to be compiled before a first answer.
    service = Service(indexes, log=Log(lines.append), **{"max_seconds": 300.0, **options})
    server = make_server(service, "127.0.0.1")
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        wait_for(lambda: service.is_ready)
        yield Running(address_of(listener), service, lines)
        server.should_exit = True
        thread.join(120)
    assert not thread.is_alive()


def make_indexes(folder: Path) -> list[str]:
    """Make an index of documents and one of passages; return them as arguments of ``serve``."""
    documents = neardup.DocumentIndex.create(
        folder / "docs", threshold="0.5", columns=["source"], text=neardup.TextOptions(ngram=2)
    )
    documents.add(
        [{"id": key, "text": text, "source": f"from {key}"} for key, text in DOCUMENTS.items()]
    )
    passages = neardup.PassageIndex.create(folder / "passages", min_tokens=5, num_perm=16)
    passages.add([{"id": key, "text": text} for key, text in DOCUMENTS.items()])
    return [str(folder / "docs"), str(folder / "passages")]


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Running]]:
    """Start services of new indexes, which end with the test."""
    running = []

    def start_one(**options: Any) -> Running:
        place = tmp_path / str(len(running))
        place.mkdir()
        running.append(start_service(make_indexes(place), **options))
        return next(running[-1])

    yield start_one
    for generator in running:
        assert next(generator, None) is None


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Iterator[Running]:
    """Give a service that no test changes."""
    folders = make_indexes(tmp_path_factory.mktemp("shared"))
    yield from start_service(folders, writable=False)


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text(f"# who reads\n{READER} role=read name=reader\n\n  {TOKEN}  \n")
    path.chmod(0o600)
    return path
