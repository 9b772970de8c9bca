"""Passages to cut, equal or similar, located in texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engine.engine import DOCUMENT, Engine, Read, RowPartition, TaskRows
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.cut_plan import CutJobPlan
from neardup.jobs.cut.spans import FoundSpans, change_of
from neardup.passages.cutting import cut_similar
from neardup.passages.passage_lookup import LookUp
from neardup.passages.passage_matches import character_spans
from neardup.passages.repeats import WindowSamples, find_repeats, sample_windows
from neardup.reading.passes import part_of, route_by_hash, text_has_changed
from neardup.reading.sign import ListedBlock, ReadingPlan, hash_in_parts, numbers_of
from neardup.runs.exchange import GrowingArray
from neardup.runs.work import WorkFolder, Workspace
from neardup.tables import Bools, CutSpans, Int64s, Texts, TokenLists, TokenSpans, offsets_of
from neardup.text.tokenizers import Tokenizer

T = TypeVar("T")

# Columns of tokens and of marks of tokens that begin a character. Their shares of the memory, if
# all documents are compared, and if only documents with a shared sample are.
_TOKEN, _HEAD = "token", "head"
_SHARES, _SHARES_OF_SOME = (0.5, 0.06), (0.3, 0.05)
# Ratio of a partition's memory to its samples.
_MEETING = 5

_HASH = "hash"


def cut_passages(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> FoundSpans:
    """Find the passages to remove because of an equal or similar one."""
    collections = plan.collections(sources, against)
    if plan.alignment is None:
        with engine.stage("read") as note:
            list_samples = partial(_list_samples, plan.min_tokens)
            read = engine.read(collections, list_samples, "samples", partial(route_by_hash, _HASH))
            note(documents=len(read.catalogues[1]), samples=read.rows.n_rows)
        with engine.stage("cut") as note:
            found = _find_equal(engine, read, plan)
            note(passages=len(found))
    else:
        with engine.stage("read") as note:
            read = engine.read(collections, _list_tokens, "rows")
            tokens = _collect_tokens(engine, read)
            note(documents=len(read.catalogues[1]), tokens=len(tokens.values))
        with engine.stage("cut") as note:
            found = _find_similar(engine, read, tokens, plan)
            note(passages=len(found))
    with engine.stage("locate"):
        spans = _locate_cuts(found, read, plan)
    other, own = read.catalogues
    return FoundSpans(other, own, change_of(own, spans, plan))


def _order_of(read: Read, plan: CutJobPlan) -> Int64s:
    """Return all documents in keep order, other ones first."""
    other, own = read.catalogues
    return np.concatenate([np.arange(len(other)), len(other) + plan.keep_order(own)])


def _list_samples(min_tokens: int, block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts = Texts.from_arrow(parsed.text, block.language)
    n_tokens, parts = hash_in_parts(texts, reading.shingles.tokenizer)
    found, n_before = [WindowSamples.of_none()], 0
    for part in parts:
        samples = sample_windows(part, min_tokens)
        found.append(samples._replace(documents=samples.documents + n_before))
        n_before += len(part)
    hashes, documents = map(np.concatenate, zip(*found, strict=True))
    rows = pa.RecordBatch.from_pydict({_HASH: hashes, DOCUMENT: documents})
    return ListedBlock.of(block, parsed, n_tokens, reading, rows)


def _find_equal(engine: Engine, read: Read, plan: CutJobPlan) -> CutSpans:
    names = map("tokens-{}".format, count())

    def tokens_of(documents: Int64s) -> TokenLists:
        n_tokens = np.concatenate([each.n_tokens for each in read.catalogues])[documents]
        tokenizer, workspace = plan.reading.shingles.tokenizer, engine.workspace
        name, (share, of_heads) = next(names), _SHARES_OF_SOME
        with (
            GrowingArray(name, np.uint64, workspace, share=share) as values,
            GrowingArray(f"{name}-heads", np.bool_, workspace, share=of_heads) as heads,
        ):
            has_heads = heads.is_stored or not tokenizer.splits_characters
            if not (values.is_stored and has_heads):
                for found in read.again(documents, _HashAgain(tokenizer, n_tokens)):
                    if not values.is_stored:
                        values.append(found.values)
                    if not has_heads:
                        heads.append(found.heads)
        return TokenLists(values.array, offsets_of(n_tokens), heads.array)

    return find_repeats(
        partial(_each_part, read.rows),
        tokens_of,
        _order_of(read, plan),
        plan.min_tokens,
        plan.options.min_documents or 1,
        n_against=len(read.catalogues[0]),
    )


def _each_part(rows: TaskRows, function: Callable[[WindowSamples], T]) -> Iterator[T]:
    """Yield a function's results for samples, with all equal ones in one part."""
    for _, made in rows.work(partial(_apply_to_parts, function)).collect("cut"):
        yield from (found for found, _ in made)


def _apply_to_parts(
    function: Callable[[WindowSamples], T], partition: RowPartition
) -> Iterator[tuple[T, None]]:
    n_passes = partition.count_passes(_MEETING)
    for number in range(n_passes):
        found = [WindowSamples.of_none()]
        for batch in partition.rows():
            samples = WindowSamples(numbers_of(batch, _HASH), numbers_of(batch, DOCUMENT))
            if n_passes > 1:
                # Partitions use the high half.
                passes = part_of(samples.hashes << np.uint64(32), n_passes)
                samples = samples.select(np.flatnonzero(passes == number))
            found.append(samples)
        yield function(WindowSamples(*map(np.concatenate, zip(*found, strict=True)))), None


@dataclass(frozen=True)
class _HashAgain:
    """Hash the tokens of documents with known token counts: ``TextFunction``."""

    tokenizer: Tokenizer
    n_tokens: Int64s

    def part(self, start: int, stop: int) -> _HashAgain:
        return _HashAgain(self.tokenizer, self.n_tokens[start:stop])

    def __call__(self, texts: Texts, places: Int64s, name: str) -> TokenLists:
        tokens = self.tokenizer.hash_with_heads(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        return tokens


def _list_tokens(block: RowBlock, reading: ReadingPlan) -> ListedBlock:
    """List the documents of a block, one row per token.

    If characters may have several tokens, rows mark tokens that begin one.
    """
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    texts, tokenizer = Texts.from_arrow(parsed.text, block.language), reading.shingles.tokenizer
    n_tokens, parts = hash_in_parts(texts, tokenizer, with_heads=True)
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    columns: dict[str, Any] = {_TOKEN: values}
    if tokenizer.splits_characters:
        heads = np.concatenate([np.empty(0, np.bool_), *(part.heads for part in parts)])
        columns[_HEAD] = heads.view(np.uint8)
    rows = pa.RecordBatch.from_pydict(columns)
    return ListedBlock.of(block, parsed, n_tokens, reading, rows)


def _collect_tokens(engine: Engine, read: Read) -> TokenLists:
    """Return all tokens, in memory or mapped files."""
    with ExitStack() as stack:
        values, heads = (
            stack.enter_context(
                GrowingArray(f"tokens-{column}", kind, engine.workspace, share=share)
            )
            for column, kind, share in zip((_TOKEN, _HEAD), ("u8", "?"), _SHARES, strict=True)
        )
        for _, [(_, batch)] in read.rows.collect("read"):
            assert batch is not None
            values.append(numbers_of(batch, _TOKEN))
            if _HEAD in batch.schema.names:
                heads.append(numbers_of(batch, _HEAD))
    sizes = np.concatenate([np.maximum(each.n_tokens, 0) for each in read.catalogues])
    return TokenLists(values.array, offsets_of(sizes), heads.array)


def _find_similar(engine: Engine, read: Read, tokens: TokenLists, plan: CutJobPlan) -> CutSpans:
    assert plan.alignment is not None
    assert plan.scheme is not None
    workspace = engine.workspace
    with workspace.temporary_folder() as folder:
        # No later run resumes from the files of a lookup.
        work = None if workspace.work is None else WorkFolder.temporary(folder, "found")
        own = Workspace(workspace.memory, work)
        look_up = LookUp(plan.scheme, plan.alignment.windows, engine.runner, own, folder)
        n_others, least = len(read.catalogues[0]), plan.options.min_documents
        order = _order_of(read, plan)
        return cut_similar(tokens, order, n_others, plan.alignment, least, look_up)


@dataclass(frozen=True)
class _Locate:
    """Locate passages in texts, from their token positions by document.

    Document k has ``n_tokens[k]`` tokens, and its passages are rows ``bounds[k]`` to ``bounds[k +
    1]``; those that ``are_wide`` include surrounding text to cut.
    """

    tokenizer: Tokenizer
    n_tokens: Int64s
    bounds: Int64s
    starts: Int64s
    stops: Int64s
    are_wide: Bools

    def part(self, start: int, stop: int) -> _Locate:
        bounds = self.bounds[start : stop + 1]
        rows = slice(bounds[0], bounds[-1])
        return _Locate(
            self.tokenizer,
            self.n_tokens[start:stop],
            bounds - bounds[0],
            self.starts[rows],
            self.stops[rows],
            self.are_wide[rows],
        )

    def __call__(self, texts: Texts, places: Int64s, name: str) -> Int64s:
        """Return starts and stops in characters, row by row."""
        tokens, spans = self.tokenizer.locate_tokens(texts)
        if not np.array_equal(np.diff(tokens.offsets), self.n_tokens[places]):
            raise text_has_changed(name)
        # The text of each passage, and its row.
        counts = self.bounds[places + 1] - self.bounds[places]
        which = np.repeat(np.arange(len(places)), counts)
        firsts = self.bounds[places] - (np.cumsum(counts) - counts)
        rows = firsts[which] + np.arange(len(which))
        # Its first and last token among the tokens of all texts.
        first = tokens.offsets[which] + self.starts[rows]
        last = tokens.offsets[which] + self.stops[rows] - 1
        starts, stops = character_spans(
            texts.to_arrow(), which, spans.starts[first], spans.stops[last]
        )
        wide = np.flatnonzero(self.are_wide[rows])
        n_left, n_right = _margins_of(texts, tokens, spans, which[wide], first[wide], last[wide])
        starts[wide] -= n_left
        stops[wide] += n_right
        return np.stack([starts, stops])


def _margins_of(
    texts: Texts,
    tokens: TokenLists,
    spans: TokenSpans,
    which: Int64s,
    first: Int64s,
    last: Int64s,
) -> Int64s:
    """Return the left and right margins of passages, given their texts and tokens."""
    is_first, is_last = first == tokens.offsets[which], last + 1 == tokens.offsets[which + 1]
    # Text up to the neighbouring tokens, or to the ends of the text.
    before = np.where(is_first, 0, spans.stops[np.maximum(first - 1, 0)])
    after = spans.starts[np.minimum(last + 1, len(spans) - 1)]
    after = np.where(is_last, np.diff(texts.offsets)[which], after)
    edges = np.stack([before, spans.starts[first], spans.stops[last], after])
    edges += texts.offsets[which]
    data = texts.data.data
    found = [
        margins(str(data[a:b], "utf-8"), str(data[c:d], "utf-8"), is_first=at_start)
        for (a, b, c, d), at_start in zip(edges.T.tolist(), is_first.tolist(), strict=True)
    ]
    return np.array(found, np.int64).reshape(-1, 2).T


@lru_cache(maxsize=4096)
def margins(left: str, right: str, *, is_first: bool) -> tuple[int, int]:
    """Return the number of characters to cut around a passage.

    ``left`` and ``right`` are the text between the passage and its neighbouring tokens, and
    ``is_first`` is whether the passage is the first in its text. Adjoining marks such as quotes and
    a full stop are cut with the passage, and so is the space after it, if there is one before it,
    too. Line breaks do not count as this space.
    """
    n_left = _marks_at_start(left[::-1])
    has_space = n_left < len(left) or is_first
    if not has_space:
        return 0, 0
    n_right = _marks_at_start(right)
    space = right[n_right : len(right) - len(right[n_right:].lstrip())]
    space_before = left[len(left[: len(left) - n_left].rstrip()) : len(left) - n_left]
    if "\n" not in space or "\n" in space_before or (is_first and not space_before):
        n_right += len(space)
    return n_left, n_right


def _marks_at_start(gap: str) -> int:
    return next((i for i, mark in enumerate(gap) if mark.isspace()), len(gap))


def _locate_cuts(found: CutSpans, read: Read, plan: CutJobPlan) -> CutSpans:
    """Convert tokens to characters, and widen cuts by adjoining space.

    Documents of both collections are numbered together, the other one first.
    """
    n = len(found)
    documents = np.concatenate([found.documents, found.kept_documents])
    starts = np.concatenate([found.starts, found.kept_starts])
    stops = np.concatenate([found.stops, found.kept_stops])
    n_tokens = np.concatenate([catalogue.n_tokens for catalogue in read.catalogues])
    order = np.argsort(documents, kind="stable")
    named, counts = np.unique(documents, return_counts=True)
    # Cut passages get wide positions, kept copies do not.
    locate = _Locate(
        plan.reading.shingles.tokenizer,
        n_tokens[named],
        offsets_of(counts),
        starts[order],
        stops[order],
        order < n,
    )
    located: Int64s = np.empty((2, len(order)), np.int64)
    located[:, order] = np.concatenate(
        [np.empty((2, 0), np.int64), *read.again(named, locate)], axis=1
    )
    starts, stops = located
    spans = CutSpans(
        found.documents - len(read.catalogues[0]),
        starts[:n],
        stops[:n],
        found.kept_documents,
        starts[n:],
        stops[n:],
        found.similarities,
    )
    keys = (spans.kept_starts, spans.kept_documents, spans.stops, spans.starts, spans.documents)
    return spans.take(np.lexsort(keys))
