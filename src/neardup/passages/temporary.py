"""A passage index of texts that are in memory, in a folder that goes with its last reader."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.passages.documents import DocumentBlock
from neardup.passages.gathering import SEGMENT_TOKENS
from neardup.passages.handle import PassageHandle, create
from neardup.passages.index import OpenIndex
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment_writer import write_segment
from neardup.runtime.runner import Runner
from neardup.storage.generations import free_name, store_next
from neardup.tables import TokenLists, TokenSpans
from neardup.text.tokenizers import TokenFunction


def index_tokens(
    folder: Path,
    lists: TokenLists,
    *,
    scheme: PassageScheme,
    tokenizer: str | Path | TokenFunction | None,
    runner: Runner,
) -> OpenIndex:
    """Index token lists, or their shingles, numbered from 0; neither texts nor places are kept.

    ``tokenizer`` is the one of the scheme, if that is a file or a function.

    Raises
    ------
    WriteError
        If the folder cannot be written.
    """
    create(folder, scheme)
    handle = PassageHandle(folder, tokenizer)
    with handle.changing(runner) as opened:
        records = [
            write_segment(folder, free_name(opened.manifest, number), block, scheme, None, runner)
            for number, block in enumerate(_blocks(scheme.shingle(lists)))
        ]
        store_next(folder, opened.manifest, records, dict(opened.manifest.files))
    return handle.view(runner)


def _blocks(lists: TokenLists) -> list[DocumentBlock]:
    """Part documents into segments."""
    ends = np.arange(0, lists.offsets[-1], SEGMENT_TOKENS)[1:]
    cuts = np.unique([0, *np.searchsorted(lists.offsets, ends), len(lists)])
    return [_block(lists, start, stop) for start, stop in pairwise(cuts.tolist())]


def _block(lists: TokenLists, start: int, stop: int) -> DocumentBlock:
    offsets = lists.offsets[start : stop + 1]
    values = lists.values[offsets[0] : offsets[-1]]
    # Zeros that nobody writes to take no memory.
    nowhere = TokenSpans(np.zeros(len(values), np.int64), np.zeros(len(values), np.int64))
    ids = pa.array(np.arange(start, stop)).cast(pa.large_string())
    texts = pa.array([""], pa.large_string()).take(pa.array(np.zeros(stop - start, np.int64)))
    return DocumentBlock(ids, texts, TokenLists(values, offsets - offsets[0]), nowhere)
