"""Tokens: what they open, to whom; and the file that is read again."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import httpx
import pytest

from neardup.errors import InvalidParameterError
from neardup.service.tokens import Grant, Tokens, read_grants
from tests.each import each_of
from tests.service.conftest import OTHER, TOKEN, make_fake
from tests.service.waiting import wait_for

READER = "a-token-of-one-who-reads"
BOSS = "a-token-of-one-who-is-in-charge"


def grant_of(token: str, **more: Any) -> Grant:
    return Grant(hashlib.sha256(token.encode()).digest(), **more)


def test_read_grants(token_file):
    tokens = Tokens.of_file(token_file)
    for token in (OTHER, TOKEN):
        grant = tokens.grant_of(token.encode())
        assert (grant.role, grant.indexes, grant.name) == ("write", None, "-")
    token_file.write_text(f"{TOKEN}  role=read indexes=a,b name=alice\n")
    (grant,) = read_grants(token_file)
    assert (grant.role, grant.name) == ("read", "alice")
    assert [grant.sees(name) for name in "abc"] == [True, True, False]


@each_of(
    ("content", "mode", "message"),
    [
        (f"{TOKEN}\n", 0o644, "chmod 600"),
        (f"{TOKEN}\n", 0o620, "chmod 600"),
        ("# nothing\n", 0o600, "holds no token"),
        ("short\n", 0o600, "token 1 must have 16 characters"),
        (f"{TOKEN}\nwith-a-ü-in-the-middle\n", 0o600, "token 2 must"),
        (f"{TOKEN} role=king\n", 0o600, "role must be one of read, write, got 'king'"),
        (f"{TOKEN} role=read role=write\n", 0o600, "once each"),
        (f"{TOKEN} {OTHER}\n", 0o600, "token 1 may be followed by"),
        (f"{TOKEN} role=read\n{TOKEN} role=write\n", 0o600, "token 2 is there twice"),
    ],
)
def test_read_grants__refuses(tmp_path, content, mode, message):
    path = tmp_path / "tokens"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read_grants(path)
    assert TOKEN not in str(caught.value)


def test_tokens__all_are_compared(monkeypatch):
    """What is compared, and how often, does not depend on the token that is given."""
    seen = []

    def compare(a: bytes, b: bytes) -> bool:
        seen.append((len(a), len(b)))
        return a == b

    monkeypatch.setattr("neardup.service.tokens.hmac.compare_digest", compare)
    tokens = Tokens([grant_of(TOKEN), grant_of(OTHER)])
    given = [TOKEN, OTHER, "x", TOKEN[:-1], ""]
    found = [tokens.grant_of(token.encode()) for token in given]
    assert found == [grant_of(TOKEN), grant_of(OTHER), None, None, None]
    assert seen == [(32, 32)] * 10


def test_sessions(monkeypatch):
    one, other = grant_of(TOKEN, role="read"), grant_of(OTHER)
    tokens = Tokens([one, other])
    session = tokens.make_session(one)
    assert tokens.grant_of_session(session) == one
    until, digest, signature = session.split(".")
    later = f"{int(until) + 1}.{digest}.{signature}"
    stolen = f"{until}.{other.digest.hex()}.{signature}"
    for forged in ("", ".", "..", later, stolen, until, f"{until}.", "é.é", session[:-1]):
        assert tokens.grant_of_session(forged) is None
    assert Tokens([one, other]).grant_of_session(session) is None
    tokens._grants = (other,)
    assert tokens.grant_of_session(session) is None
    tokens._grants = (one,)
    now = time.time()
    monkeypatch.setattr("neardup.service.tokens.time.time", lambda: now + 13 * 3600)
    assert tokens.grant_of_session(session) is None


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def roles(start, token_file):
    token_file.write_text(
        f"{READER} role=read indexes=docs\n{TOKEN}\n{BOSS} role=write name=boss\n"
    )
    return start([make_fake("docs"), make_fake("other")], token_file=token_file)


def test_roles(roles):
    document = {"id": "x", "text": "y"}
    with roles.client() as client:
        for token, status in ((READER, 403), (TOKEN, 200), (BOSS, 422)):
            path = "/v1/indexes/docs/insert"
            answer = client.post(path, json=document, headers=bearer(token))
            assert answer.status_code == status, answer.text
        path = "/v1/indexes/docs/remove"
        refused = client.post(path, json={"ids": ["x"]}, headers=bearer(READER))
        assert "role write, and yours has the role read" in refused.json()["detail"]


def test_indexes__others_are_not_there(roles):
    """Neither over the interface, nor on the page, nor in what errors list."""
    with roles.client(headers=bearer(READER)) as client:
        entries = client.get("/v1").json()["indexes"]
        assert [(each["name"], each["writable"]) for each in entries] == [("docs", False)]
        answer = client.post("/v1/indexes/other/query", json={"text": "the cat"})
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "there is no index 'other'; there are 'docs'",
        )
        assert client.post("/v1/indexes/docs/query", json={"text": "a"}).status_code == 200
        assert client.get("/metrics").status_code == 403
        for path in ("/", "/browse", "/browse?index=docs"):
            page = client.get(path, headers={"accept": "text/html"})
            assert page.status_code == 200
            assert "other" not in page.text
        for path in ("/browse?index=other", "/document?index=other&id=cat"):
            assert client.get(path).status_code == 404
    with roles.client(headers=bearer(TOKEN)) as client:
        assert len(client.get("/v1").json()["indexes"]) == 2


def test_file__is_read_again(start, token_file, monkeypatch):
    monkeypatch.setattr("neardup.service.service._SECONDS_BETWEEN_WATCHES", 0.05)
    running = start(token_file=token_file)

    def status(token: str) -> int:
        return httpx.get(f"{running.url}/v1", headers=bearer(token)).status_code

    assert (status(TOKEN), status(BOSS)) == (200, 401)
    token_file.write_text(f"{BOSS} role=write\n")
    wait_for(lambda: status(BOSS) == 200)
    assert status(TOKEN) == 401
    # What cannot be read changes nothing.
    token_file.write_text("short\n")
    wait_for(lambda: "tokens cannot be read again" in "".join(running.lines))
    assert status(BOSS) == 200
    token_file.unlink()
    time.sleep(0.2)
    assert status(BOSS) == 200
    assert "short" not in "".join(running.lines)
