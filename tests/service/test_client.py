"""``neardup.connect``: what it refuses, and what it says of services that do not answer."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError, ServiceError
from neardup.service.requests import read_tokens
from tests.each import each_of
from tests.service.conftest import PASSAGE, TOKEN


def test_connect__needs_a_name_where_there_are_several(shared):
    with pytest.raises(InvalidParameterError, match=r"'docs', 'passages'.*None"):
        neardup.connect(shared.url)
    with pytest.raises(InvalidParameterError, match="'x'"):
        neardup.connect(shared.url, index="x")


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8600", "ftp://a", "http://", "http://a:b", "//x", None]
)
def test_connect__refuses_addresses(url):
    with pytest.raises((InvalidParameterError, ServiceError)) as caught:
        neardup.connect(url)
    assert "\n" not in str(caught.value)


def test_connect__nobody_there():
    with pytest.raises(ServiceError, match=r"127\.0\.0\.1:1\b.*neardup serve"):
        neardup.connect("http://127.0.0.1:1")


def test_connect__something_else_is_there():
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"hi")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(ServiceError, match="not answer"):
                neardup.connect(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


def test_token(start, token_file):
    running = start(tokens=read_tokens(token_file))
    assert len(neardup.connect(running.url, TOKEN, index="docs")) == 4
    for token, message in ((None, "needed"), ("wrong", "unknown")):
        with pytest.raises(ServiceError, match=message) as caught:
            neardup.connect(running.url, token)
        assert caught.value.status == 401
    with pytest.raises(InvalidParameterError, match=r"^token"):
        neardup.connect(running.url, "a\nb")
    with pytest.raises(InvalidParameterError, match=r"^token"):
        neardup.connect(running.url, 3)


def test_texts__are_no_names_of_files(shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.jsonl").write_text('{"text": "x"}\n')
    docs = neardup.connect(shared.url, index="docs")
    for text in ("new.jsonl", str(tmp_path), "-", "*"):
        assert docs.search([text]).matches.num_rows == docs.search(text).matches.num_rows == 0
    for wrong in ("new.jsonl", ["a text"], {"id": "x", "text": "y"}):
        with pytest.raises(InvalidParameterError, match="dictionaries"):
            docs.add(wrong)


def test_search__with_ids_of_its_own(shared):
    passages = neardup.connect(shared.url, index="passages")
    found = passages.search([{"id": 7, "text": PASSAGE}, "nothing like it"], "0.9", with_text=True)
    assert found.table["query_id"].to_pylist() == [7, 7]
    assert found.table["doc_text"].to_pylist() == [PASSAGE, PASSAGE]


def test_align__as_here(shared):
    passages = neardup.connect(shared.url, index="passages")
    text = f"Somebody said that {PASSAGE}, which is known to everybody."
    here = neardup.PassageIndex.open(shared.service.indexes["passages"].folder)
    assert passages.align([text]).table.equals(neardup.align([text], here).table)
    with pytest.raises(InvalidParameterError, match="index of documents"):
        neardup.connect(shared.url, index="docs").align([text])


def test_timeout(start, monkeypatch):
    running = start()
    remote = neardup.connect(running.url, index="docs", timeout=0.3)
    served = running.service.indexes["docs"].index
    monkeypatch.setattr(served, "query", lambda *_, **__: time.sleep(1))
    with pytest.raises(ServiceError, match=r"0\.3 s"):
        remote.query("slow")


@each_of(
    ("call", "error"),
    [
        (lambda index: index.get("\ud800"), InvalidInputError),
        (lambda index: index.documents(0, -1), InvalidParameterError),
        (lambda index: index.documents(0, 1.5), InvalidParameterError),
        (lambda index: index.add(None), InvalidParameterError),
        (lambda index: index.search(None), InvalidInputError),
        (lambda index: index.search({"id": "x", "text": "y"}), InvalidInputError),
        (lambda index: index.search({"x"}), InvalidInputError),
        (lambda index: index.search(pd.DataFrame({"text": ["x"]})), InvalidInputError),
        (lambda index: index.align(3), InvalidInputError),
    ],
)
def test_calls__wrong_values(shared, call, error):
    with pytest.raises(error):
        call(neardup.connect(shared.url, index="docs"))


def test_calls__after_close(shared):
    with neardup.connect(shared.url, index="docs") as index:
        pass
    with pytest.raises(ServiceError, match="closed"):
        index.query("a text")


def test_values__whole_numbers_of_numpy(start):
    index = neardup.connect(start().url, index="docs")
    index.insert(np.int64(5), "five words that are new", source=np.int64(3))
    assert index.get(5) == {"id": "5", "text": "five words that are new", "source": 3}
    assert len(index.query("five words that are new", limit=np.int64(1))) == 1
