"""``neardup.connect``: the methods of the indexes, with the same answers and errors."""

from __future__ import annotations

import math
import threading
from decimal import Decimal
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.service.served import ServedDocuments, ServedPassages
from neardup.service.service import Limits
from tests.document_indexes import WEIGHTED
from tests.service.conftest import PATIENT, TEXTS, make_fake, start_service
from tests.service.waiting import wait_for

PASSAGE = "upon a midnight dreary while I pondered weak and weary over many a quaint volume"
DOCUMENTS = {
    "raven": f"Once {PASSAGE} of forgotten lore",
    "near": f"Once {PASSAGE} of forgotten law",
    "a/../b ü?#%": "nothing of this kind is to be found in here by anybody at all",
}


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(folder / "d", threshold="0.5", ngram=2)
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=5, num_perm=16)
    rows = [{"id": key, "text": text} for key, text in DOCUMENTS.items()]
    for index in (documents, passages):
        index.add(rows)
    weights = neardup.DocumentIndex.create(folder / "w", **WEIGHTED | {"threshold": "0.3"})
    return {"docs": documents, "passages": passages, "weights": weights}


@pytest.fixture(scope="module")
def running(indexes):
    yield from start_service(
        [
            ServedDocuments("docs", indexes["docs"], is_writable=True),
            ServedPassages("passages", indexes["passages"], is_writable=False),
            ServedDocuments("weights", indexes["weights"], is_writable=True),
        ],
        PATIENT,
    )


@pytest.fixture
def documents(running):
    return neardup.connect(running.url, index="docs", timeout=310)


@pytest.fixture
def passages(running):
    return neardup.connect(running.url, index="passages", timeout=310)


def test_connect__needs_a_name_where_there_are_several(running, fake):
    with pytest.raises(neardup.InvalidParameterError, match="'docs', 'passages'"):
        neardup.connect(running.url)
    with pytest.raises(neardup.InvalidParameterError, match="there is no index 'x'"):
        neardup.connect(running.url, index="x")


def test_connect__nobody_there():
    with pytest.raises(neardup.ServiceError, match=r"cannot be reached: .*neardup serve"):
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
            with pytest.raises(neardup.ServiceError, match="does not answer as"):
                neardup.connect(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


def test_token(start, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("a-token-that-nobody-guesses")
    path.chmod(0o600)
    running = start(token_file=path)
    assert len(neardup.connect(running.url, "a-token-that-nobody-guesses")) == 4
    for token, message in ((None, "a token is needed"), ("wrong", "the token is not known")):
        with pytest.raises(neardup.ServiceError, match=message) as caught:
            neardup.connect(running.url, token)
        assert caught.value.status == 401
    with pytest.raises(neardup.InvalidParameterError, match=r"^token must"):
        neardup.connect(running.url, "a\nb")


@pytest.mark.parametrize(
    "threshold", ["index", 0.9, "0.9", Decimal("0.9"), Fraction(9, 10)], ids=repr
)
def test_query__as_the_index(documents, indexes, threshold):
    for text in DOCUMENTS.values():
        expected = indexes["docs"].query(text, threshold=threshold)
        assert documents.query(text, threshold=threshold) == expected
        assert documents.query(text, threshold=threshold, limit=1) == expected[:1]
    tokens = DOCUMENTS["raven"].casefold().split()
    assert documents.query(tokens=tokens) == indexes["docs"].query(tokens=tokens)


def test_query__the_nearest_as_the_index(documents, indexes):
    text = DOCUMENTS["raven"].rpartition(" ")[0] + " and some words that it never had at all"
    expected = indexes["docs"].query(text, threshold=None, limit=2)
    assert expected
    assert documents.query(text, threshold=None, limit=2) == expected
    assert documents.query(text, top=2) == expected
    assert documents.query(text, top=2, threshold="0.1") == expected
    with pytest.raises(neardup.InvalidParameterError, match="which is none, needs a limit"):
        documents.query(text, threshold=None)
    with pytest.raises(neardup.InvalidParameterError, match="choose either limit"):
        documents.query(text, limit=2, top=2)


def test_search__the_nearest_as_the_index(documents, passages, indexes):
    """Whatever number of texts is looked up at a time, the least of all is told."""
    others = " ".join(f"word-{number}" for number in range(9))
    # That of the least similar comes first, alone.
    queries = [f"{text} {others}" for text in sorted(DOCUMENTS.values(), key=len)]
    found, expected = (where.search(queries, top=1) for where in (documents, indexes["docs"]))
    assert found.table["doc_id"].equals(expected.table["doc_id"])
    assert found.table["similarity"].equals(expected.table["similarity"])
    for key in ("top", "threshold", "least_similarity", "predicted_recall", "matches"):
        assert found.summary[key] == expected.summary[key], key
    assert found.summary["least_similarity"] < 0.8
    with pytest.raises(neardup.InvalidParameterError, match="top has no effect"):
        passages.search(queries, top=1)


def test_search__as_the_index(documents, passages, indexes):
    queries = [{"id": key, "text": text} for key, text in DOCUMENTS.items()]
    found, expected = documents.search(queries), indexes["docs"].search(queries)
    assert type(found) is type(expected)
    assert found.table.to_pylist() == expected.table.to_pylist()
    assert found.table.schema == expected.table.schema
    found = passages.search(queries, "0.7", with_text=True)
    expected = indexes["passages"].search(queries, "0.7", with_text=True)
    assert found.table.to_pylist() == expected.table.to_pylist()
    assert found.table.schema == expected.table.schema
    assert passages.search(PASSAGE).table["doc_id"].to_pylist() == ["raven", "near"]


def test_align__as_here(passages, indexes):
    text = f"Somebody said that {PASSAGE}, which is known to everybody."
    found = passages.align([text]).table.drop_columns("query_id").to_pylist()
    expected = neardup.align([text], indexes["passages"]).table.drop_columns("query_id")
    assert found == expected.to_pylist()


def test_compare__as_here(documents):
    texts = (DOCUMENTS["raven"], DOCUMENTS["near"])
    found = documents.compare(*texts, ngram=2)
    expected = neardup.compare(*texts, ngram=2, edit_limit=10_000)
    assert found == expected
    assert found.html() == expected.html()


@pytest.mark.parametrize("name", ["docs", "passages"])
def test_documents__as_the_index(running, indexes, name):
    remote, index = neardup.connect(running.url, index=name), indexes[name]
    assert (len(remote), remote.kind) == (len(index), "documents" if name == "docs" else name)
    assert remote.documents() == index.documents()
    assert remote.documents(1, 1) == index.documents(1, 1)
    assert list(remote) == list(index) == [each["id"] for each in index.documents()]
    for key in (*DOCUMENTS, "nobody"):
        assert remote.get(key) == index.get(key)
        assert (key in remote) == (key in DOCUMENTS)
    expected = {k: v for k, v in index.info().items() if k != "folder"}
    assert remote.info() == {**expected, "name": name, "kind": remote.kind}
    assert repr(remote) == f"RemoteIndex({running.url!r}, {name!r}: {remote.kind})"


def test_changes(documents, indexes):
    text = "words that are nowhere else in this whole index of ours"
    documents.insert("new", text)
    assert documents.insert_if_new("newer", text) == "new"
    assert documents.insert_if_new(12, tokens=["quite", "another", "document"]) is None
    assert documents.commit() == 2
    assert documents.add([{"id": "added", "text": "this comes with others or not at all"}]) == (
        1,
        0,
    )
    assert len(documents) == len(indexes["docs"]) == 6
    removal = documents.remove(["new", "added", 12])
    assert (removal.n_removed, removal.n_documents) == (3, 3)
    assert removal.orphans.to_pylist() == [{"id": "newer", "kept_id": "new", "similarity": 1.0}]
    with documents as same:
        same.insert("last", text)
    assert indexes["docs"].commit() == 0
    assert documents.remove(["last"], deny=True).n_denied == 1
    with pytest.raises(neardup.DeniedError, match="'x' has the same tokens as 'last'") as caught:
        documents.insert("x", text)
    assert caught.value.denied_id is None
    addition = documents.add([{"id": "x", "text": text}, {"id": "y", "text": "what nobody denies"}])
    assert (addition.n_documents, addition.n_denied) == (1, 1)
    documents.remove(["y"])


REFUSED = [
    (lambda index: index.query("a", threshold=0.1), neardup.InvalidParameterError),
    (lambda index: index.query(), neardup.InvalidParameterError),
    (lambda index: index.query(5), neardup.InvalidParameterError),
    (lambda index: index.query("\ud800"), neardup.InvalidInputError),
    (lambda index: index.query("a", threshold=Fraction(2, 3)), neardup.InvalidParameterError),
    (lambda index: index.query("a", limit=0), neardup.InvalidParameterError),
    (lambda index: index.search([b"a"]), neardup.InvalidInputError),
    (lambda index: index.insert("raven", "x"), neardup.InvalidInputError),
    (lambda index: index.insert(None, "x"), neardup.InvalidInputError),
    (lambda index: index.insert("x", "x", other=1), neardup.InvalidParameterError),
    (lambda index: index.remove(["nobody"]), neardup.InvalidInputError),
    (lambda index: index.remove("raven"), neardup.InvalidParameterError),
    (lambda index: index.align("a"), neardup.InvalidParameterError),
    (lambda index: index.compare("a", "b", threshold=5), neardup.InvalidParameterError),
]


def test_errors__are_our_own(documents):
    for call, error in REFUSED:
        with pytest.raises(error) as caught:
            call(documents)
        assert type(caught.value) is error


def test_errors__of_a_service_for_reading(passages):
    with pytest.raises(neardup.ServiceError, match="--writable") as caught:
        passages.insert("x", "y")
    assert caught.value.status == 403


def test_errors__of_an_index_that_is_written(running, indexes, documents):
    from neardup.index.store import Database

    # Those that the service opens itself do not wait, either.
    indexes["docs"]._handle.timeout = 0
    held = Database(indexes["docs"].folder).writing(0)
    with held, pytest.raises(neardup.IndexLockedError):
        documents.insert("x", "y")


def test_files__are_not_sent(documents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.jsonl").write_text('{"text": "x"}\n')
    with pytest.raises(InvalidInputError, match="is the name of a file or folder"):
        documents.search("new.jsonl")
    assert documents.search(["new.jsonl"]).matches.num_rows == 0
    for wrong in ("new.jsonl", ["a text"], {"id": "x", "text": "y"}):
        with pytest.raises(InvalidParameterError, match="a list of dictionaries"):
            documents.add(wrong)


def test_timeout(start):
    running = start()
    remote = neardup.connect(running.url, timeout=0.3)
    with pytest.raises(neardup.ServiceError, match=r"no answer within 0\.3 s"):
        remote.query("slow")
    running.service.indexes["docs"].index.gate.set()


def test_connection__lost_meanwhile(start, monkeypatch):
    """A connection that the service has closed is opened again, and nothing is sent twice."""
    running = start([make_fake()], limits=Limits())
    running.server.config.timeout_keep_alive = 0.1
    remote = neardup.connect(running.url)
    for number in range(3):
        remote.insert(f"new-{number}", "x")
        wait_for(lambda: not running.server.server_state.connections)
    assert len(remote) == len(TEXTS) + 3


def test_query__of_tokens_with_numbers(running, indexes):
    """They go to the service as they are, and mean there what they mean here."""
    remote, index = neardup.connect(running.url, index="weights", timeout=310), indexes["weights"]
    remote.insert("x", tokens={"a": 2.0, "b": 1})
    assert remote.insert_if_new("y", tokens={"b": Decimal("0.5"), "c": np.int64(3)}) is None
    assert remote.query(tokens=["a", "a", "b"]) == [("x", 1.0)]
    for half in (0.5, Decimal("0.5"), Fraction(1, 2), np.float64(0.5)):
        tokens = {"a": 2, "b": half}
        assert remote.query(tokens=tokens) == index.query(tokens=tokens) == [("x", 2.5 / 3.0)]
    with pytest.raises(neardup.InvalidParameterError, match="has strings as tokens, got 1; send a"):
        remote.query(tokens={1: 2})
    for bad in (math.nan, math.inf, -1, 0, True, 2**30, 10**400, "2", None, [1]):
        with pytest.raises(neardup.NeardupError) as caught:
            remote.query(tokens={"a": bad})
        assert "\n" not in str(caught.value)
    assert remote.commit() == 2
