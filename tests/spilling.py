"""Runs of ``neardup dedup`` in which little data spills: small blocks, small files, no memory."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

# What of a summary may differ between runs of the same answer.
_OWN = ("seconds", "peak_memory_bytes", "workers", "digest")


@contextmanager
def spilling(memory: int = 3000, block: int = 1500, file: int = 4000) -> Iterator[None]:
    """Let jobs have next to no memory, whatever they ask for, and make blocks and files small.

    Nothing is really forced to the disk.

    Parameters
    ----------
    memory
        Bytes, of which stages take their shares.
    block
        Bytes of a file that are read at a time.
    file
        Bytes of text after which a file of a work folder is complete.
    """
    from neardup.files.rawrows import RawSource
    from neardup.runs.work import Workspace

    begin = RawSource.__init__

    def begun(self: RawSource, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        self.block_bytes = block

    with ExitStack() as stack:
        for each in (
            patch.object(RawSource, "__init__", begun),
            patch.object(Workspace, "share", lambda _, share: max(1, int(memory * share))),
            patch("os.fsync", lambda _: None),
            patch("neardup.engine.threads.FILE_TEXT_BYTES", file),
            patch("neardup.jobs.cut.units._FILE_BYTES", file),
            patch("neardup.engine.threads._FILE_BYTES", file),
            patch("neardup.passages.passage_lookup._LEAST_TOKENS", 50),
        ):
            stack.enter_context(each)
        yield


def make_rows(seed: int, n: int, chain: int = 0) -> list[dict[str, Any]]:
    """Make documents of which many are copies, near copies or empty, and a chain of near copies."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(400)]
    texts: list[str] = []
    for _ in range(n):
        kind = rng.random()
        tokens = rng.choices(words, k=rng.choice((0, 3, 20, 60, 150)))
        if texts and kind < 0.6:
            tokens = rng.choice(texts).split()
            for _ in range(0 if kind < 0.15 else rng.randint(1, 3)):
                if tokens:
                    tokens[rng.randrange(len(tokens))] = rng.choice(words)
        texts.append(" ".join(tokens))
    window = rng.choices(words, k=60)
    for _ in range(chain):
        # Each is similar to the next few, and the last not to the first.
        window = [*window[1:], rng.choice(words)]
        texts.insert(rng.randrange(len(texts) + 1), " ".join(window))
    return [
        {"id": f"d{i}", "text": text, "score": rng.randint(0, 9)} for i, text in enumerate(texts)
    ]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files of an output; of the summary, what every run must say alike."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    summary = json.loads(found["summary.json"])
    kept = {name: value for name, value in summary.items() if name not in _OWN}
    found["summary.json"] = json.dumps(kept, indent=1).encode()
    return found


class StopError(KeyboardInterrupt):
    """What a run is stopped by."""


@contextmanager
def stopped_after(n_tasks: int) -> Iterator[None]:
    """Interrupt a run when it has done so many tasks."""
    from neardup.runs.work import WorkFolder

    finish, n_done = WorkFolder._finish, 0

    def finished(self: WorkFolder, name: str, files: Any) -> None:
        nonlocal n_done
        finish(self, name, files)
        n_done += 1
        if n_done == n_tasks:
            raise StopError

    with patch.object(WorkFolder, "_finish", finished):
        yield


def work_folders(parent: Path) -> list[Path]:
    """Return the work folders that lie in a folder."""
    return sorted(parent.glob(".*neardup-work-*"))
