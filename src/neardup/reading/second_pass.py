"""The second pass, the stage sets: contents that are to be compared, read again, as sets or tokens.

Documents go in as places: for each catalogue an array as long as it has documents, with the place
of the document in the result, -1 for a document that is not wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from neardup.errors import ReadError
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.kernels import shingles
from neardup.reading.catalogue import Catalogue
from neardup.reading.plan import SLICE_BYTES, ReadingPlan
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s, ShingleSets, Texts, TokenLists, WeightedSets
from neardup.text.shingles import shingle_sets
from neardup.text.weighted_sets import WeightedScheme, weighted_sets

# Puts what a stage makes of some texts at their places; false if they are not what they were.
_Write = Callable[[Texts, Int64s], bool]


def read_sets(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    runner: Runner,
) -> ShingleSets:
    """Read some documents again and make their shingle sets.

    Parameters
    ----------
    catalogues
        Whose documents are meant.
    wanted
        For each catalogue an array as long as it has documents: the place of the document's set
        in the result, -1 for a document that is not wanted. Places run from 0 without gaps.

    Notes
    -----
    Memory 8 bytes a shingle of the wanted documents. Only files with a wanted document are read.
    """
    capacities = _gather(catalogues, wanted, lambda n: np.maximum(n - plan.shingles.ngram + 1, 1))
    ends = np.cumsum(capacities)
    starts: Int64s = ends - capacities
    sets = ShingleSets(
        np.empty(int(capacities.sum()), np.uint64), starts, np.zeros(len(starts), np.int64)
    )

    def write(texts: Texts, places: Int64s) -> bool:
        found = shingle_sets(texts, plan.shingles)
        if (found.sizes > capacities[places]).any() or (found.sizes == 0).any():
            return False
        shingles.copy_sets(found.values, found.starts, found.sizes, sets.values, starts[places])
        sets.sizes[places] = found.sizes
        return True

    _read_again(catalogues, wanted, plan, write, runner)
    return sets


def read_weighted_sets(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    scheme: WeightedScheme,
    runner: Runner,
) -> WeightedSets:
    """Read some documents again and weigh their shingles.

    As ``read_sets``; memory 16 bytes a shingle. A set may be empty: one of shingles without weight.
    """
    capacities = _gather(catalogues, wanted, lambda n: np.maximum(n - plan.shingles.ngram + 1, 1))
    starts: Int64s = np.cumsum(capacities) - capacities
    n, n_most = len(starts), int(capacities.sum())
    values, weights = np.empty(n_most, np.uint64), np.empty(n_most, np.int64)
    sizes, totals = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def write(texts: Texts, places: Int64s) -> bool:
        token_lists = plan.shingles.tokenizer.hash_tokens(texts)
        found = weighted_sets(token_lists, plan.shingles, scheme)
        if (found.sizes > capacities[places]).any():
            return False
        for source, target in ((found.values, values), (found.weights.view(np.uint64), weights)):
            shingles.copy_sets(
                source, found.starts, found.sizes, target.view(np.uint64), starts[places]
            )
        sizes[places], totals[places] = found.sizes, found.totals
        return True

    _read_again(catalogues, wanted, plan, write, runner)
    return WeightedSets(values, weights, starts, sizes, totals)


def read_token_lists(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    runner: Runner,
) -> TokenLists:
    """Read some documents again and hash their tokens.

    As ``read_sets``; memory 8 bytes a token.
    """
    lengths = _gather(catalogues, wanted, lambda n: n)
    offsets: Int64s = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    lists = TokenLists(np.empty(int(offsets[-1]), np.uint64), offsets)

    def write(texts: Texts, places: Int64s) -> bool:
        found = plan.shingles.tokenizer.hash_tokens(texts)
        sizes = np.diff(found.offsets)
        if not np.array_equal(sizes, lengths[places]):
            return False
        shingles.copy_sets(
            found.values, found.offsets[:-1].copy(), sizes, lists.values, offsets[places]
        )
        return True

    _read_again(catalogues, wanted, plan, write, runner)
    return lists


def _gather(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    of_tokens: Callable[[Int64s], Int64s],
) -> Int64s:
    """Work out something of the token counts of the wanted documents, by place."""
    n_places = sum(int((places >= 0).sum()) for places in wanted)
    gathered: Int64s = np.zeros(n_places, np.int64)
    for catalogue, places in zip(catalogues, wanted, strict=True):
        chosen = places >= 0
        gathered[places[chosen]] = of_tokens(catalogue.n_tokens[chosen])
    return gathered


def _read_again(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: ReadingPlan,
    write: _Write,
    runner: Runner,
) -> None:
    """Read the wanted documents again; ``write`` takes some texts and their places."""

    def fill(item: tuple[Source, ColumnNames, RowBlock, Int64s]) -> int:
        source, columns, block, places = item
        select: Bools = places >= 0
        parsed = block.parse(columns, select=select, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(parsed.text)
        targets = places[select]
        done = 0
        for part in texts.slices(SLICE_BYTES):
            if not write(part, targets[done : done + len(part)]):
                message = "a text has changed since it was first read; run again when it is at rest"
                raise ReadError(message, path=source.name)
            done += len(part)
        return len(targets)

    count = runner.counter("compare", sum(int((places >= 0).sum()) for places in wanted))
    work = (
        item
        for catalogue, places in zip(catalogues, wanted, strict=True)
        for item in _wanted_blocks(catalogue, places)
    )
    for n_read in runner.map(fill, work):
        count(n_read)


def _wanted_blocks(
    catalogue: Catalogue, places: Int64s
) -> Iterator[tuple[Source, ColumnNames, RowBlock, Int64s]]:
    columns = catalogue.columns.only_text()
    for source, start, stop in catalogue.ranges():
        if not (places[start:stop] >= 0).any():
            continue
        for block, rows in numbered_blocks(source, start, stop):
            if (places[rows] >= 0).any():
                yield source, columns, block, places[rows]


def numbered_blocks(source: Source, start: int, stop: int) -> Iterator[tuple[RowBlock, slice]]:
    """Read a source again; give each block with the range of its documents' numbers.

    Raises
    ------
    ReadError
        If the source no longer has the rows that it had.
    """
    first = start
    for block in source.blocks():
        rows = slice(first, first + len(block))
        first = rows.stop
        if first > stop:
            break
        yield block, rows
    if first != stop:
        message = "the file has changed since it was first read; run again when it is at rest"
        raise ReadError(message, path=source.name)
