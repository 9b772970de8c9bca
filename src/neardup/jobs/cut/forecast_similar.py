"""What a cut of similar passages would take, told from a sample of its input and trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np

from neardup.files.rows import Source
from neardup.jobs.cut.passages import ReadTokensInThreads, open_cutter
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import keep_order
from neardup.passages.additions import segment_tokens_within
from neardup.passages.cut_texts import RemovedPassages
from neardup.passages.documents import PassageReading
from neardup.passages.index_size import (
    BATCHES,
    INDEX_SECONDS,
    LEAST_BATCH,
    LEAST_PART,
    OF_QUERY,
    PARTS_A_SLOT,
    IndexSize,
    expect_index,
)
from neardup.passages.lookup import FILES_SHARE, QUERIES_SHARE, SEARCH_SHARE
from neardup.passages.turns import CutInRounds, SomeTurns, Turned, Watched
from neardup.reading.drawn import DrawnTokens, draw_tokens
from neardup.reading.token_pass import TOKENS_SHARE
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.stages.bench import (
    Bench,
    Timed,
    TrialRows,
    group,
    runs_of_block,
    seconds_for,
    shares_of_trials,
)
from neardup.stages.forecasts import (
    PROCESS,
    Between,
    Executors,
    Growth,
    Planned,
    Spread,
    StageForecast,
    StagesForecast,
    bytes_without,
    expect_distinct,
)
from neardup.stages.options import other_columns_of
from neardup.tables import Int64s

# Bytes of a document, of a passage that goes, of a token with its place, and of one while an index
# of it is made.
_DOCUMENT, _GONE, _LOCATED, _MADE = 60, 600, 24, 25
# Where not all that is searched is in memory, texts are cut once more to foresee what they will be.
_FORESEEN = 2.0
# Bytes of text that are cut for trial, at first, and twice as many until one takes so long on one
# core; after so many no other round is begun. What rounds behind the first take, for each second of
# that, may be so many times as long or short, and where they are not few it grows with that power
# of the documents at most.
_PART_BYTES, _PART_SECONDS, _MOST_PART_SECONDS = 250_000, 0.6, 4.0
_LATER_OFF, _FEW_ROUNDS, _MOST_GROWTH = 1.5, 3, 0.6
# Into so many groups documents are parted that have their turns: what is found first is dear.
_GROUPS = 256
# Seconds of one core: a byte of text that is written, and a token of a document that is read again.
_WRITE, _LOCATE = 1.5e-9, 0.1e-6
# On Spark: bytes of a token of an index, and of what goes as it travels; the
# share of its seconds in which the driver foresees what texts will be; and how the work of a
# look-up grows with parts; how often a text is looked up in the first turn; and what the driver
# holds of a token of those that it foresees.
_STORED, _PACKED, _FORESEEING, _MORE_IN_PARTS, _ANEW = 5.5, 25, 0.35, 0.585, 1.2
_FORESEEN_TOKEN = 190
# Where a trial has cut all documents, more may stay of all.
_LEAST_KEPT = 1e-3


@dataclass(frozen=True)
class _Trial:
    """What of all documents cuts of some tell, and seconds of one core, the reading apart.

    The share ``cut`` of the documents loses something: ``passages``, which have ``tokens`` in all.
    Of the seconds a share is one thread ``alone``.
    """

    cut: float
    passages: Between
    tokens: float
    seconds: Between
    alone: float


def forecast_similar_passages(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    runner: Runner,
    planned: Planned,
) -> StagesForecast:
    """Tell what a cut would take of a sample of the documents; some of them are cut for trial."""
    assert plan.scheme is not None
    tokenizer, skip_bad = plan.scheme.tokenizer, plan.reading.skip_bad
    own = draw_tokens(sources, plan.reading.columns, skip_bad, tokenizer, runner)
    drawn = [own]
    if against:
        other = other_columns_of(plan.options)
        drawn.append(draw_tokens(against, other, skip_bad, tokenizer, runner))
    distinct = expect_distinct(own.parts, own.scaled(1))
    index = expect_index(own.tokens, distinct, 0, planned.memory, planned.workers)
    trial = _try(drawn, plan, index, planned)
    documents = sum(each.rows.n_documents for each in drawn)
    tokens = sum(each.tokens for each in drawn)
    passages = round(trial.passages.number)
    # What takes turns is looked up: the other collection, if there is one.
    asked = drawn[-1].tokens
    known = _DOCUMENT * documents
    always = PROCESS + known
    listed = planned.within(8 * tokens, TOKENS_SHARE)
    held = always + listed
    read = planned.spilled(8 * tokens, TOKENS_SHARE)
    at_a_time = 0 if index.fits else planned.within(asked * OF_QUERY, QUERIES_SHARE)
    seconds = trial.seconds.times(trial.alone + (1 - trial.alone) / planned.workers)
    if not index.fits:
        again = index.ready_seconds(asked) / planned.workers
        seconds = seconds.times(_FORESEEN).plus(again)
    reading = sum(each.rows.reading for each in drawn)
    tokenizing = sum(each.scaled(each.tokenizing) for each in drawn)
    locating = own.scaled(own.tokenizing) + own.tokens * _LOCATE
    going = _GONE * passages
    located = own.under_way(planned.workers, of_token=_LOCATED) if passages else 0.0
    stages = [
        StageForecast(
            "read",
            int(held + max(each.under_way(planned.workers) for each in drawn)),
            read,
            max(reading, (reading + tokenizing) / planned.workers) + planned.spill_seconds(read),
            "tokens of the texts",
            Spread(
                reading,
                tokenizing,
                sent=0,
                stored=sum(each.scaled(each.packed_tokens) for each in drawn),
                held=known + listed,
                files=read,
                jobs=3,
            ),
        ),
        StageForecast(
            "cut",
            int(
                held
                + max(
                    _MADE * min(segment_tokens_within(Workspace(planned.memory)), own.tokens),
                    planned.within(index.searched, SEARCH_SHARE)
                    + planned.within(index.stored, FILES_SHARE)
                    + at_a_time,
                )
                + going
            ),
            int(read + index.stored),
            seconds.number,
            "segments that are searched, and what is looked up",
            _cut_on_executors(planned.executors, drawn, trial, known + listed + going)
            if planned.executors
            else Spread(),
        ),
        StageForecast(
            "locate",
            int(held + located + going),
            read,
            own.rows.reading + trial.cut * locating / planned.workers,
            "documents that lose something, read again",
            Spread(
                own.rows.reading,
                trial.cut * locating,
                held=known + listed + going,
                files=read,
                jobs=2,
            ),
        ),
        StageForecast(
            "write",
            int(always + own.under_way(planned.workers, of_token=0) + going),
            read,
            own.rows.reading + own.bytes * _WRITE / min(planned.workers, len(sources) or 1),
            "rows without what goes",
            Spread(
                own.rows.reading,
                own.bytes * _WRITE,
                sent=_PACKED * passages,
                held=known + going,
                whole=True,
                jobs=2,
            ),
        ),
    ]
    counts = {"tokens": round(tokens), "passages_that_go": passages}
    output = bytes_without(sources, own, trial.tokens * own.bytes / max(1.0, own.tokens), passages)
    between = {"passages_that_go": trial.passages}
    if planned.executors is None:
        known_seconds = sum(each.seconds for each in stages) - seconds.number
        between["seconds"] = seconds.plus(known_seconds)
    return StagesForecast.of(
        drawn, planned, stages, counts, output, sources, against, between=between
    )


def _cut_on_executors(
    executors: Executors, drawn: Sequence[DrawnTokens], trial: _Trial, held: float
) -> Spread:
    """Return what executors have of a cut, whose texts are looked up in parts of an index.

    Half of these, in the mean, have something for a text of the same collection, of which some are
    looked up once more because they were not foreseen. What has lost something is indexed for a
    second turn, and a little of that for a third, and all texts are looked up in either.
    """
    indexed, asked, seconds = drawn[0].tokens, drawn[-1].tokens, trial.seconds.number
    is_alone = len(drawn) == 1
    n_parts = executors.parts(
        indexed, PARTS_A_SLOT, LEAST_PART, segment_tokens_within(Workspace(executors.task_bytes))
    )
    looked_in = _ANEW * (n_parts + 1) / 2 if is_alone else n_parts
    if trial.cut:
        looked_in += -(-trial.cut * n_parts // 1) + 1
    n_batches = min(BATCHES, max(1.0, asked / LEAST_BATCH))
    sent = drawn[0].scaled(drawn[0].packed_tokens) * (1 + trial.cut)
    sent += drawn[-1].scaled(drawn[-1].packed_tokens) * looked_in
    return Spread(
        work=seconds * n_parts**_MORE_IN_PARTS + indexed * INDEX_SECONDS,
        alone=_FORESEEING * seconds if is_alone else 0.0,
        sent=sent,
        rows=8 * (indexed + asked * looked_in),
        stored=_STORED * indexed,
        met=_MADE * indexed,
        parts=n_parts,
        held=held + (_FORESEEN_TOKEN * asked / n_batches if is_alone else 0),
        jobs=2 + round(n_batches),
    )


def _try(
    drawn: Sequence[DrawnTokens], plan: CutJobPlan, index: IndexSize, planned: Planned
) -> _Trial:
    """Cut some documents, and let some have their turns among as many as may be.

    What rounds behind the first take, and the passages that others have, are told from the first.
    """
    own, asked = drawn[0], drawn[-1]
    share, least = shares_of_trials(drawn)
    fitting = SEARCH_SHARE * planned.memory / max(1.0, index.searched * own.rows.share)
    share = min(share, max(fitting, least))
    with Runner(planned.workers) as runner:
        cut = partial(_cut_part, drawn, share, plan, runner=runner)
        # What is loaded for the first ones is no work of the documents.
        cut(least)
        part = min(share, _PART_BYTES / max(1, own.text_bytes))
        found = cut(part)
        while found.seconds < _PART_SECONDS and part < share:
            part = min(share, 2 * part)
            found = cut(part)
        is_all = found.is_whole and found.share >= 1 and asked.rows.share * share >= 1
        if is_all or not all(each.text_bytes for each in drawn):
            return found.of_all()
        with ExitStack() as kept:
            return _let_turn(drawn, share, found, plan, runner, kept)


@dataclass(frozen=True)
class _Part:
    """A share of all documents, ``n``, that were cut: what went, and how long that took.

    Seconds are those of one core, of which a share was one thread ``alone``; so were those of each
    of the ``rounds``.
    """

    share: float
    n: int
    sides: Sequence[TrialRows]
    found: RemovedPassages
    tokens: int
    rounds: list[float]
    seconds: float
    alone: float
    is_whole: bool

    @property
    def cut(self) -> float:
        """The share of them that has lost something."""
        return len(np.unique(self.found.documents)) / max(1, self.n)

    @property
    def rounds_seconds(self) -> float:
        """Seconds of all rounds; those that there was no time for take half as long, each time."""
        return sum(self.rounds) + (0.0 if self.is_whole else self.rounds[-1])

    @property
    def later(self) -> float:
        """How long rounds took that came behind the first, for each second of that."""
        return self.rounds_seconds / max(1e-9, self.rounds[0]) - 1 if self.rounds else 0.0

    def of_all(self) -> _Trial:
        """Return what it tells if these are all."""
        passages, seconds = float(len(self.found)), self.seconds
        return _Trial(
            self.cut,
            Between(passages, passages, passages),
            self.tokens,
            Between(seconds, seconds, seconds),
            self.alone,
        )


def _cut_part(
    drawn: Sequence[DrawnTokens],
    other_share: float,
    plan: CutJobPlan,
    share: float,
    *,
    runner: Runner,
) -> _Part:
    """Cut some documents of those that were drawn."""
    own, shares = drawn[0], [share, other_share]
    of_blocks = [runs_of_block(own, share), 1]
    sides = _take(drawn, plan, shares, of_blocks)
    others = sides[1].sources if len(sides) > 1 else ()
    reading = ReadTokensInThreads(sides[0].sources, others, plan, IN_MEMORY, runner)
    with open_cutter(CutInRounds, reading, plan, IN_MEMORY, runner) as cutter:
        cutter.most_seconds = _MOST_PART_SECONDS
        watched = Watched()
        with watched:
            found = cutter.cut()
    return _Part(
        sides[0].share,
        len(sides[0].sizes),
        sides,
        found,
        cutter.n_lost(found.documents),
        cutter.seconds,
        watched.seconds,
        min(1.0, watched.alone / max(watched.seconds, 1e-9)),
        cutter.is_whole,
    )


def _take(
    drawn: Sequence[DrawnTokens],
    plan: CutJobPlan,
    shares: Sequence[float],
    of_blocks: Sequence[int],
) -> list[TrialRows]:
    """Take so many of the documents that are cut, and of others, in so many runs of a block."""
    columns = [plan.reading.columns, other_columns_of(plan.options)]
    reads = [PassageReading(each, plan.reading.skip_bad) for each in columns]
    given = zip(drawn, reads, shares, of_blocks, strict=False)
    return [TrialRows(*each) for each in given]


def _let_turn(
    drawn: Sequence[DrawnTokens],
    share: float,
    last: _Part,
    plan: CutJobPlan,
    runner: Runner,
    kept: ExitStack,
) -> _Trial:
    """Let documents have their turns, for as long as a plan may take.

    Where as many as may be are but a part of all, the same ones tell among half of these how what
    they take and lose grows.
    """
    of_blocks = [runs_of_block(each, share / 2) for each in drawn]
    sides = _take(drawn, plan, [share, share], of_blocks)
    is_all = all(side.share >= 1 for side in sides)
    halves = sides if is_all else _take(drawn, plan, [share / 2, share / 2], of_blocks)
    n_groups = max(1, min(_GROUPS, len(halves[-1].sizes)))
    groups = group(halves[-1].sizes, n_groups)
    of_side = sides[-1].only_firsts(halves[-1].lengths, groups)
    indexed, asked = sides[0].share, halves[-1].share

    def let_turn(
        sides: Sequence[TrialRows], groups: Int64s, seconds: Callable[[float], float]
    ) -> Timed[Turned]:
        """Time groups until they have taken so long, with what is no part of the work."""
        bench = _Bench(sides, groups, plan, runner, kept)
        timed = Timed(bench, is_kept=True)

        def left() -> float:
            return seconds(timed.of_all().number) * timed.seconds / max(bench.seconds, 1e-9)

        while more := timed.more(int(groups.max()) + 1, left()):
            timed.look_up(more)
        return timed

    # What turns do not tell is told by the documents that were cut, which have theirs, too.
    asked_of_last = last.sides[-1].sizes
    known = let_turn(
        last.sides,
        group(asked_of_last, max(1, min(_GROUPS, len(asked_of_last)))),
        lambda _: max(_PART_SECONDS, last.seconds),
    )
    more = _rest_of_rounds(last)
    rest = more.by(known.of_all().inverse()).times(last.rounds_seconds or 1.0)
    growth = rest.number / asked / indexed
    timed = let_turn(sides, of_side, lambda expected: seconds_for(growth * expected))
    turned, seconds = timed.found, timed.of_all().times(1 / asked)
    cut = min(1.0, timed.of_all([each.n_cut for each in turned]).number / len(groups))
    lost = 1.0
    if not is_all:
        half = Timed(_Bench(halves, groups, plan, runner, kept), is_kept=True)
        if timed.n_groups > 1:
            half.look_up(range(1, timed.n_groups))
        if timed.seconds:
            of_rest = (1 - half.seconds / timed.seconds) * (1 - indexed) / (indexed / 2)
            seconds = seconds.times(min(max(1.0, 1.0 + of_rest), 1 / indexed))
        # A document is cut if any is there that is like it: near it, or among the others.
        n_cut, n_of_half = (sum(each.n_cut for each in found) for found in (turned, half.found))
        whole = _more_cut((indexed / 2, cut * n_of_half / max(1, n_cut)), (indexed, cut))
        cut, lost = whole, whole / cut if cut else 1.0
    alone = min(1.0, sum(each.alone for each in turned) / max(1e-9, timed.seconds))
    seconds = seconds.by(rest)
    if len(drawn) == 1:
        # All take at least as much more than some as they are more.
        least = last.rounds_seconds / last.share
        seconds = seconds.at_least(Between(least, least, least * more.high))
    seconds = seconds.plus((timed.making + timed.ready) / indexed)
    if len(drawn) > 1:
        # What goes of documents for others is told by those that were cut.
        n = len(last.found)
        passages = Between(n, n / 2, 2 * n).times(1 / last.share)
        return _Trial(last.cut, passages, last.tokens / last.share, seconds, alone)
    passages, tokens = (
        timed.of_all([getattr(each, name) for each in turned])
        .by(known.of_all([getattr(each, name) for each in known.found]).inverse())
        .times((n_gone or 1.0) * lost / asked)
        for name, n_gone in (("passages", len(last.found)), ("tokens", last.tokens))
    )
    # Few may have gone of those that were cut, and of more rounds more go.
    off = 1 + 2 / float(np.sqrt(1 + len(last.found)))
    off_by = Between(1.0, 1 / off, off * float(np.sqrt(more.high)))
    passages = passages.by(off_by).at_least(off_by.times(len(last.found) / last.share / off))
    return _Trial(cut, passages, tokens.number, seconds, alone)


class _Bench(Bench[Turned]):
    """Documents that have their turns: those that are cut, or others for which they are cut.

    ``seconds`` are those of one core, with what is no part of the work.
    """

    def __init__(
        self,
        sides: Sequence[TrialRows],
        groups: Int64s,
        plan: CutJobPlan,
        runner: Runner,
        kept: ExitStack,
    ) -> None:
        super().__init__(sides[-1:], [groups])
        others = sides[1].sources if len(sides) > 1 else ()
        reading = ReadTokensInThreads(sides[0].sources, others, plan, IN_MEMORY, runner)
        cutter = open_cutter(SomeTurns, reading, plan, IN_MEMORY, runner)
        self._turns, self._is_made = kept.enter_context(cutter), False
        own = reading.catalogues[1]
        # Texts that are cut stand in keep order, and others behind them.
        self._of_texts = groups if others else groups[keep_order(own, plan.keep)]
        self._first = len(own) if others else 0
        self.seconds = 0.0

    def look_up(self, groups: range, *, anew: bool = False) -> tuple[float, Turned]:
        if not self._is_made:
            watched = Watched()
            with watched:
                self._turns.index()
            self._is_made = True
            return watched.seconds, Turned()
        texts = np.flatnonzero((self._of_texts >= groups.start) & (self._of_texts < groups.stop))
        watched = Watched()
        with watched:
            turned = self._turns.take(self._first + texts)
        self.seconds += watched.seconds
        return turned.seconds, turned


def _rest_of_rounds(part: _Part) -> Between:
    """Tell how many times as long all rounds take as those of some documents, where that is 1.

    Of more documents there may be more rounds, if a few have not settled it.
    """
    growth = part.share**-_MOST_GROWTH if len(part.rounds) > _FEW_ROUNDS else 1.0
    later = Between(part.later, part.later / _LATER_OFF, part.later * _LATER_OFF * growth)
    return later.plus(1.0).times(1 / (1 + part.later))


def _more_cut(half: tuple[float, float], part: tuple[float, float]) -> float:
    """Tell the share of all documents that is cut, from those of two shares of them."""
    counted = [(n, n * -float(np.log(max(1 - cut, _LEAST_KEPT)))) for n, cut in (half, part)]
    return 1 - float(np.exp(-Growth.of(*counted).at(1.0)))
