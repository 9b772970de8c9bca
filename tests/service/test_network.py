"""What is between a client and the service: other sites, proxies, TLS; and what the log says."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess

import httpx
import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.options.service import ServeOptions
from neardup.service.serve import check_tls
from tests.each import each_of
from tests.service.conftest import TOKEN, make_fake
from tests.service.waiting import wait_for

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


def test_log__a_failure_has_the_request(start):
    running = start()

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    running.service.indexes["docs"].index.info = fail
    answer = httpx.get(f"{running.url}/v1/indexes/docs", headers={"x-request-id": "seven"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "seven")
    wait_for(lambda: '"defect"' in "".join(running.lines))
    (line,) = [line for line in "".join(running.lines).splitlines() if '"defect"' in line]
    assert json.loads(line)["id"] == "seven"


def test_proxy__only_one_that_is_trusted(start):
    forwarded = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}
    trusting, other = start(trusted_proxy=["127.0.0.1"]), start(trusted_proxy=["10.0.0.0/8"])
    for running, expected in (
        (trusting, "203.0.113.9"),
        (other, "127.0.0.1"),
        (start(), "127.0.0.1"),
    ):
        httpx.get(f"{running.url}/v1", headers=forwarded)
        assert [each["client"] for each in requests(running)] == [expected]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    subprocess.run(
        [*command.split(), *names, "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder / "cert.pem", folder / "key.pem"


# Some connection is open still when the loop is closed. In Python 3.13 uvloop warns of it, and an
# error, as warnings are here, leaves a loop that never ends.
@pytest.mark.filterwarnings("ignore:unclosed resource <TCPTransport:ResourceWarning")
def test_tls(start, certificate, monkeypatch):
    cert, key = certificate
    running = start(tls_cert=cert, tls_key=key)
    assert running.url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=cert)
    assert httpx.get(f"{running.url}/v1", verify=context).status_code == 200
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{running.url}/v1")
    with pytest.raises(httpx.HTTPError):
        httpx.get(running.url.replace("https", "http"))
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    remote = neardup.connect(running.url)
    for _ in range(3):
        assert remote.query("the cat sat on the mat and looked at the moon")[0].id == "cat"


def test_tls__refused(certificate, tmp_path):
    cert, key = certificate
    for options in ({"tls_cert": cert}, {"tls_key": key}):
        with pytest.raises(InvalidParameterError, match="go together"):
            check_tls(ServeOptions(**options))
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    for pair in ((cert, cert), (wrong, key), (cert, tmp_path / "nothing")):
        with pytest.raises(InvalidParameterError, match="cannot be used"):
            check_tls(ServeOptions(tls_cert=pair[0], tls_key=pair[1]))
