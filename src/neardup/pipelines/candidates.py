"""Second pass over a collection: the shingle sets of the documents that are to be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from neardup.errors import ReadError
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.kernels import shingles
from neardup.pipelines.catalogue import SLICE_BYTES, Catalogue, SketchPlan
from neardup.progress import Progress
from neardup.tables import Bools, Int64s, ShingleSets, Texts
from neardup.text.shingles import shingle_sets
from neardup.workers import map_ordered


def read_sets(
    catalogues: Sequence[Catalogue],
    wanted: Sequence[Int64s],
    plan: SketchPlan,
    *,
    workers: int,
    progress: Progress,
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
    n_sets = sum(int((places >= 0).sum()) for places in wanted)
    capacities: Int64s = np.zeros(n_sets, np.int64)
    for catalogue, places in zip(catalogues, wanted, strict=True):
        chosen = places >= 0
        n_shingles = np.maximum(catalogue.n_tokens[chosen] - plan.shingles.ngram + 1, 1)
        capacities[places[chosen]] = n_shingles
    ends = np.cumsum(capacities)
    starts: Int64s = ends - capacities
    sets = ShingleSets(
        np.empty(int(capacities.sum()), np.uint64), starts, np.zeros(n_sets, np.int64)
    )

    def fill(item: tuple[RowBlock, Int64s]) -> int:
        block, places = item
        return _fill_sets(sets, capacities, block, places, plan)

    done = 0
    work = (
        item
        for catalogue, places in zip(catalogues, wanted, strict=True)
        for item in _wanted_blocks(catalogue, places)
    )
    for count in map_ordered(fill, work, workers):
        done += count
        progress("compare", done, n_sets)
    return sets


def _wanted_blocks(catalogue: Catalogue, places: Int64s) -> Iterator[tuple[RowBlock, Int64s]]:
    for source, start, stop in catalogue.ranges():
        if not (places[start:stop] >= 0).any():
            continue
        for block, rows in numbered_blocks(source, start, stop):
            if (places[rows] >= 0).any():
                yield block, places[rows]


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


def _fill_sets(
    sets: ShingleSets, capacities: Int64s, block: RowBlock, places: Int64s, plan: SketchPlan
) -> int:
    """Parse the wanted rows of a block and write their sets where they belong."""
    select: Bools = places >= 0
    parsed = block.parse(ColumnNames(plan.columns.text), select=select, skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text)
    targets = places[select]
    done = 0
    for part in texts.slices(SLICE_BYTES):
        found = shingle_sets(part, plan.shingles)
        here = targets[done : done + len(part)]
        if (found.sizes > capacities[here]).any() or (found.sizes == 0).any():
            message = "a text has changed since it was first read; run again when it is at rest"
            raise ReadError(message)
        shingles.copy_sets(found.values, found.starts, found.sizes, sets.values, sets.starts[here])
        sets.sizes[here] = found.sizes
        done += len(part)
    return len(targets)
