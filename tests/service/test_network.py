"""What is between a client and the service: other sites, proxies, TLS; and what the log says."""

from __future__ import annotations

import json

import httpx
import pytest

from neardup.errors import InvalidParameterError
from neardup.options.service import ServeOptions
from tests.each import each_of
from tests.service.conftest import TOKEN, make_fake

SITE = "https://desk.example.org"
QUERY = "/v1/indexes/docs/query"


def requests(running) -> list[dict[str, object]]:
    running.service.log.flush()
    lines = map(json.loads, "".join(running.lines).splitlines())
    return [line for line in lines if line["event"] == "request"]


@pytest.fixture
def with_site(start, token_file):
    token_file.write_text(f"{TOKEN} name=desk\n")
    return start([make_fake()], token_file=token_file, allowed_origin=[SITE])


def test_origins__asked_for_beforehand(with_site):
    asked = {
        "origin": SITE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    answer = httpx.options(with_site.url + QUERY, headers=asked)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == SITE
    assert "authorization" in answer.headers["access-control-allow-headers"]
    # Cookies are not for other sites.
    assert "access-control-allow-credentials" not in answer.headers
    other = httpx.options(with_site.url + QUERY, headers=asked | {"origin": "https://evil.example"})
    assert other.status_code == 400
    assert "access-control-allow-origin" not in other.headers


def test_origins__answers_and_problems_can_be_read(with_site):
    headers = {"origin": SITE, "sec-fetch-site": "cross-site"}
    refused = httpx.post(with_site.url + QUERY, json={"text": "a"}, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == SITE
    headers["authorization"] = f"Bearer {TOKEN}"
    answer = httpx.post(with_site.url + QUERY, json={"text": "the cat"}, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == SITE
    assert "x-request-id" in answer.headers["access-control-expose-headers"]
    # Neither for other sites, nor for the forms of the page.
    other = httpx.post(
        with_site.url + QUERY, json={"text": "a"}, headers=headers | {"origin": "https://x.example"}
    )
    assert (other.status_code, "access-control-allow-origin" in other.headers) == (403, False)
    assert httpx.post(f"{with_site.url}/", data={"text": "a"}, headers=headers).status_code == 403


@each_of("origin", ["*", "desk.example.org", f"{SITE}/", "https://*.org", "https://a@b", ""])
def test_origins__refused(origin):
    with pytest.raises(InvalidParameterError, match="allowed_origin"):
        ServeOptions(allowed_origin=[origin])


def test_log__who_sent_what(with_site):
    headers = {"authorization": f"Bearer {TOKEN}", "x-request-id": "a-1.b:c"}
    assert httpx.get(f"{with_site.url}/v1", headers=headers).headers["x-request-id"] == "a-1.b:c"
    for given in ("x" * 65, 'a"b', "ü".encode("latin-1"), ""):
        answer = httpx.get(f"{with_site.url}/v1", headers={"x-request-id": given})
        assert answer.headers["x-request-id"] not in (given, "")
    first, *others = requests(with_site)
    assert (first["id"], first["client"], first["token"]) == ("a-1.b:c", "127.0.0.1", "desk")
    assert [each["token"] for each in others] == ["-"] * 4
    assert len({each["id"] for each in others}) == 4


def test_proxy__on_this_machine_names_the_client(start):
    running = start()
    httpx.get(f"{running.url}/v1", headers={"x-forwarded-for": "203.0.113.9"})
    assert [each["client"] for each in requests(running)] == ["203.0.113.9"]
