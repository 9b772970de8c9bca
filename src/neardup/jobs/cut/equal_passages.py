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
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from neardup.engine.engine import DOCUMENT, Engine, Partition, Read, Rows
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, change_of, locate_cuts
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import keep_order, read_collections
from neardup.passages.cutting import RemovedPassages
from neardup.passages.repeats import Samples, find_repeats, sample_windows
from neardup.reading.first_pass import part_of
from neardup.reading.second_pass import text_has_changed
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import hash_tokens
from neardup.runs.arrays import GrowingArray
from neardup.tables import Int64s, Texts, TokenLists, offsets_of
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

# Shares of the memory for tokens that are compared and for which of them begin a character, and as
# often as its samples a partition takes while they meet.
_TOKENS_SHARE, _HEADS_SHARE, _MEETING = 0.3, 0.05, 5

_HASH = "hash"


def _list_samples(
    plan: CutJobPlan, block: RowBlock, reading: ReadingPlan
) -> tuple[ListedBlock, pa.RecordBatch]:
    """List the documents of a block, with a row for each of their samples."""
    import pyarrow as pa

    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_tokens, parts = hash_tokens(texts, reading.shingles.tokenizer)
    found, n_before = [Samples.of_none()], 0
    for part in parts:
        samples = sample_windows(part, plan.min_tokens)
        found.append(samples._replace(documents=samples.documents + n_before))
        n_before += len(part)
    hashes, documents = map(np.concatenate, zip(*found, strict=True))
    rows = pa.RecordBatch.from_pydict({_HASH: hashes, DOCUMENT: documents})
    return listed(block, parsed, n_tokens, with_lengths=reading.with_lengths), rows


def _partitions_of(samples: pa.RecordBatch, n_partitions: int) -> Int64s:
    """Return in which of some partitions equal samples meet."""
    return part_of(numbers_of(samples, _HASH), n_partitions).astype(np.int64)


def cut_equal_passages(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the passages that go for an equal one."""
    with engine.stage("read") as note:
        collections = read_collections(sources, against, plan)
        read = engine.read("samples", collections, partial(_list_samples, plan), _partitions_of)
        other, own = read.catalogues
        note(documents=len(own), samples=read.rows.n_rows)
    with engine.stage("cut") as note:
        n_other = len(other)
        found = find_repeats(
            partial(_each_part, engine, read.rows),
            _TokensAgain(engine, read),
            np.concatenate([np.arange(n_other), n_other + keep_order(own, plan.keep)]),
            plan.min_tokens,
            plan.options.min_documents or 1,
            n_against=n_other,
        )
        engine.release(read)
        note(passages=len(found))
    with engine.stage("locate"):
        gone = RemovedPassages(similarities=np.ones(len(found)), **vars(found))
        spans = locate_cuts(gone, (other, own), plan, partial(engine.read_again, read))
    return FoundSpans(other, own, spans, None, change_of(own, spans, plan))


def _each_part(engine: Engine, rows: Rows, look: Callable[[Samples], T]) -> Iterator[T]:
    """Look at the samples of all documents: an ``EachPart``."""
    for _, made in engine.collect(engine.work(rows, partial(_look_at, look)), "cut"):
        yield from (found for found, _ in made)


def _look_at(look: Callable[[Samples], T], partition: Partition) -> Iterator[tuple[T, None]]:
    """Look at the samples of a partition, those of one pass after the other."""
    n_passes = partition.count_passes(_MEETING)
    for number in range(n_passes):
        yield look(samples_in(partition.rows(), number, n_passes)), None


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

    def __call__(self, texts: Texts, places: Int64s, name: str) -> TokenLists:
        """Return the tokens of all of these documents."""
        tokens = self.tokenizer.hash_with_heads(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        return tokens


class _TokensAgain:
    """Reads documents again: gives the tokens of some, in memory or in a file that is mapped."""

    def __init__(self, engine: Engine, read: Read) -> None:
        self._engine, self._read = engine, read
        self._names = map("tokens-{}".format, count())

    def __call__(self, documents: Int64s) -> TokenLists:
        n_tokens = np.concatenate([each.n_tokens for each in self._read.catalogues])[documents]
        tokenizer, workspace = self._read.reading.shingles.tokenizer, self._engine.workspace
        name, tokens = next(self._names), Tokens(tokenizer, n_tokens)
        with (
            GrowingArray(name, np.uint64, workspace, share=_TOKENS_SHARE) as values,
            GrowingArray(f"{name}-heads", np.bool_, workspace, share=_HEADS_SHARE) as heads,
        ):
            has_heads = heads.is_there or not tokenizer.splits_characters
            if not (values.is_there and has_heads):
                for found in self._engine.read_again(self._read, documents, tokens):
                    if not values.is_there:
                        values.append(found.values)
                    if not has_heads:
                        heads.append(found.heads)
        return TokenLists(values.array, offsets_of(n_tokens), heads.array)
