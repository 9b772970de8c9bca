"""Kernels compiled ahead of a job, in processes side by side.

A kernel compiles when it is first called, one at a time, because a process compiles one at a time.
The first job of a version has all of its kernels to compile, so it has processes of their own do
it, which leave the code in the cache. A kernel that is on no list still compiles when it is called.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from queue import Empty, SimpleQueue

from neardup.runtime.job_kernels import KERNELS_OF

# Below this a process of its own takes longer to start than it saves.
_LEAST_KERNELS = 4

# Run by each process: a name comes in a line, and goes back when its kernel is compiled.
_SERVE = "from neardup.runtime.compilation import serve; serve()"


def kernel_names() -> list[str]:
    """Return the names of all kernels there are, those on lists first."""
    import neardup.kernels

    modules = [module.name for module in iter_modules(neardup.kernels.__path__)]
    for module in modules:
        import_module(f"neardup.kernels.{module}")
    from neardup.kernels._compile import KERNELS

    listed = dict.fromkeys(name for names in KERNELS_OF.values() for name in names)
    # Who imports neardup may have kernels of other modules.
    own = {kernel.name for kernel in KERNELS if kernel.name.partition(".")[0] in modules}
    return [*listed, *sorted(own - set(listed))]


def missing_kernels(names: Iterable[str]) -> list[str]:
    """Return those of some kernels that would have to be compiled, in the order given.

    None where nothing is compiled, or no folder keeps the code, so that no other process can help.
    """
    import numba

    from neardup.kernels._cache import cache_folder, kept_kernels

    if numba.config.DISABLE_JIT or cache_folder() is None:
        return []
    kept = kept_kernels()
    return [name for name in names if name not in kept]


def compile_kernels(
    names: Sequence[str], processes: int, report: Callable[[int, int], None]
) -> None:
    """Compile kernels, side by side where that is sooner.

    Parameters
    ----------
    names
        Kernels, ``module.function`` each; those that take longest first.
    processes
        So many at most, at least 1.
    report
        Called with the number of kernels that are done, and of all.
    """
    done = 0

    def finished() -> None:
        nonlocal done
        done += 1
        report(done, len(names))

    report(0, len(names))
    queue: SimpleQueue[str] = SimpleQueue()
    for name in names:
        queue.put(name)
    if processes > 1 and len(names) >= _LEAST_KERNELS and sys.executable:
        with ThreadPoolExecutor(processes) as pool:
            try:
                list(pool.map(lambda _: _feed(queue, finished), range(processes)))
            except BaseException:
                # Whoever is interrupted waits for the kernels under way, not for all.
                list(_taken(queue))
                raise
    for name in _taken(queue):
        load_kernel(name)
        finished()


def serve() -> None:
    """Compile the kernels whose names come over standard input."""
    for line in sys.stdin:
        load_kernel(line.strip())
        sys.stdout.write(line)
        sys.stdout.flush()


def load_kernel(name: str) -> None:
    """Load the code of a kernel, compiled if no process has done so before."""
    module, _, function = name.partition(".")
    getattr(import_module(f"neardup.kernels.{module}"), function).compile()


def _taken(queue: SimpleQueue[str]) -> Iterable[str]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def _feed(queue: SimpleQueue[str], finished: Callable[[], None]) -> None:
    """Hand names to a process until there are none left; put one back if the process fails."""
    try:
        process = _start()
    except OSError:
        return
    with process:
        for name in _taken(queue):
            if not _ask(process, name):
                queue.put(name)
                return
            finished()


def _start() -> subprocess.Popen[bytes]:
    search_path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # what a process that has ended did not take is not sent again
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search_path))},
    )


def _ask(process: subprocess.Popen[bytes], name: str) -> bool:
    """Have a process compile a kernel; return whether it did."""
    if process.stdin is None or process.stdout is None:
        return False
    try:
        process.stdin.write(f"{name}\n".encode())
    except OSError:
        return False
    return process.stdout.readline().decode().strip() == name
