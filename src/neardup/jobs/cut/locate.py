"""Where passages stand in their texts, and how much goes with them when they are cut out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.passages.places import character_spans
from neardup.reading.catalogue import Catalogue
from neardup.reading.plan import ReadingPlan
from neardup.reading.second_pass import read_texts, text_has_changed
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, Texts


@dataclass(frozen=True)
class Located:
    """Characters of passages; ``wide`` ones with what has no place in the text without them."""

    starts: Int64s
    stops: Int64s
    wide_starts: Int64s
    wide_stops: Int64s


def locate_passages(
    catalogues: Sequence[Catalogue],
    plan: ReadingPlan,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    runner: Runner,
) -> Located:
    """Read documents again and find where their passages stand.

    Parameters
    ----------
    catalogues
        The collections; their documents are numbered one collection after the other.
    plan
        How they were read.
    documents, starts, stops
        Of each passage its document, first token, and the one behind its last (n,).
    runner
        Does the work.

    Raises
    ------
    ReadError
        If a text is not what it was.
    """
    named, passages_of = np.unique(documents, return_inverse=True)
    places: Int64s = np.full(sum(map(len, catalogues)), -1, np.int64)
    places[named] = np.arange(len(named))
    sizes = [len(catalogue) for catalogue in catalogues]
    wanted = np.split(places, np.cumsum(sizes)[:-1])
    n_tokens = np.concatenate([catalogue.n_tokens for catalogue in catalogues])[named]
    order = np.argsort(passages_of, kind="stable")
    bounds = np.searchsorted(passages_of[order], np.arange(len(named) + 1))
    located = Located(*(np.empty_like(starts) for _ in range(4)))

    def locate(texts: Texts, own: Int64s, name: str) -> None:
        for k, place in enumerate(own.tolist()):
            text = Texts(texts.data, texts.offsets[k : k + 2])
            rows = order[bounds[place] : bounds[place + 1]]
            if not _locate(text, int(n_tokens[place]), rows, located):
                raise text_has_changed(name)

    def _locate(text: Texts, size: int, rows: Int64s, found: Located) -> bool:
        tokens, spans = plan.shingles.tokenizer.locate_tokens(text)
        if len(tokens.values) != size:
            return False
        first, last = starts[rows], stops[rows] - 1
        # Up to where the tokens before and behind reach; -1 and the end of the text for none.
        before = np.where(first > 0, spans.stops[np.maximum(first - 1, 0)], -1)
        n_bytes = int(text.offsets[1] - text.offsets[0])
        behind = np.where(last + 1 < size, spans.starts[np.minimum(last + 1, size - 1)], n_bytes)
        own_starts, own_stops = spans.starts[first], spans.stops[last]
        found.starts[rows], found.stops[rows] = character_spans(
            text.to_arrow(), np.zeros(len(rows), np.int64), own_starts, own_stops
        )
        data = text.data[text.offsets[0] : text.offsets[1]]
        for i, row in enumerate(rows.tolist()):
            left = bytes(data[max(int(before[i]), 0) : own_starts[i]]).decode()
            right = bytes(data[own_stops[i] : behind[i]]).decode()
            n_left, n_right = margins(left, right, is_first=bool(before[i] < 0))
            found.wide_starts[row] = found.starts[row] - n_left
            found.wide_stops[row] = found.stops[row] + n_right
        return True

    for _ in read_texts(catalogues, wanted, plan, runner, locate):
        pass
    return located


def margins(left: str, right: str, *, is_first: bool) -> tuple[int, int]:
    """Return how many characters before and behind a passage go with it.

    Parameters
    ----------
    left, right
        What stands between the passage and the tokens around it.
    is_first
        No token stands before it.

    Notes
    -----
    Marks that adjoin the passage go with it, such as quotes and a full stop, and the space behind
    it, if there is one before it, too. A break of the line is not taken for a space that is none.
    """
    n_left = _marks_at_end(left)
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
    """Count the characters before the first space."""
    return next((i for i, mark in enumerate(gap) if mark.isspace()), len(gap))


def _marks_at_end(gap: str) -> int:
    """Count the characters behind the last space."""
    return _marks_at_start(gap[::-1])
