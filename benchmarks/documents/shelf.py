"""Collections and indexes of documents, made when they are first asked for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring.jobs import run_script
from benchmarks.measuring.processes import Run, run

GENERATE = "scale/generate.py"
DOCUMENT_BYTES = 1000
# What comes in later, as a share of what is there already.
NEW_SHARE = 10
OTHER_SEED = 2


@dataclass(frozen=True)
class Collection:
    """Documents that are indexed, and those that come later, some of which are copies of these."""

    base: Path
    new: Path
    documents: int


@dataclass(frozen=True)
class Shelf:
    """A folder of collections, queries and indexes, by the number of documents.

    Parameters
    ----------
    folder
        Where they are.
    python
        The Python that has neardup.
    """

    folder: Path
    python: Path

    def collection(self, n_documents: int) -> Collection:
        """Return made-up documents of 1 kB.

        What is new has the numbers that follow, so that copies in it are copies of any.
        """
        base = self.folder / f"{n_documents}.jsonl"
        new = self.folder / f"{n_documents}-new.jsonl"
        if not new.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            n_all = n_documents + n_documents // NEW_SHARE
            _generate(base, n_all, "--no-truth")
            _cut(base, n_documents, new)
        return Collection(base, new, n_documents)

    def queries(self, n_documents: int, n_queries: int) -> tuple[Path, Path]:
        """Return queries that are like a document each, and queries that are like none."""
        like = self.folder / f"{n_documents}-like-{n_queries}.jsonl"
        unlike = self.folder / f"unlike-{n_queries}.jsonl"
        if not like.exists():
            collection = self.collection(n_documents)
            run_script(
                "documents/queries.py", str(collection.base), str(like), "--number", str(n_queries)
            )
        if not unlike.exists():
            _generate(unlike, n_queries, "--no-truth", "--seed", str(OTHER_SEED))
        return like, unlike

    def build(self, n_documents: int, folder: Path) -> Run:
        """Build an index of a collection, measured."""
        source = self.collection(n_documents).base
        program = (str(self.python), "-m", "neardup", "index", "build", str(folder), str(source))
        return run((*program, "--kind", "documents", "--json"))

    def index(self, n_documents: int) -> Path:
        """Return an index that nothing is to change: see ``copy``."""
        folder = self.folder / f"{n_documents}-index"
        if not folder.exists():
            part = folder.with_name(f"{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            self.build(n_documents, part)
            part.rename(folder)
        return folder

    @contextmanager
    def copy(self, n_documents: int) -> Iterator[Path]:
        """Give a copy of an index, to be changed.

        Its files are links to the same bytes: no file of an index is written to once it is there.
        Only the lock is its own.
        """
        index = self.index(n_documents)
        folder = index.with_name(f"{index.name}.copy")
        shutil.rmtree(folder, ignore_errors=True)
        without_lock = shutil.ignore_patterns("write.lock")
        shutil.copytree(index, folder, copy_function=os.link, ignore=without_lock)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)

    @contextmanager
    def empty(self) -> Iterator[Path]:
        """Give the name of a folder that is not there, and remove what was made of it."""
        folder = self.folder / "fresh"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def drop(self, n_documents: int) -> None:
        """Remove a collection, its queries and its index."""
        for path in self.folder.glob(f"{n_documents}[.-]*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _generate(path: Path, n_documents: int, *options: str) -> None:
    amount = ("--documents", str(n_documents), "--document-bytes", str(DOCUMENT_BYTES))
    # In a process of its own, so that it does not count as memory of those that follow.
    run_script(GENERATE, *amount, *options, "-o", str(path))


def _cut(path: Path, n_lines: int, rest: Path) -> None:
    """Move what is behind so many lines to another file, which is there as a whole."""
    part = rest.with_name(f"{rest.name}.part")
    with path.open("r+b") as lines:
        for _ in range(n_lines):
            lines.readline()
        place = lines.tell()
        with part.open("wb") as target:
            shutil.copyfileobj(lines, target)
        lines.truncate(place)
    part.rename(rest)


def size_of(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
