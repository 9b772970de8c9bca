"""Commands in processes of their own, in which little data spills and which may kill themselves.

What is to be killed need not load neardup first, which takes longer than most runs: one process,
this module as a program, has loaded all and has no threads, and forks for each command.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

# Where calls count as steps of a run.
_CALLS = ("open", "os.", "fcntl.", "shutil.")
# What commands load where they come to it.
_LATE = ("pyarrow.compute", "pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "rich.progress")


class Started:
    """A command that was started; as a ``subprocess.Popen`` in what it has."""

    def __init__(self, settings: dict[str, Any], arguments: tuple[str, ...], **place: Any) -> None:
        self._folder = Path(tempfile.mkdtemp())
        self._said = [self._folder / name for name in ("out", "err")]
        for path in self._said:
            # It may be killed before it says anything.
            path.touch()
        self.returncode: int | None = None
        self.pid = _ask(
            do="start", settings=settings, arguments=arguments, said=list(map(str, self._said)),
            **place,
        )  # fmt: skip

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, once it has ended."""
        return self._look("poll")

    def communicate(self) -> tuple[str, str]:
        """Wait for the end; return what was said."""
        self._look("wait")
        out, err = (path.read_text() for path in self._said)
        shutil.rmtree(self._folder)
        return out, err

    def send_signal(self, sent: int) -> None:
        """Send a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        """Kill it, if it has not ended."""
        self.send_signal(signal.SIGKILL)

    def _look(self, how: str) -> int | None:
        if self.returncode is None:
            self.returncode = _ask(do=how, process=self.pid)
        return self.returncode


def start(settings: dict[str, Any], *arguments: str, folder: Path, **environment: str) -> Started:
    """Start a command in a folder.

    Parameters
    ----------
    settings
        Those of ``spilling``; and ``kill_at``, the number of the call that concerns a file of some
        name (``kill_in``, of work folders if not given) at which it is killed; and
        ``largest_file``, bytes beyond which no file can grow, as on a full disk.
    """
    return Started(
        settings, arguments, folder=str(folder), environment={**os.environ, **environment}
    )


def end(process: Started) -> tuple[int, str, str]:
    """Wait for a process; return its code and what it has said."""
    out, err = process.communicate()
    assert process.returncode is not None
    return process.returncode, out, err


def interrupt(
    begin: Callable[[], Started], is_under_way: Callable[[], bool], sent: signal.Signals
) -> tuple[int, str, str]:
    """Send a signal to a process once it is under way; return its code and what it has said."""
    said = (0, "", "")
    while said[0] == 0:
        # On a busy machine a run may have ended before the signal comes.
        process = begin()
        while process.poll() is None and not is_under_way():
            time.sleep(0.002)
        process.send_signal(sent)
        said = end(process)
    return said


def load_all() -> None:
    """Load all that commands load, so that a fork has it; no thread is started."""
    import neardup
    from neardup.text.forms import Normalisation, token_tables

    apart = tuple(f"neardup.{name}" for name in ("service", "spark", "__main__", "kernels._"))
    for module in pkgutil.walk_packages(neardup.__path__, "neardup."):
        if not module.name.startswith(apart):
            import_module(module.name)
    for name in _LATE:
        import_module(name)
    token_tables("words", Normalisation(casefold=True))


@functools.cache
def _parent() -> subprocess.Popen[str]:
    """Return the process that forks."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.started"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        # A thread, of which a fork would have nothing but its locks.
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    atexit.register(parent.communicate)
    return parent


def _ask(**request: Any) -> Any:
    parent = _parent()
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(json.dumps(request) + "\n")
    parent.stdin.flush()
    return json.loads(parent.stdout.readline())


def _die_at(step: int, where: str) -> None:
    """Kill this process when it asks the system for a file of some name the ``step``-th time."""
    count = 0

    def on_event(name: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if name.startswith(_CALLS) and where in str(arguments[0]):
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(on_event)


def _limit_files(size: int) -> None:
    """Let no file grow beyond a size; the system fails as on a full disk then."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _run(
    settings: dict[str, Any],
    arguments: list[str],
    said: list[str],
    folder: str,
    environment: dict[str, str],
) -> int:
    """Be the process of a command; return its exit code."""
    from neardup.cli import main as run
    from tests.spilling import spilling

    for number, name in enumerate((os.devnull, *said)):
        opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    step, limit = settings.pop("kill_at", None), settings.pop("largest_file", None)
    where = settings.pop("kill_in", "neardup-work")
    if step is not None:
        _die_at(step, where)
    if limit is not None:
        _limit_files(limit)
    try:
        with spilling(**settings):
            run(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _fork(request: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        code = _run(**request)
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    """Start processes, and tell how they end, until nobody asks any more."""
    load_all()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        do = request.pop("do")
        if do == "start":
            answer: int | None = _fork(request)
        else:
            ended, status = os.waitpid(request["process"], os.WNOHANG if do == "poll" else 0)
            answer = os.waitstatus_to_exitcode(status) if ended else None
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    _serve()
