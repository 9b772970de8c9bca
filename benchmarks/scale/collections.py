"""Collections as files in the cache folder, made when they are needed and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import run_script

GENERATE = "scale/generate.py"


@dataclass(frozen=True)
class Made:
    """Made-up collection: a kind, and bytes or a number of documents."""

    kind: str
    bytes: int | None = None
    documents: int | None = None
    document_bytes: int = 3000

    @property
    def name(self) -> str:
        """Name of the file."""
        amount = f"{self.bytes}-bytes" if self.bytes is not None else f"{self.documents}"
        return f"scale-{self.kind}-{amount}-of-{self.document_bytes}.jsonl"

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Make the file; it is removed in the end, since some take as much as the disk has."""
        folder = cache_folder() / "scale"
        path = folder / self.name
        amount = (
            ("--bytes", str(self.bytes))
            if self.bytes is not None
            else ("--documents", str(self.documents))
        )
        size = ("--document-bytes", str(self.document_bytes))
        try:
            # In a process of its own, so that its memory does not count for later processes.
            run_script(GENERATE, "--kind", self.kind, *amount, *size, "--no-truth", "-o", str(path))
            yield path
        finally:
            path.unlink(missing_ok=True)
