"""Hints: where the options that are usual are wrong for the texts, and which ones are right.

A job makes them, for its summary; commands print them, and Python functions warn of them. They
change no result: they follow from counts that the job has, and from the beginnings of some
documents, which are the same ones whatever the job is run with.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np

from neardup.errors import NeardupError, NeardupHint
from neardup.files.problems import option_name
from neardup.files.rawsource import RawSource
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.options.kinds import Choice
from neardup.tables import Int64s, TokenLists
from neardup.text.shingles import ShingleScheme

# What a summary says: the name of the hint, what is wrong, and options of which each is a remedy.
Hint = dict[str, Any]

# Documents that are looked at, and their characters.
_DOCUMENTS, _CHARACTERS = 128, 128_000
# Files that they are from, and of larger ones places, and bytes read at each.
_FILES, _PLACES, _PLACE_BYTES = 64, 8, 1 << 17
_LARGE = 1 << 20


class Beginnings:
    """The beginnings of some documents, spread over all sources; they are read if asked for.

    Of texts that come out of rows by much work those are looked at that the job has kept.
    """

    def __init__(self, sources: Sequence[Source], columns: ColumnNames) -> None:
        self._sources = sources
        self._columns = columns.only_text()

    @cached_property
    def texts(self) -> list[str]:
        """They themselves."""
        sources = [s for s in self._sources if not s.extracts_text or s.kept_texts is not None]
        n_files = _FILES if sum(s.size or 0 for s in sources) <= _LARGE * len(sources) else 2
        chosen = [sources[i * len(sources) // n_files] for i in range(n_files)] if sources else []
        chosen = list(dict.fromkeys(chosen))
        found: list[str] = []
        for source in chosen:
            # What cannot be read has ended the job, or it was left out.
            with suppress(NeardupError):
                found += self._read(source, -(-_DOCUMENTS // len(chosen)))
        most = _CHARACTERS // max(len(found), 1)
        return [text[:most] for text in found]

    def _read(self, source: Source, n_documents: int) -> list[str]:
        texts: list[str] = []
        blocks = list(_blocks(source))
        for block in blocks:
            select = np.arange(len(block)) < max(n_documents // len(blocks), 1)
            rows = block.parse(self._columns, select=select, skip_bad=True).text.drop_null()
            texts += [text[:_CHARACTERS] for text in rows.to_pylist() if isinstance(text, str)]
        return texts


def _blocks(source: Source) -> Iterator[RowBlock]:
    """Read blocks at places of a large file, if its rows can be found there; else the first."""
    size = source.size or 0
    if source.piece_bytes is None or source.known_rows is not None or size <= _LARGE:
        if isinstance(source, RawSource):
            # Of a compressed file, or one with quoted line ends, a block is much to read.
            source = copy(source)
            source.block_bytes = _PLACE_BYTES
        return islice(source.blocks(), 1)
    starts = (i * (size - _PLACE_BYTES) // (_PLACES - 1) for i in range(_PLACES))
    ranges = [range(start, start + _PLACE_BYTES) for start in starts]
    return (block for _, block in source.sample_blocks(ranges) if len(block))


def hints_of_documents(
    options: Any,
    beginnings: Beginnings,
    *,
    n_documents: int,
    n_short: int,
    shingles: ShingleScheme,
) -> list[Hint]:
    """Make the hints of a job that compares documents by ``shingles``, made of its ``options``.

    ``n_short`` of ``n_documents`` have fewer tokens than a shingle.
    """
    tokenizer, ngram = shingles.tokenizer.name, shingles.ngram
    remedies: list[Mapping[str, Any]]
    if 2 * n_short > n_documents:
        remedies = [{"ngram": 2}]
        if tokenizer not in ("characters", "bytes"):
            remedies = [{"ngram": 1}, _CHARACTERWISE]
        if "max_distance" in options.known:
            remedies.append({"max_distance": 2})
        return [
            _hint(
                "short",
                f"most documents have fewer than {ngram} tokens, so that each is one shingle and "
                "similar only to equal ones",
                *_preset(options, "titles", *remedies),
            )
        ]
    if tokenizer != "words" or any(getattr(options, name, None) for name in _DECIDING):
        return []
    # Programs and OCR are found where they are, which takes some milliseconds.
    from neardup.text.kinds import are_code, are_misread

    if are_code(beginnings.texts):
        message = "most texts look like program source, in which names and layout change"
        remedies = _preset(options, "code", {"ngram": 3, "threshold": 0.5})
        return [_hint("code", message, *remedies)]
    if are_misread(beginnings.texts):
        message = "texts look misread, as by OCR: where one letter is wrong, so is the whole word"
        remedies = _preset(options, "ocr", {**_CHARACTERWISE, "ngram": 5, "threshold": 0.5})
        return [_hint("ocr", message, *remedies)]
    return []


_CHARACTERWISE = {"tokenizer": "characters"}
# Who gives one of these has chosen himself; of an index it is not known.
_DECIDING = ("tokenizer", "ngram", "preset")


# Partners of a document, and passages of each, from which on they are too many to be looked at.
_MANY, _TIMES = 20, 5
# Beginnings of texts that are looked up before all, and the documents from which on it is worth it.
_HEADS, _HEAD_TOKENS, _LONG_JOB = 5, 400, 100

_log = logging.getLogger("neardup.hints")


class Flood:
    """Notices text that most of the ``n_documents`` of an alignment have.

    Without ``is_wanted`` it does not look: somebody has said what shall become of such text.
    """

    def __init__(self, n_documents: int, *, is_wanted: bool) -> None:
        self._n_documents, self._is_wanted = n_documents, is_wanted
        self.n_partners = 0
        """The most documents that one shares text with."""

    def is_one(self, n_partners: int) -> bool:
        """Return whether so many documents are most."""
        return self._is_wanted and n_partners >= _MANY and 2 * n_partners > self._n_documents

    def heads(self, tokens: TokenLists) -> TokenLists:
        """Return the beginnings of a few texts, for ``look``; of none where it does not look."""
        n = min(_HEADS, len(tokens)) if self._is_wanted and self._n_documents >= _LONG_JOB else 0
        rows = [i * len(tokens) // n for i in range(n)]
        starts, stops = tokens.offsets[rows], tokens.offsets[[row + 1 for row in rows]]
        stops = np.minimum(stops, starts + _HEAD_TOKENS)
        parts = [tokens.values[start:stop] for start, stop in zip(starts, stops, strict=True)]
        offsets = np.concatenate([[0], np.cumsum(stops - starts)]).astype(np.int64)
        return TokenLists(np.concatenate([tokens.values[:0], *parts]), offsets)

    def look(self, numbers: Sequence[int]) -> None:
        """Log it if most of the ``heads`` have so many partners, before all texts are aligned.

        Commands show it, while there is time to begin anew.
        """
        if 2 * sum(map(self.is_one, numbers)) > len(numbers):
            _log.info(
                "text that more than half of the documents have makes an alignment long: "
                "near-copies are better taken out before (dedup), and what most have left out with "
                "%s or %s",
                option_name("max_documents"),
                option_name("ignore"),
            )

    def add(self, queries: Int64s, documents: Int64s) -> None:
        """Take the passages of some queries."""
        pairs = np.unique(np.stack([queries, documents]), axis=1)
        counts = np.unique(pairs[0], return_counts=True)[1]
        self.n_partners = max(self.n_partners, int(counts.max(initial=0)))


def hints_of_letters(beginnings: Beginnings, shingles: ShingleScheme) -> list[Hint]:
    """Make the hint of passages that are compared by single letters, for few of an alphabet.

    It is logged, too, because such a job takes long: commands show it before that begins.
    """
    if shingles.ngram > 1 or shingles.tokenizer.name != "words":
        return []
    from neardup.text.kinds import are_bare_letters

    if not are_bare_letters(beginnings.texts):
        return []
    message = (
        "texts are in a script without spaces, of few letters, each a token: unlike passages share "
        "most of them"
    )
    _log.info("%s; %s of 3 compares them by more", message, option_name("ngram"))
    return [_hint("letters", message, {"ngram": 3})]


def hints_of_flood(flood: Flood, n_documents: int, n_passages: int) -> list[Hint]:
    """Make the hint of an alignment that has found what most of ``n_documents`` have."""
    n_partners = flood.n_partners
    if not flood.is_one(n_partners) or n_passages < _TIMES * n_documents:
        return []
    message = (
        f"one document shares text with {n_partners:,} of {n_documents:,}: what most have, such as "
        f"a licence or a prompt, makes many of the {n_passages:,} passages; near-copies are better "
        "taken out before (dedup)"
    )
    return [_hint("flood", message, {"max_documents": "10%"}, {"ignore": "FILE"})]


def _preset(options: Any, name: str, *otherwise: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the preset of a name as the remedy, if the job has it; else other options."""
    preset = options.known.get("preset")
    there = preset is not None and isinstance(preset.kind, Choice) and name in preset.kind.values
    return [{"preset": name}] if there else list(otherwise)


def _hint(name: str, message: str, *remedies: Mapping[str, Any]) -> Hint:
    return {"name": name, "message": message, "try": [dict(each) for each in remedies]}


class Summarised(Protocol):
    """What has a summary."""

    @property
    def summary(self) -> dict[str, Any]:
        """What a job says of its run."""


ResultT = TypeVar("ResultT", bound=Summarised)


def with_warning(result: ResultT) -> ResultT:
    """Return a result, and warn once of all its hints, if it has any.

    The caller is a public function, and the line that is named its own caller's.
    """
    hints = result.summary["hints"]
    if hints:
        # Above are the function, and the wrapper that checks its options.
        warnings.warn("; ".join(map(_in_python, hints)), NeardupHint, stacklevel=4)
    return result


def _in_python(hint: Hint) -> str:
    ways = (", ".join(f"{name}={value!r}" for name, value in way.items()) for way in hint["try"])
    return f"{hint['message']}; try {' or '.join(ways)}"
