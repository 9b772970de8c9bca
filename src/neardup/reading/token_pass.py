"""The tokens of a collection: all documents read once, cut, and kept as one list of hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.catalogue_parts import make_catalogue
from neardup.reading.plan import SLICE_BYTES
from neardup.reading.sign import ListedBlock, listed
from neardup.reading.sign_pass import FILE_TEXT_BYTES
from neardup.reading.signed_batches import to_batch
from neardup.runtime.runner import Runner
from neardup.storage.growing import GrowingArray
from neardup.storage.spilled import SpilledBatches
from neardup.tables import Texts, TokenLists
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace

# Shares of the budget for what stays known of documents, and for their tokens.
_LISTED_SHARE, _TOKENS_SHARE = 0.2, 0.5


@dataclass(frozen=True)
class TokenizedDocuments:
    """The documents of a collection and the hashes of their tokens.

    Rows that were skipped have none, as have documents without tokens.
    """

    documents: Catalogue
    tokens: TokenLists


def read_tokens(
    sources: Sequence[Source],
    columns: ColumnNames,
    tokenizer: Tokenizer,
    workspace: Workspace,
    runner: Runner,
    *,
    name: str = "tokens",
    skip_bad: bool = False,
    with_lengths: bool = False,
) -> TokenizedDocuments:
    """Read all documents once and cut them into tokens.

    Memory 8 bytes a token, or a file of so many that is mapped, and some 30 bytes a document.

    Raises
    ------
    InvalidInputError
        For a bad row, unless these are to be skipped, and for a repeated id.
    ReadError, WriteError
        If a file cannot be read, or the work folder not be written.
    """
    columns = choose_id_column(columns, sources)

    def read(_: Source, block: RowBlock) -> tuple[ListedBlock, list[TokenLists]]:
        parsed = block.parse(columns, skip_bad=skip_bad)
        texts = Texts.from_arrow(parsed.text)
        parts = [tokenizer.hash_tokens(part) for part in texts.slices(SLICE_BYTES)]
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.offsets) for part in parts)])
        return listed(block, parsed, sizes, with_lengths=with_lengths), parts

    reading = ReadingPass("read", sources, runner)
    with (
        SpilledBatches(
            f"{name}-ids", workspace, share=_LISTED_SHARE, weight_of_file=FILE_TEXT_BYTES
        ) as batches,
        GrowingArray(name, np.uint64, workspace, share=_TOKENS_SHARE) as values,
    ):
        for i, (block, parts) in reading.map(read, sources):
            known = {"source": i, "text_bytes": block.text_bytes, "skipped": block.skipped}
            batches.append(to_batch(block), known, block.text_bytes)
            for part in parts:
                values.append(part.values)
    documents = make_catalogue(sources, columns, batches, with_lengths=with_lengths)
    sizes = np.maximum(documents.n_tokens, 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TokenizedDocuments(documents, TokenLists(values.array, offsets))
