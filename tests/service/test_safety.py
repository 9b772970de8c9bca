"""Who may ask: tokens, hosts, pages of other sites; and what answers carry."""

from __future__ import annotations

import os

import httpx
import pytest

from neardup.errors import InvalidParameterError, NeardupError
from neardup.service.gate import check_address
from neardup.service.tokens import EVERYTHING, Tokens
from tests.each import each_of
from tests.service.conftest import OTHER, TOKEN


def test_check_address__others_need_a_token():
    with pytest.raises(InvalidParameterError, match="a token is needed") as caught:
        check_address("0.0.0.0", Tokens([]))
    assert caught.value.parameters == ("host", "token_file")
    check_address("0.0.0.0", Tokens([EVERYTHING]))
    check_address("127.0.0.1", Tokens([]))


@pytest.mark.slow
def test_token__is_needed(start, token_file):
    running = start(token_file=token_file)
    for path in ("/v1", "/v1/indexes/docs", "/metrics", "/openapi.json", "/", "/browse", "/no"):
        answer = running.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    for path in ("/health", "/ready", "/page.css", "/page.js", "/sign-in"):
        assert running.get(path).status_code == 200
    for given in (f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer \xff"):
        headers = {"authorization": given.encode("latin-1")}
        assert httpx.get(f"{running.url}/v1", headers=headers).status_code == 401
    for given in (f"Bearer {TOKEN}", f"bearer  {OTHER}"):
        answer = httpx.get(f"{running.url}/v1", headers={"authorization": given})
        assert answer.status_code == 200
    assert not any(TOKEN in line for line in running.lines)


def test_page__sign_in(start, token_file):
    running = start(token_file=token_file)
    with running.client(headers={"accept": "text/html"}, follow_redirects=True) as client:
        assert 'type="password"' in client.get("/").text
        wrong = client.post("/sign-in", data={"token": "nonsense"})
        assert (wrong.status_code, len(client.cookies)) == (401, 0)
        answer = client.post("/sign-in", data={"token": TOKEN}, follow_redirects=False)
        cookie = answer.headers["set-cookie"].casefold()
        assert TOKEN not in cookie
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/browse").status_code == 200
        # A cookie opens the page alone: browsers send it by themselves.
        assert client.get("/v1").status_code == 401
        insert = {"id": "x", "text": "y"}
        assert client.post("/v1/indexes/docs/insert", json=insert).status_code == 401
        session = client.cookies["neardup-session"]
        assert ">Sign out</button>" in client.get("/").text
        foreign = {"origin": "https://elsewhere.example"}
        assert client.post("/sign-out", headers=foreign, data={"a": 1}).status_code == 403
        assert client.get("/browse").status_code == 200
        page = client.post("/sign-out", data={"a": 1})
        assert 'type="password"' in page.text
        assert not client.cookies
        # Whoever has kept the cookie has nothing of it.
        client.cookies.set("neardup-session", session)
        assert client.get("/browse").status_code == 401
        client.cookies.set("neardup-session", "9999999999.0")
        assert client.get("/browse").status_code == 401


@pytest.mark.slow
@each_of(
    ("host", "status"),
    [
        *(("127.0.0.1:8600", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:80", 200)),
        *(("evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421), ("[::2]", 421)),
        *(("localhost.evil:8600", 421), ("127.0.0.1:x", 421)),
    ],
)
def test_host__must_be_of_this_machine(fake, host, status):
    answer = httpx.get(f"{fake.url}/v1", headers={"host": host})
    assert answer.status_code == status
    assert httpx.get(f"{fake.url}/health", headers={"host": host}).status_code == 200


def test_host__any_with_a_token(start, token_file):
    """A page elsewhere has no token, and a proxy hands its own name on."""
    running = start(token_file=token_file)
    headers = {"host": "dup.example", "authorization": f"Bearer {TOKEN}"}
    assert httpx.get(f"{running.url}/v1", headers=headers).status_code == 200


@pytest.mark.slow
@each_of(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "{url}"}, 200),
        ({"sec-fetch-site": "same-origin", "origin": "{url}"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
    ],
)
def test_origin__pages_of_others_send_nothing(fake, headers, status):
    headers = {name: value.format(url=fake.url) for name, value in headers.items()}
    body = {"text": "the cat"}
    answer = httpx.post(f"{fake.url}/v1/indexes/docs/query", json=body, headers=headers)
    assert answer.status_code == status
    answer = httpx.post(f"{fake.url}/", data=body, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_writes__come_as_json_only(fake, kind):
    """What a form of another site could send is not understood."""
    headers = {} if kind is None else {"content-type": kind}
    body = b'{"id": "new", "text": "x"}'
    answer = httpx.post(f"{fake.url}/v1/indexes/other/insert", content=body, headers=headers)
    assert answer.status_code == 415


def test_writes__only_where_they_are_allowed(fake):
    for operation, body in {
        "insert": {"id": "new", "text": "x"},
        "insert-if-new": {"id": "new", "text": "x"},
        "add": {"documents": [{"id": "new", "text": "x"}]},
        "remove": {"ids": ["cat"]},
        "commit": {},
    }.items():
        answer = fake.post(f"/v1/indexes/docs/{operation}", body)
        assert answer.status_code == 403
        assert "--writable" in answer.json()["detail"]


@each_of("path", ["/", "/v1", "/nothing", "/page.css", "/v1/indexes/no", "/browse"])
def test_answers__headers(fake, path):
    headers = fake.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "server" not in headers


def test_texts__are_no_names_of_files(fake, tmp_path):
    """A text that is also the name of a file is looked for as a text."""
    path = tmp_path / "file.jsonl"
    path.write_text('{"text": "the cat sat on the mat and looked at the moon"}\n')
    for text in (str(path), os.fspath(tmp_path), "-", "*"):
        found = fake.post("/v1/indexes/docs/search", {"queries": [text]}).json()
        assert (found["n_rows"], found["summary"]) == (0, {"queries": 1})


def test_two_with_one_name(tmp_path):
    from neardup import PassageIndex
    from neardup.options.service import ServeOptions
    from neardup.service.serve import open_indexes

    for place in ("a", "b"):
        PassageIndex.create(tmp_path / place / "index")
    folders = [str(tmp_path / place / "index") for place in ("a", "b")]
    with pytest.raises(InvalidParameterError, match="would both be served as 'index'"):
        open_indexes(folders, ServeOptions())
    named = open_indexes([folders[0], f"other={folders[1]}"], ServeOptions())
    assert [served.name for served in named] == ["index", "other"]
    with pytest.raises(NeardupError, match="nothing"):
        open_indexes([str(tmp_path / "nothing")], ServeOptions())
