"""The next state of an index: new segments under free names, and the manifest that names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from neardup.passages.documents import DocumentBlock, join_blocks
from neardup.storage.checksums import FileRecord
from neardup.storage.manifest import Manifest, SegmentRecord, store_manifest

# A segment is written when so many tokens have come together; each takes some 110 bytes meanwhile.
SEGMENT_TOKENS = 1 << 24


def gather(blocks: Iterable[DocumentBlock], segment_tokens: int) -> Iterator[DocumentBlock]:
    """Put blocks together until they have enough tokens for a segment."""
    gathered: list[DocumentBlock] = []
    n_tokens = 0
    for block in blocks:
        gathered.append(block)
        n_tokens += block.n_tokens
        if n_tokens >= segment_tokens:
            yield join_blocks(gathered)
            gathered, n_tokens = [], 0
    if gathered:
        yield join_blocks(gathered)


def free_name(manifest: Manifest, number: int) -> str:
    """Name a segment by the generation that it comes with and its number."""
    return f"g{manifest.generation + 1:06d}-{number:04d}"


def store_next(
    folder: Path,
    manifest: Manifest,
    records: Sequence[SegmentRecord],
    files: Mapping[str, FileRecord],
) -> None:
    """Store the manifest that follows another one.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    generation = manifest.generation + 1
    store_manifest(
        folder, replace(manifest, generation=generation, segments=tuple(records), files=files)
    )
