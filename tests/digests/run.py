"""Run a case, some commands in a folder of its own, and take down what each step does."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.digests.canonical import canonical_terminal, canonical_tree, digest_text
from tests.digests.environment import environment
from tests.digests.forks import Forks

SECONDS_AT_MOST = 600

# Commands that take --workers.
_PARALLEL = (
    *("dedup", "pairs", "explain", "compare", "search", "align", "cut", "drop"),
    "sketch",
    *("estimate", "report", "review", "serve"),
)
_PARALLEL_OF_INDEX = ("build", "add", "compact")


@dataclass(frozen=True)
class Neardup:
    """The program under test: its words, and threads for commands that name none."""

    words: tuple[str, ...]
    workers: int | None = None
    forks: Forks | None = None

    @classmethod
    def parse(cls, command: str, workers: int | None = None) -> Neardup:
        """Split a command as a shell does; its program is found now, whatever folder it runs in."""
        first, *others = shlex.split(command)
        program = shutil.which(first)
        if program is None:
            raise SystemExit(f"{first}: no such program")
        return cls((str(Path(program).absolute()), *others), workers)

    def arguments(self, words: list[str]) -> list[str]:
        """Return the words of a command, with --workers."""
        takes_workers = words[:1] and (
            words[0] in _PARALLEL
            or (words[0] == "index" and words[1:2] and words[1] in _PARALLEL_OF_INDEX)
        )
        is_alone = words[:1] == ["estimate"] and "--clusters" in words
        has_none = not {"--workers", "--help"} & set(words)
        if self.workers and takes_workers and has_none and not is_alone:
            words = [*words, "--workers", str(self.workers)]
        return words

    def run(self, words: list[str], folder: Path, data: bytes) -> tuple[int, bytes, bytes]:
        """Run a command in a folder; return its exit code and what it prints."""
        words = self.arguments(words)
        if self.forks:
            return self.forks.run(words, folder, data)
        done = subprocess.run(
            [*self.words, *words],
            cwd=folder,
            env=environment(),
            input=data,
            capture_output=True,
            timeout=SECONDS_AT_MOST,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def python(self) -> str:
        """Return the interpreter that the program runs in."""
        if "-m" in self.words:
            return self.words[0]
        first_line = Path(self.words[0]).read_bytes().partition(b"\n")[0].decode()
        return first_line.removeprefix("#!").strip()


def run_case(neardup: Neardup, case: str, inputs: Path, folder: Path) -> list[dict[str, Any]]:
    """Run the steps of a case in a new folder with a copy of the inputs.

    Returns what each step has printed, its exit code, and the files it has changed.
    """
    shutil.copytree(inputs, folder)
    before = _state(folder)
    steps = []
    for step in case.split(" ; "):
        found = _damage(step, folder) if step.startswith("@") else _run(neardup, step, folder)
        after = _state(folder)
        steps.append({"step": step, **found, "files": _changes(before, after, folder)})
        before = after
    shutil.rmtree(folder)
    return steps


def _run(neardup: Neardup, step: str, folder: Path) -> dict[str, Any]:
    command, _, source = step.partition(" < ")
    data = (folder / source).read_bytes() if source else b""
    code, out, err = neardup.run(shlex.split(command), folder, data)
    return {
        "exit": code,
        "stdout": digest_text(canonical_terminal(out.decode(), folder)),
        "stderr": digest_text(canonical_terminal(err.decode(), folder)),
    }


def _damage(step: str, folder: Path) -> dict[str, Any]:
    way, name = step[1:].split()
    path = folder / name
    match way:
        case "write":
            path.write_bytes(b"something\n")
        case "cut":
            path.write_bytes(path.read_bytes()[:-40])
        case "flip":
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0x20
            path.write_bytes(data)
        case _:
            raise ValueError(step)
    return {}


State = dict[str, tuple[int, int, int]]


def _state(folder: Path) -> State:
    """Return what tells whether a file was written anew."""
    found = {}
    for path in folder.rglob("*"):
        status = path.stat()
        # The time of a folder changes with its entries, which are looked at themselves.
        time = 0 if path.is_dir() else status.st_mtime_ns
        found[path.relative_to(folder).as_posix()] = (status.st_ino, status.st_size, time)
    return found


def _changes(before: State, after: State, folder: Path) -> dict[str, str]:
    names = [name for name in sorted(after) if after[name] != before.get(name)]
    changed = canonical_tree(folder, names)
    gone = {name: "gone" for name in before if name not in after}
    return {**changed, **dict(sorted(gone.items()))}
