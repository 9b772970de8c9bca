"""What an index of passages takes, which is there or expected to be made, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.indexes.manifest import segment_bytes
from neardup.passages.additions import segment_tokens_within
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import QUERIES_SHARE, SEARCH_SHARE
from neardup.runs.work import Workspace

# On executors texts are looked up in so many batches, unless these would be of fewer tokens. The
# driver foresees what is new of each by a cut of that alone: many batches leave it little, but a
# job takes long.
BATCHES, LEAST_BATCH = 16, 1 << 20
# Parts of an index for each task that runs at the same time, so that these end together, unless
# they would be of fewer tokens: to look up in twice as many parts takes about half as much again.
PARTS_A_SLOT, LEAST_PART = 2, 1 << 20
# The same of an index that is there, of which a part has whole segments.
_SEGMENTS_A_SLOT, _LEAST_OF_SEGMENTS = 4, 1 << 21

# Bytes of a token of a segment that is made, in the mean; that many more are reckoned with where
# segments are cut.
_MADE = 53
# Bytes of a token of what is looked up at a time.
OF_QUERY = 60
# Of an index in files those of a token and of a different one beside the text; and of one that is
# searched in memory, with some of each thread for a different one.
_STORED, _STORED_ENTRY, _SEARCHED, _SEARCHED_ENTRY, _OF_THREAD = 6.2, 8, 10, 48, 12
# Seconds of one core: a token of an index that is made, and a byte of an index that is made ready
# for another turn.
INDEX_SECONDS, _READY_SECONDS = 0.35e-6, 7e-9


@dataclass(frozen=True)
class IndexSize:
    """Bytes of an index: while it is made, in files, and in memory while it is searched.

    ``memory`` is the budget of the job, which decides how large its ``n_segments`` are. One that
    ``is_there`` is not made, and has no files of the job's; its ``largest`` segment is searched as
    a whole, whatever the budget.
    """

    making: float
    stored: float
    searched: float
    memory: int
    n_segments: int
    is_there: bool = False
    largest: float = 0.0

    @classmethod
    def of(cls, index: OpenPassages, memory: int, workers: int) -> IndexSize:
        """Return that of an index that is there."""
        records = index.manifest.segments
        sizes = [searcher.memory_bytes(workers) for searcher in index.searchers]
        return cls(
            0,
            segment_bytes(records),
            sum(sizes),
            memory,
            len(records),
            is_there=True,
            largest=max(sizes, default=0),
        )

    @property
    def files(self) -> float:
        """Bytes of temporary files that have it."""
        return 0.0 if self.is_there else self.stored

    @property
    def fits(self) -> bool:
        """Whether all of it is in memory while it is searched."""
        return self.searched <= SEARCH_SHARE * self.memory

    def rounds(self, tokens: float) -> float:
        """Return in how many parts so many tokens are looked up."""
        return 1.0 if self.fits else max(1.0, tokens * OF_QUERY / (QUERIES_SHARE * self.memory))

    def ready_seconds(self, tokens: float) -> float:
        """Return the seconds of one core in which it is made ready to look so many tokens up."""
        return self.stored * _READY_SECONDS * self.rounds(tokens)


def expect_index(
    tokens: float, distinct: float, text_bytes: float, memory: int, workers: int
) -> IndexSize:
    """Tell from the tokens of texts, how many of them differ, and the texts that are kept."""
    of_segment = segment_tokens_within(Workspace(memory))
    n_segments = max(1, int(-(-tokens // of_segment)))
    # Each segment has most of the frequent tokens.
    entries = distinct if n_segments == 1 else distinct * min(n_segments, 2)
    return IndexSize(
        _MADE * min(of_segment, tokens),
        text_bytes + _STORED * tokens + _STORED_ENTRY * entries,
        _SEARCHED * tokens + (_SEARCHED_ENTRY + _OF_THREAD * workers) * entries,
        memory,
        n_segments,
    )


def bounds_of_parts(n_tokens: Sequence[int], slots: int) -> list[int]:
    """Return which segments of an index begin a part of it, and how many there are.

    Segments have so many tokens each, and ``slots`` parts are looked up in at the same time.
    """
    room = max(_LEAST_OF_SEGMENTS, sum(n_tokens) // (_SEGMENTS_A_SLOT * slots))
    bounds, n_together = [0], 0
    for number, own in enumerate(n_tokens):
        if n_together and n_together + own > room:
            bounds.append(number)
            n_together = 0
        n_together += own
    return [*bounds, len(n_tokens)]
