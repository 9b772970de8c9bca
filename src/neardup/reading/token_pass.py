"""One pass over collections: their documents listed, and something taken from each text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.block_exchange import FILE_TEXT_BYTES, KeptElsewhere
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.first_pass import read_blocks
from neardup.reading.sign import SLICE_BYTES, ListedBlock, ReadingPlan, listed
from neardup.runs.arrays import GrowingArray
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.tables import Int64s, Texts, TokenLists, Uint64s, offsets_of
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

T = TypeVar("T")

Collection = tuple[Sequence[Source], ColumnNames]

# Shares of the budget for what stays known of documents, and for their tokens.
_LISTED_SHARE, TOKENS_SHARE = 0.2, 0.5


def read_tokens(
    collections: Sequence[Collection],
    plan: ReadingPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[tuple[Catalogue, ...], TokenLists]:
    """Read all documents of some collections once and cut them into tokens.

    Returns their catalogues and the tokens of all documents, one collection after the other. Rows
    that were skipped have no tokens. Memory 8 bytes a token, or a file of so many that is mapped,
    and some 30 bytes a document.
    """

    def take(_: int, parts: Sequence[TokenLists], *__: int) -> None:
        for part in parts:
            values.append(part.values)

    with GrowingArray("tokens", np.uint64, workspace, share=TOKENS_SHARE) as values:
        catalogues = take_texts(
            collections,
            plan,
            lambda texts: hash_tokens(texts, plan.shingles.tokenizer),
            take,
            workspace,
            runner,
        )
    return catalogues, token_lists(catalogues, values.array)


def token_lists(catalogues: Sequence[Catalogue], values: Uint64s) -> TokenLists:
    """Return the tokens of all documents of some collections, one behind the other."""
    sizes = [np.maximum(catalogue.n_tokens, 0) for catalogue in catalogues]
    offsets = offsets_of(np.concatenate(sizes))
    return TokenLists(values, offsets)


def hash_tokens(texts: pa.Array, tokenizer: Tokenizer) -> tuple[Int64s, list[TokenLists]]:
    """Return how many tokens each text has, and the tokens of some texts at a time."""
    parts = []
    for part in Texts.from_arrow(texts).slices(SLICE_BYTES):
        found = tokenizer.hash_tokens(part)
        # A copy: where tokens are cut there is room for one a byte, which would stay with them.
        parts.append(TokenLists(found.values.copy(), found.offsets))
    sizes = [np.diff(part.offsets) for part in parts]
    return np.concatenate([np.empty(0, np.int64), *sizes]), parts


def take_texts(
    collections: Sequence[Collection],
    plan: ReadingPlan,
    look: Callable[[pa.Array], tuple[Int64s, T]],
    take: Callable[[int, T, int, int], None],
    workspace: Workspace,
    runner: Runner,
    kept: Sequence[KeptElsewhere] | None = None,
) -> tuple[Catalogue, ...]:
    """Read all documents of some collections once, and take something from each block.

    Parameters
    ----------
    collections
        Sources of each, and the columns to read.
    plan
        Whether bad rows are skipped, and whether the texts' lengths are needed.
    look
        Takes the texts of a block, nulls for skipped rows; returns the number of tokens of each,
        and what is taken. Called in threads.
    take
        Takes the number of the collection, what ``look`` has found, the number of the source in
        the collection, and the bytes of its text; block after block.
    workspace, runner
        Memory, threads.
    kept
        Of each collection what ``take`` keeps, if that may go to files.
    """
    reading = ReadingPass("read", [each for sources, _ in collections for each in sources], runner)
    catalogues = []
    for number, (sources, named) in enumerate(collections):
        columns = choose_id_column(named, sources)

        def read(block: RowBlock, columns: ColumnNames = columns) -> tuple[ListedBlock, list[T]]:
            parsed = block.parse(columns, skip_bad=plan.skip_bad)
            sizes, found = look(parsed.text)
            return listed(block, parsed, sizes, with_lengths=plan.with_lengths), [found]

        def take_found(
            _: pa.RecordBatch, known: Mapping[str, Any], found: list[T], number: int = number
        ) -> None:
            take(number, found[0], known["source"], known["text_bytes"])

        with SpilledBatches(
            f"ids-{number}", workspace, share=_LISTED_SHARE, weight_of_file=FILE_TEXT_BYTES
        ) as batches:
            own = None if kept is None else kept[number]
            read_blocks(sources, read, batches, reading, workspace, take_found, own)
        catalogues.append(
            make_catalogue(
                sources,
                columns,
                batches,
                skips_bad=plan.skip_bad,
                with_lengths=plan.with_lengths,
            )
        )
    return tuple(catalogues)
