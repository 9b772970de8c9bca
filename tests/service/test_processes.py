"""Processes of their own: what they answer, and that they end whatever they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest

import neardup
from neardup import errors
from neardup.service.lanes import Deadline
from neardup.service.problems import Problem
from neardup.service.processes import Processes, WorkError
from neardup.service.served import ServedPassages
from neardup.service.service import Limits
from tests.each import each_of
from tests.service.waiting import wait_for


def long() -> Deadline:
    """Return a time that begins now: the suite may take longer than any."""
    return Deadline(300)


@pytest.fixture(scope="module")
def processes():
    found = Processes()
    yield found
    found.close()


def fail_with(error: BaseException) -> None:
    raise error


def give(value: object) -> object:
    return value


def take_room(n_bytes: int) -> int:
    return len(bytearray(n_bytes))


def write_and_wait(seconds: float, told: Path | None = None) -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "large").write_bytes(b"x")
    if told is not None:
        told.write_text(f"{os.getpid()}\n{folder}\n")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def end_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_run(processes):
    assert processes.run(partial(give, {"a": 1}), long()) == {"a": 1}
    # One that is idle is taken again.
    assert processes.run(os.getpid, long()) == processes.run(os.getpid, long()) != os.getpid()


@each_of(
    "error",
    [
        errors.InvalidParameterError("threshold must be 1", "threshold"),
        errors.InvalidInputError("not valid", path="a file", row=3),
        errors.ReadError("cannot be read", path="a file"),
        errors.IndexLockedError("a folder", "somebody"),
        errors.ResultLimitError(3, 4),
        errors.MissingExtraError("serve", "this"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_run__errors_come_as_they_are(processes, error):
    with pytest.raises(type(error)) as found:
        processes.run(partial(fail_with, error), long())
    assert str(found.value) == str(error)
    assert vars(found.value) == vars(error)


def test_run__a_process_that_ends(processes):
    with pytest.raises(WorkError, match="ended with -9"):
        processes.run(end_at_once, long())
    assert processes.run(partial(give, 1), long()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_run__memory_is_limited(processes):
    with pytest.raises(Problem) as found:
        processes.run(partial(take_room, 300 << 20), long(), most_bytes=200 << 20)
    assert found.value.status == 413
    # For that one piece of work.
    assert processes.run(partial(take_room, 100 << 20), long(), most_bytes=200 << 20)
    assert processes.run(partial(take_room, 300 << 20), long())


def test_run__ends_at_the_deadline_with_all_it_wrote(processes, tmp_path):
    processes.run(os.getpid, long())
    told = tmp_path / "told"
    begin = time.monotonic()
    with pytest.raises(Problem) as found:
        processes.run(partial(write_and_wait, 200, told), Deadline(1.0))
    assert found.value.status == 504
    assert time.monotonic() - begin < 20
    process, folder = told.read_text().splitlines()
    assert not is_there(int(process))
    assert not Path(folder).exists()


_PARENT = """
import sys
from functools import partial
from pathlib import Path
from neardup.service.lanes import Deadline
from neardup.service.processes import Processes
from tests.service.test_processes import write_and_wait
if __name__ == "__main__":
    Processes().run(partial(write_and_wait, 200, Path(sys.argv[1])), Deadline(300))
"""


@pytest.mark.kills
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_process__ends_with_its_parent(tmp_path, number):
    script, told = tmp_path / "parent.py", tmp_path / "told"
    script.write_text(_PARENT)
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, str(script), str(told)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: told.exists() and told.read_text().count("\n") == 2, 120)
    process, folder = told.read_text().splitlines()
    parent.send_signal(number)
    parent.wait(60)
    wait_for(lambda: not is_there(int(process)), 60)
    wait_for(lambda: not Path(folder).exists(), 60)


def test_service__looks_for_passages_in_what_is_there_now(start, tmp_path):
    """The process sees each change; of an index that is damaged then, what it has seen before."""
    index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=5, num_perm=16)
    text = "once upon a midnight dreary while I pondered weak and weary"
    running = start([ServedPassages("idx", index, is_writable=True)])

    def count() -> int:
        body = {"queries": [text], "threshold": "0.8"}
        answer = running.post("/v1/indexes/idx/search", body)
        return answer.json()["n_rows"]

    assert count() == 0
    for number in range(2):
        new = {"id": str(number), "text": text}
        assert running.post("/v1/indexes/idx/insert", new).status_code == 200
        assert count() == number + 1
    (tmp_path / "idx" / "manifest.json").write_text("{")
    assert count() == 2


REPETITIVE = "a b " * 120_000


@pytest.mark.slow
@pytest.mark.parametrize("what", ["compare", "search", "align"])
def test_service__gives_up_what_no_thread_could(start, tmp_path, what):
    """Texts that repeat themselves keep a kernel busy for minutes; its place is free again soon."""
    index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=20, num_perm=16)
    index.add([{"id": 1, "text": REPETITIVE}])
    served = ServedPassages("idx", index, is_writable=False)
    running = start([served], limits=Limits(seconds=3))
    # The first has to load what the others have.
    running.service.processes.start()
    bodies = {
        "compare": ("/v1/compare", {"a": REPETITIVE, "b": REPETITIVE + "z"}),
        "search": ("/v1/indexes/idx/search", {"queries": ["a b " * 10_000]}),
        "align": ("/v1/indexes/idx/align", {"documents": [REPETITIVE]}),
    }
    for _ in range(2):
        assert running.post(*bodies[what]).status_code == 504
        wait_for(lambda: not running.service.heavy.n_running, 2)
        wait_for(lambda: not running.service.lookups.n_running, 2)
    assert running.post("/v1/compare", {"a": "the cat", "b": "a cat"}).status_code == 200
    short = {"queries": ["a b c d e f g h i j k l m n o p q r s t u v w x y z"]}
    assert running.post("/v1/indexes/idx/search", short).json()["n_rows"] == 0
