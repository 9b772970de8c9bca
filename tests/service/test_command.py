"""``neardup serve`` as a process: it starts, answers, refuses to start, and ends when asked to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import neardup
import neardup.cli
from neardup.version import pip_install
from tests.service.processes import TEXT
from tests.service.waiting import wait_for

pytestmark = pytest.mark.slow


def test_serve__until_sigterm(serve, folder):
    process = serve("--writable")
    assert process.first_line.startswith("serving idx (1 document) at http://127.0.0.1:")
    remote = neardup.connect(process.url)
    assert [match.id for match in remote.query(TEXT)] == ["raven"]
    remote.insert("new", "something that is not in there yet but will be")
    code, out, lines = process.end()
    assert (code, out) == (0, "ended\n")
    assert lines[-1]["event"] == "stopped"
    assert "new" in neardup.DocumentIndex.open(folder / "idx")


def test_serve__ends_after_requests_under_way(serve):
    """A batch that takes a while is answered after the signal."""
    process = serve()
    remote = neardup.connect(process.url)
    queries = [f"{TEXT} {number}" for number in range(1000)]
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(remote.search, queries)
        running = 'neardup_running{work="process"} 1.0'
        wait_for(lambda: running in httpx.get(f"{process.url}/metrics").text or answer.done())
        process.process.send_signal(signal.SIGINT)
        assert len(answer.result()) == 1000
    remote.close()
    assert process.wait()[:2] == (0, "ended\n")


def test_serve__sees_what_others_add(serve, folder):
    process = serve()
    remote = neardup.connect(process.url)
    index = neardup.DocumentIndex.open(folder / "idx")
    index.insert("new", "something that is not in there yet but will be")
    index.commit()
    wait_for(lambda: len(remote) == 2)
    assert remote.get("new") is not None


@pytest.mark.slow
def test_serve__readers_all_the_while(serve, folder):
    """Whoever asks while others add and remove gets a right answer each time."""
    process = serve()
    stop = threading.Event()
    wrong = []

    def ask() -> None:
        remote = neardup.connect(process.url)
        while not stop.is_set():
            found = remote.query(TEXT)
            if [match.id for match in found][:1] != ["raven"]:
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    index = neardup.DocumentIndex.open(folder / "idx")
    for number in range(15):
        index.add([{"id": f"n{number}", "text": f"{number} {TEXT} and {number}"}])
        index.remove([f"n{number}"])
    index.compact()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert process.end()[0] == 0


@pytest.fixture
def run(folder, monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Run a command that ends by itself, in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("neardup.kernels._compile.announce", lambda _: None)

    def run_it(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = neardup.cli.run(["serve", *arguments])
        return code, *capsys.readouterr()

    return run_it


def test_serve__refuses_others_without_a_token(run):
    code, _, err = run("idx", "--host", "0.0.0.0")
    assert code == 1
    assert err.startswith("error: --host 0.0.0.0 can be reached from other machines")
    assert "--token-file" in err


def test_serve__what_is_not_there(run):
    assert run("nothing")[0] == 1
    code, _, err = run("idx", "--token-file", "missing")
    assert (code, err) == (1, "error: missing: No such file or directory\n")
    code, _, err = run("idx", "--host", "192.0.2.1", "--check")
    assert (code, "token" in err) == (1, True)


def test_serve__port_in_use(run):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _, err = run("idx", "--port", str(port))
    assert code == 1
    assert f"error: cannot listen at 127.0.0.1, port {port}: " in err
    assert "choose another --port" in err


def test_serve__check(run):
    assert run("idx", "mine=idx", "--check") == (
        0,
        "read and verified idx (1 document), mine (1 document)\n",
        "",
    )


def test_serve__check_reads_every_file(run, folder):
    for path in sorted((folder / "idx").rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        if not content or path.name.endswith("lock"):
            continue
        # A page of the database may end in bytes that nothing uses; its rows are JSON.
        place = content.index(b"{") if path.suffix == ".sqlite" else len(content) - 1
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        code, _, err = run("idx", "--check")
        assert (code, err.startswith("error: "), err.count("\n")) == (1, True, 1), path
        path.write_bytes(content)
    assert run("idx", "--check")[0] == 0


def test_serve__without_the_extra(folder, run_without):
    """Who lacks the extra is told how to get it, before anything else."""
    code, err = run_without("uvicorn", "serve", "idx")
    assert code == 1
    assert err == f"error: neardup serve needs an extra: {pip_install('serve')}\n"


@pytest.fixture
def run_without(folder) -> Callable[..., tuple[int, str]]:
    def run_it(module: str, *arguments: str) -> tuple[int, str]:
        code = (
            "import importlib.util, sys\n"
            "real = importlib.util.find_spec\n"
            f"importlib.util.find_spec = lambda name: None if name == {module!r} else real(name)\n"
            "from neardup.cli import main\n"
            f"main({list(arguments)!r})\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60
        )
        return done.returncode, done.stderr

    return run_it
