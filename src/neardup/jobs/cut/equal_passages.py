"""Equal passages: documents that share samples of their text, and what of them goes.

The samples of all windows are exchanged by value, in memory while they fit, and in files of the
work folder from then on. Documents with one that is elsewhere, too, are read once more, and only
their tokens are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.passages import locate_cuts
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans, keep_order
from neardup.matching.join import cut_runs
from neardup.passages.cutting import RemovedPassages
from neardup.passages.repeats import Samples, find_repeats, sample_windows
from neardup.reading.block_exchange import BlockExchange, Sorted
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import part_of
from neardup.reading.second_pass import read_texts, text_has_changed
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import hash_tokens, take_texts
from neardup.runs.arrays import GrowingArray
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s, Texts, TokenLists, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace

T = TypeVar("T")

# By the hash: enough that samples of 20 GB of text are met within 1 GB in one pass each.
N_PARTITIONS = 256

# Shares of the memory: samples that may stay or wait to be written, what partitions take that are
# met at the same time, of so many times the bytes of their rows, and tokens that are compared.
_SAMPLES_SHARE, _MEETING_SHARE, _TOKENS_SHARE = 0.25, 0.3, 0.3
_MEETING = 5
# Partitions are met together up to so many bytes of rows.
_PART_BYTES = 1 << 23

_HASH, _DOCUMENT = "hash", "document"


def sample_texts(texts: pa.Array, plan: CutJobPlan) -> tuple[Int64s, tuple[Sorted, int]]:
    """Make a row of each sample of some texts; documents are counted from the first text.

    Returns how many tokens each text has; the rows, and how many texts there are.
    """
    import pyarrow as pa

    n_tokens, parts = hash_tokens(texts, plan.reading.shingles.tokenizer)
    found, n_before = [Samples.of_none()], 0
    for part in parts:
        samples = sample_windows(part, plan.min_tokens)
        found.append(samples._replace(documents=samples.documents + n_before))
        n_before += len(part)
    hashes, documents = map(np.concatenate, zip(*found, strict=True))
    partitions = part_of(hashes, N_PARTITIONS).astype(np.uint16)
    order = np.argsort(partitions, kind="stable")
    columns = {_HASH: hashes[order], _DOCUMENT: documents[order]}
    batch = pa.RecordBatch.from_pydict(columns)
    return n_tokens, ((batch, partitions[order].astype(np.int64)), len(texts))


def cut_equal_passages(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[Catalogue, Catalogue, CutSpans]:
    """Find the passages that go for an equal one.

    Returns both collections, the other one first, and what goes.
    """
    collections = [(against, other_columns_of(plan.options)), (sources, plan.reading.columns)]
    exchange = BlockExchange("samples", workspace, N_PARTITIONS, share=_SAMPLES_SHARE)
    kept = [exchange.kept_of(k, len(each)) for k, (each, _) in enumerate(collections)]
    with runner.stage("read") as note:
        with exchange.shuffle:
            other, own = take_texts(
                collections,
                plan.reading,
                partial(sample_texts, plan=plan),
                exchange.add,
                workspace,
                runner,
                kept,
            )
        note(documents=len(own), samples=exchange.n_rows)
    with runner.stage("cut") as note:
        n_other = len(other)
        found = find_repeats(
            _MetSamples(exchange, workspace, runner),
            _TokensAgain((other, own), plan, workspace, runner),
            np.concatenate([np.arange(n_other), n_other + keep_order(own, plan.keep)]),
            plan.min_tokens,
            plan.options.min_documents or 1,
            n_against=n_other,
        )
        note(passages=len(found))
    with runner.stage("locate"):
        gone = RemovedPassages(similarities=np.ones(len(found)), **vars(found))
        return other, own, locate_cuts(gone, (other, own), plan, runner)


class _MetSamples:
    """The samples of all documents, a part after the other: ``EachPart``."""

    def __init__(self, exchange: BlockExchange, workspace: Workspace, runner: Runner) -> None:
        self._shuffle, self._runner = exchange.shuffle, runner
        sizes = np.array([self._shuffle.nbytes(each) for each in range(N_PARTITIONS)])
        # Some partitions at a time, or of one that is too large a share of the hashes.
        n_passes = max(
            1, workspace.passes(_MEETING * int(sizes.max()) * runner.workers, _MEETING_SHARE)
        )
        self._parts = [
            (start, stop, number, n_passes)
            for start, stop in cut_runs(sizes, _PART_BYTES)
            for number in range(n_passes)
        ]

    def __call__(self, look: Callable[[Samples], T]) -> Iterator[T]:
        return self._runner.map(lambda part: look(self._read(*part)), self._parts)

    def _read(self, start: int, stop: int, number: int, n_passes: int) -> Samples:
        found = [Samples.of_none()]
        for batch in self._shuffle.read(start, n_partitions=stop - start):
            samples = Samples(numbers_of(batch, _HASH), numbers_of(batch, _DOCUMENT))
            if n_passes > 1:
                # Partitions are by the high half.
                passes = part_of(samples.hashes << np.uint64(32), n_passes)
                samples = samples.select(np.flatnonzero(passes == number))
            found.append(samples)
        return Samples(*map(np.concatenate, zip(*found, strict=True)))


class _TokensAgain:
    """Reads documents again: gives the tokens of some, in memory or in a file that is mapped."""

    def __init__(
        self,
        catalogues: tuple[Catalogue, Catalogue],
        plan: CutJobPlan,
        workspace: Workspace,
        runner: Runner,
    ) -> None:
        self._catalogues, self._plan = catalogues, plan
        self._workspace, self._runner = workspace, runner
        self._names = map("tokens-{}".format, count())

    def __call__(self, documents: Int64s) -> TokenLists:
        own, n_tokens = self._plan.reading, np.concatenate([c.n_tokens for c in self._catalogues])
        sizes = n_tokens[documents]
        places: Int64s = np.full(len(n_tokens), -1, np.int64)
        places[documents] = np.arange(len(documents))

        def read(texts: Texts, places: Int64s, name: str) -> Uint64s:
            tokens = own.shingles.tokenizer.hash_tokens(texts)
            if not np.array_equal(np.diff(tokens.offsets), sizes[places]):
                raise text_has_changed(name)
            return tokens.values

        with GrowingArray(
            next(self._names), np.uint64, self._workspace, share=_TOKENS_SHARE
        ) as values:
            if not values.is_there:
                wanted = np.split(places, [len(self._catalogues[0])])
                for _, found in read_texts(self._catalogues, wanted, own, self._runner, read):
                    values.append(found)
        return TokenLists(values.array, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
