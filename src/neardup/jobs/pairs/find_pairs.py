"""``find_pairs``: all pairs of similar documents, within one collection or between two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from neardup.engine.threads import ThreadEngine
from neardup.engine.workspaces import are_short, open_workspace
from neardup.files.resolve import resolve_inputs
from neardup.jobs.pairs.pair_result import PairResult
from neardup.jobs.pairs.run import PairJob
from neardup.options.choices import Data, DataOrIndex
from neardup.options.documents import PairOptions
from neardup.options.groups import DOCUMENTS, WorkerOptions, WorkspaceOptions
from neardup.options.option import argument, no_effect, takes
from neardup.options.together import GroupArguments
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.hints import with_warning

# Pairs that are made values of Python together.
_AT_ONCE = 1 << 12


class _Arguments(PairOptions, WorkspaceOptions, WorkerOptions, GroupArguments, kw_only=False):
    left: Data = argument(DOCUMENTS)
    right: DataOrIndex | None = argument(
        "A second collection: pairs are of one document of each. None: pairs within ``left``. "
        "In a ``DocumentIndex``, or the folder of one, documents are looked up, which decides "
        "all but the threshold; all its texts are read with method ``exact``, and for what "
        "needs that.",
        default=None,
    )


@takes(_Arguments)
def find_pairs(given: _Arguments) -> PairResult:
    """Find all pairs of similar documents, none missed, or the most similar.

    Returns
    -------
    ``pairs`` (Arrow table: id_a, id_b, similarity, and overlap or distance, but for
    ``weighted-jaccard``), ``counts`` (what the filters did) and ``summary``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``.
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Exact but for collisions of 64-bit hashes. Keeps within ``memory``, but for about 80 bytes a
    document, ``pairs``, the table, and with ``top`` some 50 bytes for each pair of a step. All at
    once it takes about 30 bytes a shingle, 80 where few are shared, 50 to 100 a weighted one, and
    50 a character for ``edit``; with less, records are joined in blocks, every two of which meet
    that may have similar ones: the time grows with the number of blocks.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "a dog", "the cat sat on a mat"]
    >>> neardup.find_pairs(texts, ngram=1, threshold="0.8").pairs.to_pylist()
    [{'id_a': '0', 'id_b': '2', 'similarity': 0.8333333333333334, 'overlap': 5}]
    >>> neardup.find_pairs(["Miller", "Muller", "Moeller"], max_distance=1).pairs.to_pylist()
    [{'id_a': '0', 'id_b': '1', 'similarity': 0.8333333333333334, 'distance': 1}]
    """
    return with_warning(_find(given))


class Pair(NamedTuple):
    """Two documents that are similar, by their ids."""

    id_a: str | int
    id_b: str | int
    similarity: float


@takes(_Arguments)
def iter_pairs(given: _Arguments) -> Iterator[Pair]:
    """Find all pairs of similar documents, and go through them one by one.

    Returns
    -------
    An iterator of pairs, in the order of ``find_pairs``.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError, ResultLimitError
        As ``find_pairs``, before the first pair.

    Notes
    -----
    All are found first, by the time and within the memory that ``find_pairs`` takes; those that do
    not fit are in files, which go with the iterator. A table of them is never made.

    Examples
    --------
    >>> import neardup
    >>> for a, b, similarity in neardup.iter_pairs(["Miller", "Muller", "Smith"], max_distance=1):
    ...     print(a, b, round(similarity, 3))
    0 1 0.833
    """
    if given.with_columns is not None:
        remedy = "call find_pairs"
        raise no_effect("with_columns", "on pairs that are gone through one by one", remedy)
    return _named(with_warning(_find(given)))


def _named(result: PairResult) -> Iterator[Pair]:
    for batch in result.rows():
        # A batch of values of Python takes ten times the room of its columns.
        for start in range(0, len(batch), _AT_ONCE):
            rows = batch.slice(start, _AT_ONCE)
            columns = (rows[name].to_pylist() for name in Pair._fields)
            yield from map(Pair, *columns)


def _find(given: _Arguments) -> PairResult:
    job = PairJob(
        given.part(PairOptions),
        resolve_inputs,
        given.left,
        given.right,
        given.idf_from,
        other="right",
    )
    with Runner(given.workers, given.progress, "pairs") as runner:
        # Inputs are found before a folder is made.
        sources = [*job.left, *(job.right or ()), *(job.counted or ())]
        # To ask what memory is free takes longer than a few texts.
        is_short = given.memory is None and given.work is None and are_short(sources)
        workspace = IN_MEMORY
        if not is_short:
            workspace = open_workspace(given.memory, given.work)
        return job.run(ThreadEngine(runner, workspace))
