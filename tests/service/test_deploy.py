"""What ``deploy/`` has: its commands run, its files are well-formed, its limits agree with ours."""

from __future__ import annotations

import ast
import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import neardup
import neardup.cli
from neardup.options.service import ServeOptions
from neardup.service.connection import N_PLACES
from neardup.service.operations import _COMPARE_BYTES
from neardup.service.serve import STOP_SECONDS, limits_of
from neardup.service.service import Service
from tests.docs.pages import ROOT
from tests.service.conftest import TOKEN

yaml = pytest.importorskip("yaml")

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "neardup.service"
# What a process of the service takes that does nothing yet, measured: 60 to 100 MB.
PROCESS_BYTES = 100 << 20
# What a file must leave for the indexes, which are read where they lie.
SHARE_OF_REQUESTS = 0.75
INSTRUCTIONS = {
    *("FROM", "RUN", "COPY", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
    *("ARG", "LABEL", "WORKDIR", "VOLUME", "STOPSIGNAL"),
}


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


def options_of(place: str) -> ServeOptions:
    arguments = arguments_of(place)
    workers = arguments[arguments.index("--workers") + 1]
    return ServeOptions(workers=int(workers))


@pytest.mark.parametrize(
    ("place", "limit"), [("unit", unit()["MemoryMax"]), ("image", compose()["mem_limit"])]
)
def test_memory__has_room_for_what_requests_may_take(place, limit):
    """On a machine of any size: the number of workers is not left to it."""
    options = options_of(place)
    service = Service([], limits_of(options), workers=options.workers)
    n_processes = 2 + service.lookups.n_threads + service.heavy.n_threads
    needed = service.bodies.n_bytes + service.answers.n_bytes
    needed += service.heavy.n_threads * _COMPARE_BYTES + n_processes * PROCESS_BYTES
    assert needed <= SHARE_OF_REQUESTS * bytes_of(limit)


def test_files__as_many_as_the_service_wants():
    assert int(unit()["LimitNOFILE"]) >= 4 * N_PLACES
    assert compose()["ulimits"]["nofile"] >= 4 * N_PLACES


def test_end__leaves_time_for_requests_under_way():
    assert int(unit()["TimeoutStopSec"]) >= 2 * STOP_SECONDS
    assert int(compose()["stop_grace_period"].removesuffix("s")) >= 2 * STOP_SECONDS


def test_compose__agrees_with_the_image():
    port = str(ServeOptions().port)
    image = dict(dockerfile())
    assert image["EXPOSE"] == port
    assert f"http://127.0.0.1:{port}/ready" in image["HEALTHCHECK"]
    # To this machine alone: others come through a proxy that speaks TLS.
    assert compose()["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert (ROOT / compose()["build"]["dockerfile"]).is_file()
    assert compose()["cap_drop"] == ["ALL"]
    assert compose()["read_only"] is True
    secrets = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["secrets"]
    assert compose()["secrets"] == list(secrets) == ["neardup-tokens"]


def test_dockerfile__is_well_formed():
    found = dockerfile()
    assert {name for name, _ in found} <= INSTRUCTIONS
    stages = [rest.split() for name, rest in found if name == "FROM"]
    assert len({stage[0] for stage in stages}) == 1
    assert ":" in stages[0][0]
    named = {stage[2] for stage in stages if stage[1:2] == ["AS"]}
    for name, rest in found:
        if name == "COPY" and rest.startswith("--from="):
            assert rest.split()[0].partition("=")[2] in named
        if name in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list)
    # What runs has no rights, and nothing after that asks for them.
    names = [name for name, _ in found]
    assert names.index("RUN") < len(names) - names[::-1].index("FROM")
    assert "RUN" not in names[names.index("USER") :]
    assert not dict(found)["USER"].startswith(("0", "root"))
    command = json.loads(dict(found)["HEALTHCHECK"].partition("CMD ")[2])
    ast.parse(command[2])
    # What is copied is there.
    script = next(rest for name, rest in found if name == "RUN").split()[1]
    assert (ROOT / script.removeprefix("/source/")).is_file()


@pytest.mark.parametrize("name", ["install.sh", "check.sh"])
def test_scripts__can_be_read(name):
    shell = "bash" if name == "check.sh" else "sh"
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([shell, "-n", DEPLOY / name], check=True)


@pytest.mark.parametrize("has_kernels", [True, False])
def test_install__refuses_an_environment_without_kernels(tmp_path, has_kernels):
    """pip says nothing of them, and each start of the service would compile them."""
    folder, made = tmp_path / "bin", tmp_path / "made" / "bin"
    folder.mkdir()
    made.mkdir(parents=True)
    for path, status in (
        (folder / "python3", 0),
        (made / "pip", 0),
        (made / "python", 0 if has_kernels else 1),
    ):
        path.write_text(f"#!/bin/sh\nexit {status}\n")
        path.chmod(0o700)
    done = subprocess.run(
        ["sh", DEPLOY / "install.sh", ROOT, made.parent],
        env={"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is has_kernels
    assert ("no kernels were compiled" in done.stderr) is not has_kernels


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_unit__is_one_of_systemd(tmp_path):
    """Every directive is known, and what the service may do is little."""
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/neardup/bin/neardup", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.replace(str(tmp_path), "")) == (0, "")
    subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", copy],
        capture_output=True,
        check=True,
    )
