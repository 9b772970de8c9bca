"""Equal passages: documents that share samples of their text, and what of them goes.

The samples of all windows are exchanged by value, in memory while they fit, and in files of the
work folder from then on. Documents with one that is elsewhere, too, are read once more, and only
their tokens are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.passages import FoundSpans, OfTexts, locate_cuts, read_again_in_threads
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import keep_order, read_rows
from neardup.matching.join import cut_runs
from neardup.passages.cutting import RemovedPassages
from neardup.passages.repeats import Samples, find_repeats, sample_windows
from neardup.reading.block_exchange import BlockExchange, Sorted
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import part_of
from neardup.reading.second_pass import text_has_changed
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import hash_tokens
from neardup.runs.arrays import GrowingArray
from neardup.tables import Int64s, Texts, TokenLists, Uint64s, offsets_of
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace

T = TypeVar("T")

# By the hash: enough that samples of 20 GB of text are met within 1 GB in one pass each.
_N_PARTITIONS = 256

# Shares of the memory: samples that may stay or wait to be written, what partitions take that are
# met at the same time, of so many times the bytes of their rows, and tokens that are compared.
_SAMPLES_SHARE, _MEETING_SHARE, _TOKENS_SHARE = 0.25, 0.3, 0.3
_MEETING = 5
# Partitions are met together up to so many bytes of rows.
_PART_BYTES = 1 << 23

_HASH, DOCUMENT = "hash", "document"


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
    partitions = part_of(hashes, _N_PARTITIONS).astype(np.uint16)
    order = np.argsort(partitions, kind="stable")
    columns = {_HASH: hashes[order], DOCUMENT: documents[order]}
    batch = pa.RecordBatch.from_pydict(columns)
    return n_tokens, ((batch, partitions[order].astype(np.int64)), len(texts))


class Reading(Protocol):
    """Documents that are read, in threads or elsewhere."""

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, the other one first."""
        ...

    @property
    def n_samples(self) -> int:
        """How many samples all texts have."""
        ...

    def each_part(self, look: Callable[[Samples], T]) -> Iterable[T]:
        """Look at the samples of all documents: an ``EachPart``."""
        ...

    def read_again(self, documents: Int64s, function: OfTexts[T]) -> Iterator[T]:
        """Read some documents again, in their order: a ``ReadAgain``."""
        ...


def cut_equal_passages(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
    read: Callable[..., Reading] | None = None,
) -> FoundSpans:
    """Find the passages that go for an equal one; ``read`` reads documents, in threads if None."""
    with runner.stage("read") as note:
        reading = (read or _ReadInThreads)(sources, against, plan, workspace, runner)
        other, own = reading.catalogues
        note(documents=len(own), samples=reading.n_samples)
    with runner.stage("cut") as note:
        n_other = len(other)
        found = find_repeats(
            reading.each_part,
            _TokensAgain(reading, plan, workspace),
            np.concatenate([np.arange(n_other), n_other + keep_order(own, plan.keep)]),
            plan.min_tokens,
            plan.options.min_documents or 1,
            n_against=n_other,
        )
        note(passages=len(found))
    with runner.stage("locate"):
        gone = RemovedPassages(similarities=np.ones(len(found)), **vars(found))
        return other, own, locate_cuts(gone, (other, own), plan, reading.read_again), None


class _ReadInThreads:
    """Reads documents in threads: ``Reading``."""

    def __init__(
        self,
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        runner: Runner,
    ) -> None:
        look = partial(sample_texts, plan=plan)
        exchange = BlockExchange("samples", workspace, _N_PARTITIONS, share=_SAMPLES_SHARE)
        self.catalogues = read_rows(exchange, look, sources, against, plan, workspace, runner)
        self.n_samples = exchange.n_rows
        self.read_again = partial(read_again_in_threads, self.catalogues, plan.reading, runner)
        self._shuffle, self._runner = exchange.shuffle, runner
        sizes = np.array([self._shuffle.nbytes(each) for each in range(_N_PARTITIONS)])
        # Some partitions at a time, or of one that is too large a share of the hashes.
        n_passes = max(
            1, workspace.passes(_MEETING * int(sizes.max()) * runner.workers, _MEETING_SHARE)
        )
        self._parts = [
            (start, stop, number, n_passes)
            for start, stop in cut_runs(sizes, _PART_BYTES)
            for number in range(n_passes)
        ]

    def each_part(self, look: Callable[[Samples], T]) -> Iterator[T]:
        """Look at the samples of each partition."""
        return self._runner.map(lambda part: look(self._read(*part)), self._parts)

    def _read(self, start: int, stop: int, number: int, n_passes: int) -> Samples:
        batches = self._shuffle.read(start, n_partitions=stop - start)
        return samples_in(batches, number, n_passes)


def samples_in(batches: Iterable[pa.RecordBatch], number: int = 0, n_passes: int = 1) -> Samples:
    """Return the samples that stand in rows of ``sample_texts``, or those of a pass."""
    found = [Samples.of_none()]
    for batch in batches:
        samples = Samples(numbers_of(batch, _HASH), numbers_of(batch, DOCUMENT))
        if n_passes > 1:
            # Partitions are by the high half.
            passes = part_of(samples.hashes << np.uint64(32), n_passes)
            samples = samples.select(np.flatnonzero(passes == number))
        found.append(samples)
    return Samples(*map(np.concatenate, zip(*found, strict=True)))


@dataclass(frozen=True)
class Tokens:
    """Gives the tokens of documents, of which each had so many: ``OfTexts``."""

    tokenizer: Tokenizer
    n_tokens: Int64s

    def part(self, first: int, behind: int) -> Tokens:
        """Return what makes them of some of the documents."""
        return Tokens(self.tokenizer, self.n_tokens[first:behind])

    def __call__(self, texts: Texts, places: Int64s, name: str) -> Uint64s:
        """Return the tokens of all of these documents."""
        tokens = self.tokenizer.hash_tokens(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        return tokens.values


class _TokensAgain:
    """Reads documents again: gives the tokens of some, in memory or in a file that is mapped."""

    def __init__(self, reading: Reading, plan: CutJobPlan, workspace: Workspace) -> None:
        self._reading, self._workspace = reading, workspace
        self._tokenizer = plan.reading.shingles.tokenizer
        self._names = map("tokens-{}".format, count())

    def __call__(self, documents: Int64s) -> TokenLists:
        n_tokens = np.concatenate([each.n_tokens for each in self._reading.catalogues])[documents]
        with GrowingArray(
            next(self._names), np.uint64, self._workspace, share=_TOKENS_SHARE
        ) as values:
            if not values.is_there:
                tokens = Tokens(self._tokenizer, n_tokens)
                for found in self._reading.read_again(documents, tokens):
                    values.append(found)
        return TokenLists(values.array, offsets_of(n_tokens))
