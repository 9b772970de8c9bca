"""One writer at a time."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from neardup import DocumentIndex
from neardup.errors import IndexLockedError, ReadError, WriteError
from neardup.indexes.folder import write_lock
from neardup.indexes.manifest import Manifest, load_manifest, store_manifest
from tests.each import each_of

HOLD = """
import sys
from pathlib import Path
from neardup.indexes.folder import write_lock
with write_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(folder) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    return process


def held_by(folder) -> str | None:
    with pytest.raises(IndexLockedError) as info, write_lock(folder):
        pass
    assert str(info.value).startswith(f"{folder} is being written by ")
    assert str(info.value).endswith("; wait until that is done, and try again")
    return info.value.holder


def test_lock__again_and_again(tmp_path):
    for _ in range(3):
        with write_lock(tmp_path):
            assert (tmp_path / "write.lock.holder").exists()
        assert not (tmp_path / "write.lock.holder").exists()
    with pytest.raises(KeyError), write_lock(tmp_path):
        raise KeyError
    with write_lock(tmp_path):
        pass


def test_lock__in_the_same_thread(tmp_path):
    with write_lock(tmp_path):
        assert re.fullmatch(r"this process, since 20\d\d-.*\+00:00", held_by(tmp_path))
        # The one that was refused takes nothing away.
        assert held_by(tmp_path) is not None


@pytest.mark.slow
def test_lock__of_threads(tmp_path):
    """A number that is read and written back counts all who held the lock."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    n_refused = []

    def count() -> None:
        for _ in range(20):
            while True:
                try:
                    with write_lock(tmp_path):
                        counter.write_text(str(int(counter.read_text()) + 1))
                    break
                except IndexLockedError:
                    n_refused.append(1)

    threads = [threading.Thread(target=count) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "120"
    assert n_refused


def test_lock__who_waits_is_before_who_comes_again(tmp_path):
    """Also before one that takes the lock anew as soon as it has let it go."""
    order = []

    def hold(name: str) -> None:
        with write_lock(tmp_path, 60):
            order.append(name)

    with write_lock(tmp_path, 60):
        waiting = threading.Thread(target=hold, args=("who waits",))
        waiting.start()
        deadline = time.monotonic() + 60
        while not is_held(tmp_path / "turn.lock") and time.monotonic() < deadline:
            time.sleep(0.001)
    hold("who comes again")
    waiting.join(60)
    assert order == ["who waits", "who comes again"]


def is_held(path: Path) -> bool:
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


@pytest.mark.slow
def test_lock__who_gives_up_waiting_is_in_nobodys_way(tmp_path):
    with write_lock(tmp_path):
        for seconds in (0.0, 0.02, 0.6):
            with pytest.raises(IndexLockedError), write_lock(tmp_path, seconds):
                pass
        assert not is_held(tmp_path / "turn.lock")
    with write_lock(tmp_path):
        pass


WRITE = """
import sys
from neardup import DocumentIndex
index = DocumentIndex.open(sys.argv[1], timeout=300)
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    index.insert(f"{sys.argv[2]}-{number}", f"one two {sys.argv[2]} {number}")
    index.commit()
    print(len(index), flush=True)
"""


@pytest.mark.slow
def test_lock__processes_write_in_turn(tmp_path):
    """Nobody is refused, nothing is lost, and nobody waits until the others are done."""
    folder = tmp_path / "index"
    DocumentIndex.create(folder, ngram=1)
    command = [sys.executable, "-c", WRITE, folder]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name], **pipes) for name in "abc"]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ends = [[int(line) for line in writer.communicate()[0].split()][-1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(DocumentIndex.open(folder)) == 60
    assert all(DocumentIndex.open(folder).get(f"{name}-19") for name in "abc")
    # Who ends first has not had all of its turns in a row.
    assert min(ends) > 40


@pytest.mark.slow
def test_lock__of_another_process(tmp_path):
    store_manifest(tmp_path, Manifest({"a": 1}))
    with holding(tmp_path) as process:
        holder = held_by(tmp_path)
        assert holder.startswith(f"process {process.pid} on {socket.gethostname()} (")
        assert "python" in holder
        # Readers are let in.
        assert load_manifest(tmp_path) == Manifest({"a": 1})
        process.stdin.close()
        assert process.wait() == 0
    with write_lock(tmp_path):
        pass


def test_lock__of_a_killed_process(tmp_path):
    with holding(tmp_path) as process:
        process.kill()
        process.wait()
        text = (tmp_path / "write.lock.holder").read_text()
    assert json.loads(text)["process"] == process.pid
    with write_lock(tmp_path):
        # The next holder was not quick enough to tell who it is.
        (tmp_path / "write.lock.holder").write_text(text)
        assert held_by(tmp_path) is None
    with write_lock(tmp_path):
        assert held_by(tmp_path).startswith("this process")


@each_of("text", [b"", b"{", b"[]", b"{}", b"\xff", b"1", b'{"process": 1}'])
def test_lock__unknown_holder(tmp_path, text):
    with write_lock(tmp_path):
        (tmp_path / "write.lock.holder").write_bytes(text)
        assert held_by(tmp_path) is None
        (tmp_path / "write.lock.holder").unlink()
        assert held_by(tmp_path) is None


def test_lock__holder_on_another_machine(tmp_path):
    holder = {"process": 2**30, "host": "elsewhere", "command": "x", "since": "then"}
    with write_lock(tmp_path):
        (tmp_path / "write.lock.holder").write_text(json.dumps(holder))
        assert held_by(tmp_path) == f"process {2**30} on elsewhere (x), since then"


def test_lock__no_folder(tmp_path):
    with pytest.raises(ReadError, match="no index: there is no such folder"), ExitStack() as stack:
        stack.enter_context(write_lock(tmp_path / "nope"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes all")
def test_lock__folder_is_read_only(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(WriteError, match="Permission denied"), write_lock(tmp_path):
        pass
    tmp_path.chmod(0o755)
