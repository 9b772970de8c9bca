"""Access: tokens and their roles, host names, media types; and the headers of answers."""

from __future__ import annotations

import httpx
import pytest

from neardup.errors import InvalidParameterError, NeardupError
from neardup.service.application import check_address
from neardup.service.requests import find_grant, read_tokens
from neardup.service.served_index import open_all
from tests.each import each_of
from tests.service.conftest import READER, TOKEN, make_indexes

INSERT = "/v1/indexes/docs/insert"
NEW = {"id": "new", "text": "words that are nowhere else in this index"}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_check_address__others_need_a_token():
    for host in ("0.0.0.0", "192.0.2.1", "example.org", "::"):
        with pytest.raises(InvalidParameterError, match="token") as caught:
            check_address(host, has_tokens=False)
        assert caught.value.parameters == ("host", "token_file")
        check_address(host, has_tokens=True)
    for host in ("127.0.0.1", "localhost", "::1"):
        check_address(host, has_tokens=False)


def test_tokens__roles(start, token_file):
    running = start(tokens=read_tokens(token_file))
    for path in ("/v1", "/v1/indexes/docs", "/metrics", "/no"):
        answer = running.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    for path in ("/", "/page.css", "/page.js", "/health", "/ready", "/openapi.json"):
        assert running.get(path).status_code == 200
    for given in (f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer \xff"):
        headers = {"authorization": given.encode("latin-1")}
        assert httpx.get(f"{running.url}/v1", headers=headers).status_code == 401
    # A page elsewhere has no token, and a proxy hands its own name on.
    headers = {"authorization": f"bearer  {TOKEN}", "host": "dup.example.org"}
    assert httpx.get(f"{running.url}/v1", headers=headers).status_code == 200
    reader, writer = bearer(READER), bearer(TOKEN)
    found = running.post("/v1/indexes/docs/query", {"text": "a"}, headers=reader)
    assert found.status_code == 200
    refused = running.post(INSERT, NEW, headers=reader)
    assert (refused.status_code, refused.json()["error"]) == (403, "ServiceError")
    assert "role write" in refused.json()["detail"]
    assert running.post(INSERT, NEW, headers=writer).status_code == 200
    assert running.events("request")[-1]["token"] == "-"
    assert running.events("request")[-2]["token"] == "reader"
    assert not any(TOKEN in line or READER in line for line in running.lines)


@each_of(
    ("content", "mode", "message"),
    [
        (f"{TOKEN}\n", 0o644, "chmod 600"),
        (f"{TOKEN}\n", 0o620, "chmod 600"),
        ("# nothing\n", 0o600, "no token"),
        ("short\n", 0o600, "line 1: .*16 ASCII"),
        (f"{TOKEN}\nwith-a-ü-in-the-middle\n", 0o600, "line 2: .*ASCII"),
        (f"{TOKEN} role=king\n", 0o600, "role.*read.*write.*'king'"),
        (f"{TOKEN} role=read role=write\n", 0o600, "each once"),
        (f"{TOKEN} indexes=a\n", 0o600, "role=.*name="),
    ],
)
def test_token_file__refuses(tmp_path, content, mode, message):
    path = tmp_path / "tokens"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read_tokens(path)
    assert TOKEN not in str(caught.value)


def test_tokens__all_are_compared(token_file, monkeypatch):
    """The number of comparisons does not depend on the token that is sent."""
    seen = []

    def compare(a: bytes, b: bytes) -> bool:
        seen.append((len(a), len(b)))
        return a == b

    monkeypatch.setattr("neardup.service.requests.hmac.compare_digest", compare)
    tokens = read_tokens(token_file)
    roles = [
        grant and grant.role
        for token in (TOKEN.encode(), READER.encode(), b"x", b"")
        for grant in [find_grant(tokens, token)]
    ]
    assert roles == ["write", "read", None, None]
    assert seen == [(32, 32)] * 8


@each_of(
    ("host", "status"),
    [
        *(("127.0.0.1:8600", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:80", 200)),
        *(("evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421), ("[::2]", 421)),
        *(("localhost.evil:8600", 421), ("127.0.0.1:x", 421)),
    ],
)
def test_host__must_be_of_this_machine(shared, host, status):
    assert httpx.get(f"{shared.url}/v1", headers={"host": host}).status_code == status
    assert httpx.get(f"{shared.url}/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_bodies__come_as_json_only(shared, kind):
    """A form of another site cannot send JSON, and no page gets leave to (CORS)."""
    headers = {"origin": "https://evil.example"} | ({} if kind is None else {"content-type": kind})
    answer = httpx.post(f"{shared.url}/v1/indexes/docs/query", content=b"{}", headers=headers)
    assert answer.status_code == 415
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = httpx.options(f"{shared.url}/v1/indexes/docs/query", headers=asked)
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_writes__only_where_they_are_allowed(shared):
    for operation, body in {
        "insert": NEW,
        "insert-if-new": NEW,
        "add": {"documents": [NEW]},
        "remove": {"ids": ["raven"]},
        "compact": {},
    }.items():
        answer = shared.post(f"/v1/indexes/docs/{operation}", body)
        assert answer.status_code == 403
        assert "--writable" in answer.json()["detail"]


@each_of("path", ["/", "/v1", "/nothing", "/page.css", "/v1/indexes/no"])
def test_answers__headers(shared, path):
    headers = shared.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers


def test_log__request_ids_and_proxies(start):
    running = start()
    for given in ("a-1.b:c", "x" * 65, 'a"b'):
        headers = {"x-request-id": given, "x-forwarded-for": "203.0.113.9"}
        httpx.get(f"{running.url}/v1", headers=headers)
    ids = [line["id"] for line in running.events("request")]
    assert ids[0] == "a-1.b:c"
    assert all(len(each) == 16 for each in ids[1:])
    assert {line["client"] for line in running.events("request")} == {"203.0.113.9"}


def test_open_all__two_with_one_name(tmp_path):
    places = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        places.append(make_indexes(tmp_path / name)[1])
    with pytest.raises(InvalidParameterError, match="'passages'"):
        open_all(places)
    served = open_all([places[0], f"other={places[1]}"])
    assert [each.name for each in served] == ["passages", "other"]
    with pytest.raises(NeardupError, match="nothing"):
        open_all([str(tmp_path / "nothing")])
