"""Files that are read, built if need be, in processes of their own because that takes memory.

On Linux a process starts with the peak of memory of the one that started it, so the one that
measures is never to hold much.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import run_script

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.jobs import Settings

BUILD, COPY = "corpora/build.py", "corpora/near_copies.py"
GENERATE = "scale/generate.py"
SMALL_MB, MADE_UP_MB = 20, 250


def corpus(name: str) -> Path:
    """Return a corpus."""
    path = cache_folder() / f"{name}.jsonl"
    if not path.exists():
        run_script(BUILD, name)
    return path


def small_collection() -> Path:
    """Return the first 20 MB of the mixed corpus, a fair sample of it."""
    path = cache_folder() / f"mixed-{SMALL_MB}mb.jsonl"
    if not path.exists():
        run_script(BUILD, "mixed", "--first", str(SMALL_MB))
    return path


def main_collection(settings: Settings) -> Path:
    """Return the main file of documents, or a part of it if all is to be quick."""
    return small_collection() if settings.quick else corpus("mixed")


def made_up_collection(settings: Settings) -> Path:
    """Return made-up documents of 3 kB, some of which are near-copies."""
    n_bytes = f"{SMALL_MB if settings.quick else MADE_UP_MB}MB"
    path = cache_folder() / f"made-up-{n_bytes}.jsonl"
    if not path.exists():
        run_script(GENERATE, "--bytes", n_bytes, "--no-truth", "--output", str(path))
    return path


def near_copies(count: int) -> Path:
    """Return a file of near-copies of one template."""
    path = cache_folder() / f"templates-{count}.jsonl"
    if not path.exists():
        run_script(COPY, str(count))
    return path


def ten_lines() -> Path:
    """Return a file with ten documents."""
    return first_lines(small_collection(), 10)


def first_lines(source: Path, count: int) -> Path:
    """Return a file with the first lines of another."""
    path = source.with_name(f"{source.stem}-{count}-lines.jsonl")
    if not path.exists():
        with source.open("rb") as lines:
            path.write_bytes(b"".join(islice(lines, count)))
    return path
