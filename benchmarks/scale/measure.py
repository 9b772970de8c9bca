"""``neardup dedup`` as a whole process: time, memory, and the size of what it writes on the way.

``python -m benchmarks.scale.measure INPUT -- --memory 1GB`` runs it once and prints a row as JSON.
What stands behind ``--`` goes to ``neardup dedup``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring.processes import PROC, descendants, run

_LOOK_SECONDS = 0.05
# Of the summary.
_KEPT_COUNTS = ("documents_in", "documents_removed", "exact_copies", "candidates", "seconds")


class Watch:
    """Sampler of the sizes of folders and the processor time of child processes.

    The count of the system omits processes without a waiting parent, such as Spark executors, so
    the last sample of each process counts. Without /proc the time is 0.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders
        self.peaks = dict.fromkeys(folders, 0)
        self._ticks: dict[int, int] = {}
        self._commands: dict[int, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu(self) -> float:
        """Seconds of processor time of all processes that were seen."""
        return sum(self.cpu_by(lambda _: "").values())

    def cpu_by(self, role: Callable[[str], str]) -> dict[str, float]:
        """Return processor seconds by role; ``role`` maps a command line to one."""
        seconds: dict[str, float] = {}
        for pid, ticks in self._ticks.items():
            name = role(self._commands[pid])
            seconds[name] = seconds.get(name, 0.0) + ticks / os.sysconf("SC_CLK_TCK")
        return seconds

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look_at_folders()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self._look_at_folders()
            if PROC.exists():
                for pid in descendants(os.getpid())[1:]:
                    self._ticks[pid] = max(self._ticks.get(pid, 0), _ticks(pid))
                    # It may have become another program.
                    self._commands[pid] = _command(pid) or self._commands.get(pid, "")

    def _look_at_folders(self) -> None:
        for name, folder in self._folders.items():
            self.peaks[name] = max(self.peaks[name], _size(folder))


def _ticks(pid: int) -> int:
    """Return the processor time of a process; 0 if it has ended."""
    try:
        # The name of a program, in brackets, may have spaces.
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    user, system = fields[11:13]
    return int(user) + int(system)


def _command(pid: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return (PROC / str(pid) / "cmdline").read_text("utf-8", "replace").replace("\0", " ")
    except OSError:
        return ""


def _size(folder: Path) -> int:
    """Return the bytes of a file or folder, without files that vanish meanwhile."""
    if folder.is_file():
        return folder.stat().st_size
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(path) / name).lstat().st_size
            except OSError:
                continue
    return total


def measure_dedup(
    python: Path, source: Path, options: Sequence[str], folder: Path
) -> dict[str, Any]:
    """Run ``neardup dedup`` once, with output and work folder in a folder; remove both."""
    out, work = folder / "out", folder / "work"
    command = [str(python), "-m", "neardup", "dedup", str(source), "--id-column", "id", *options]
    command += ["--output", str(out), "--json"]
    if "--work" not in options:
        work.mkdir(parents=True, exist_ok=True)
        command += ["--work", str(work)]
    load = os.getloadavg()[0]
    try:
        with Watch({"work": work, "output": out}) as watch:
            measured = run(command)
    finally:
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)
    summary = json.loads(measured.output)
    return {
        "options": list(options),
        "input_bytes": _size(source),
        "wall": round(measured.wall, 3),
        "cpu": round(max(measured.cpu, watch.cpu), 3),
        "peak_process": measured.peak_process,
        "peak_tree": measured.peak_tree,
        "peak_work": watch.peaks["work"],
        "output": watch.peaks["output"],
        "load": round(load, 2),
        **{name: summary[name] for name in _KEPT_COUNTS},
    }


def main() -> None:
    """Measure one run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.measure",
        usage="%(prog)s [-h] [--folder FOLDER] [--python PYTHON] INPUT [-- OPTION ...]",
        description=__doc__.partition("\n")[0],
    )
    parser.add_argument("input", type=Path)
    parser.add_argument("--folder", type=Path, help="where output and work folder are made")
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = parser.parse_args(sys.argv[1:at])
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        row = measure_dedup(given.python, given.input, sys.argv[at + 1 :], Path(folder))
    sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
