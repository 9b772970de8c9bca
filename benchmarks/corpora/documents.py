"""Files of documents for the benchmarks: how they are made, written, cut and measured.

Every line is ``{"id": ..., "text": ...}``. The same release of the same package always gives the
same bytes, and nothing is repeated to make a file larger: repeats that are in a corpus were in its
source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.measuring.environments import cache_folder

Document = tuple[str, str]


@dataclass(frozen=True)
class Corpus:
    """Recipe of a corpus.

    ``fetch`` returns a file, downloaded if need be, from which ``documents`` yields (id, text).
    With ``evenly`` the lines are put in the order of a digest of their ids, so that any first part
    of the file is a fair sample. At most ``most`` lines are written.
    """

    fetch: Callable[[], Path]
    documents: Callable[[Path], Iterator[Document]]
    evenly: bool = False
    most: int | None = None


def prepare(name: str, corpus: Corpus, folder: Path | None = None) -> Path:
    """Build a corpus unless it is there already."""
    target = (folder or cache_folder()) / f"{name}.jsonl"
    if not target.exists():
        documents: Iterable[Document] = corpus.documents(corpus.fetch())
        if corpus.evenly:
            documents = sorted(documents, key=_even_order)
        write_lines(target, islice(documents, corpus.most))
    return target


def _even_order(document: Document) -> bytes:
    """Return the sort key that scatters documents independently of their source."""
    return hashlib.blake2b(document[0].encode(), digest_size=16).digest()


def write_lines(target: Path, documents: Iterable[Document]) -> None:
    """Write documents as JSON lines; the file appears only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".part")
    with unfinished.open("w", encoding="utf-8", newline="\n") as lines:
        for name, text in documents:
            lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    unfinished.replace(target)


def first_part(source: Path, megabytes: float) -> Path:
    """Cut the first whole lines of a corpus into a file of their own."""
    target = source.with_name(f"{source.stem}-{megabytes:g}mb.jsonl")
    if not target.exists():
        left = int(megabytes * 1e6)
        unfinished = target.with_name(target.name + ".part")
        with source.open("rb") as lines, unfinished.open("wb") as part:
            for line in lines:
                left -= len(line)
                if left < 0:
                    break
                part.write(line)
        unfinished.replace(target)
    return target
