"""What ``deploy/`` has: its commands run, its files are well-formed, its limits agree with ours."""

from __future__ import annotations

import configparser
import json
import re
import shlex

import pytest

import neardup
import neardup.cli
from neardup.service.application import STOP_SECONDS
from neardup.service.requests import LARGEST_AT_ONCE, MAX_BODY
from neardup.service.worker_processes import MEMORY_BYTES
from tests.docs.pages import ROOT
from tests.service.conftest import TOKEN

yaml = pytest.importorskip("yaml")

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "neardup.service"
# What a process of the service takes that does nothing yet, measured: 90 to 120 MB.
PROCESS_BYTES = 120 << 20
# What a file must leave for the indexes, which are read where they lie.
SHARE_OF_REQUESTS = 0.75


def unit() -> dict[str, str]:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str
    parsed.read_string(UNIT.read_text())
    return dict(parsed["Service"])


def compose() -> dict[str, object]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["neardup"]


def dockerfile() -> list[tuple[str, str]]:
    """Return the instructions, with what follows each."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def arguments_of(place: str) -> list[str]:
    """Return what the service is started with."""
    if place == "unit":
        return shlex.split(unit()["ExecStart"])
    image = dict(dockerfile())
    return json.loads(image["ENTRYPOINT"]) + compose()["command"]


def bytes_of(size: str) -> int:
    return int(size[:-1]) << {"M": 20, "G": 30}[size[-1].upper()]


@pytest.mark.parametrize("place", ["unit", "image"])
def test_command__starts_a_service(tmp_path, capsys, place):
    index = tmp_path / "index"
    neardup.DocumentIndex.create(index).add([{"id": "a", "text": "some text of an index"}])
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN)
    tokens.chmod(0o600)
    program, *arguments = arguments_of(place)
    assert program.rpartition("/")[2] == "neardup"
    here = {
        **dict.fromkeys(("/var/lib/neardup/index", "/data/index"), str(index)),
        **dict.fromkeys(
            ("${CREDENTIALS_DIRECTORY}/tokens", "/run/secrets/neardup-tokens"), str(tokens)
        ),
    }
    given = [here.get(argument, argument) for argument in arguments]
    assert {str(index), str(tokens)} <= set(given)
    assert neardup.cli.run([*given, "--check"]) == 0
    assert "1 document" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "limit"), [("unit", unit()["MemoryMax"]), ("image", compose()["mem_limit"])]
)
def test_memory__has_room_for_what_requests_may_take(place, limit):
    """On a machine of any size: the number of workers is not left to it."""
    arguments = arguments_of(place)
    n_processes = int(arguments[arguments.index("--workers") + 1]) // 2
    needed = LARGEST_AT_ONCE * MAX_BODY + n_processes * MEMORY_BYTES
    needed += (1 + n_processes) * PROCESS_BYTES
    assert needed <= SHARE_OF_REQUESTS * bytes_of(limit)


@pytest.mark.parametrize("name", ["Caddyfile", "nginx.conf"])
def test_proxy__hands_on_what_the_service_needs(name):
    text = (DEPLOY / name).read_text()
    assert "127.0.0.1:8600" in text
    assert "16MB" in text or "16m" in text
    page = (ROOT / "docs/serving.md").read_text()
    assert text in page if name == "Caddyfile" else f"`deploy/{name}`" in page
    if name == "nginx.conf":
        assert "limit_conn connections" in text
        assert "proxy_set_header Host $http_host;" in text
        assert text.count("{") == text.count("}")


def test_end__leaves_time_for_requests_under_way():
    assert int(unit()["TimeoutStopSec"]) >= 2 * STOP_SECONDS
    assert int(compose()["stop_grace_period"].removesuffix("s")) >= 2 * STOP_SECONDS
