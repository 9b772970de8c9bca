"""Documents gathered until they are enough for a segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neardup.passages.documents import DocumentBlock, join_blocks

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
