"""Hints: where the options that are usual are wrong for the texts, and which ones are right.

A job makes them, for its summary; commands print them, and Python functions warn of them. They
change no result: they follow from counts that the job has, and from the beginnings of some
documents, which are the same ones whatever the job is run with.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from neardup.errors import NeardupError, NeardupHint
from neardup.files.problems import option_name
from neardup.files.rawsource import RawSource
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.options.kinds import Choice
from neardup.options.option import Option, Options
from neardup.runs.progress import job_logger
from neardup.tables import Int64s, TokenLists, offsets_of
from neardup.text.shingles import ShingleScheme

if TYPE_CHECKING:
    from neardup.outputs.summary_records import Hint

# What a summary says: the name of the hint, what is wrong, options of which each is a remedy, and
# whether these are of an index, to be made anew.
_log = job_logger("neardup.hints")

# Documents that are looked at, and their characters.
_DOCUMENTS, _CHARACTERS = 128, 128_000
# Files that they are from, if these are small, and bytes read of each.
_FILES, _LARGE, _FIRST_BYTES = 64, 1 << 20, 1 << 17


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
        found = [text for _, text in self._longer]
        most = _CHARACTERS // max(len(found), 1)
        return [text[:most] for text in found]

    @cached_property
    def pages(self) -> list[str]:
        """More of those that are web pages."""
        return [text for source, text in self._longer if "main_text" in source.input_options]

    @cached_property
    def _longer(self) -> list[tuple[Source, str]]:
        sources = [s for s in self._sources if not s.extracts_text or s.kept_texts is not None]
        # What a URL has costs a request, however small it is.
        sizes = [_LARGE + 1 if s.size is None else s.size for s in sources]
        n_files = _FILES if sum(sizes) <= _LARGE * len(sources) else 2
        chosen = [sources[i * len(sources) // n_files] for i in range(n_files)] if sources else []
        chosen = list(dict.fromkeys(chosen))
        found: list[tuple[Source, str]] = []
        for source in chosen:
            # What cannot be read has ended the job, or it was left out.
            with suppress(NeardupError):
                texts = self._read(source, -(-_DOCUMENTS // len(chosen)))
                found += [(source, text) for text in texts]
        return found

    def _read(self, source: Source, n_documents: int) -> list[str]:
        block = _first_block(source)
        if block is None:
            return []
        select = np.arange(len(block)) < n_documents
        rows = block.parse(self._columns, select=select, skip_bad=True).text.drop_null()
        return [text[:_CHARACTERS] for text in rows.to_pylist() if isinstance(text, str)]


def _first_block(source: Source) -> RowBlock | None:
    """Read the first rows of a source."""
    if isinstance(source, RawSource):
        # A whole block is more than is looked at.
        source = copy(source)
        source.block_bytes = _FIRST_BYTES
    return next(iter(source.blocks()), None)


# Who gives one of these has chosen himself.
_DECIDING = ("tokenizer", "ngram", "preset")


@dataclass(frozen=True)
class Remedies:
    """Options of which a hint may name some, and what it says of them.

    Parameters
    ----------
    known
        Those of the job, or of an index.
    are_chosen
        Whether somebody has chosen what texts are compared by.
    may_frame
        Whether of web pages all that is visible is read, menus too.
    are_of_index
        Whether it is an index that would have to be made anew.
    noun
        What the texts are called that are looked at.
    """

    known: Mapping[str, Option]
    are_chosen: bool
    may_frame: bool = False
    are_of_index: bool = False
    noun: str = "documents"

    @classmethod
    def of(cls, given: Any, kind: type[Options] | None = None) -> Remedies:
        """Take the options of a job, or those of a ``kind``; what nobody has given is None."""
        known = given.known if kind is None else kind.known
        may_frame = "main_text" in known and not given.main_text
        return cls(known, any(getattr(given, name, None) for name in _DECIDING), may_frame)

    @classmethod
    def of_index(
        cls, kind: type[Options], shingles: ShingleScheme, usual_ngram: int, noun: str = "documents"
    ) -> Remedies:
        """Take those that an index was made with; what is usual there nobody has chosen."""
        return cls(kind.known, shingles.ngram != usual_ngram, are_of_index=True, noun=noun)

    def hint(self, name: str, message: str, *ways: Mapping[str, Any]) -> list[Hint]:
        """Make a hint."""
        return [_hint(name, message, *ways, of_index=self.are_of_index)]

    def preset(self, name: str, *otherwise: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the preset of a name as the remedy, if there is one; else other options."""
        kind = self.known["preset"].kind if "preset" in self.known else None
        there = isinstance(kind, Choice) and name in kind.values
        return [{"preset": name}] if there else list(otherwise)


def hints_of_documents(
    remedies: Remedies,
    beginnings: Beginnings,
    *,
    n_documents: int,
    n_short: int,
    shingles: ShingleScheme,
) -> list[Hint]:
    """Make the hints of a job that compares documents by ``shingles``.

    ``n_short`` of ``n_documents`` have fewer tokens than a shingle.
    """
    tokenizer, ngram = shingles.tokenizer.name, shingles.ngram
    if 2 * n_short > n_documents:
        ways: list[Mapping[str, Any]] = [{"ngram": 2}]
        if tokenizer not in ("characters", "bytes"):
            ways = [{"ngram": 1}, _CHARACTERWISE]
        if "max_distance" in remedies.known:
            ways.append({"max_distance": 2})
        message = (
            f"most {remedies.noun} have fewer than {ngram} tokens, so that each is one shingle and "
            "similar only to equal ones"
        )
        return remedies.hint("short", message, *remedies.preset("titles", *ways))
    framed = _hints_of_frames(remedies, beginnings)
    if framed or tokenizer != "words" or remedies.are_chosen:
        return framed
    return _hints_of_code(remedies, beginnings) or _hints_of_misread(remedies, beginnings)


# Passages that have to be as similar, or equal, are lost where letters are misread. Of those that
# are half the same few are, and of those that are contained.
_STRICT = 0.6
# So many times as short are the least passages that are advised, and half of a text.
_SHORTER = 5


def hints_of_passages(
    remedies: Remedies,
    beginnings: Beginnings,
    *,
    shingles: ShingleScheme,
    threshold: float,
    of_units: bool = False,
    is_early: bool = False,
) -> list[Hint]:
    """Make the hints of a job that finds passages by ``shingles``, or lines or paragraphs.

    With ``is_early``, before the job begins, it is logged, too, that it may take long: commands
    show it.
    """
    if shingles.tokenizer.name != "words" or remedies.are_chosen:
        return []
    if not of_units:
        if shingles.ngram == 1 and (found := _hints_of_letters(remedies, beginnings)):
            if is_early:
                message, name = found[0]["message"], option_name("ngram")
                _log.info("%s; %s of 3 compares them by more", message, name)
            return found
        if found := _hints_of_code(remedies, beginnings):
            return found
    return _hints_of_misread(remedies, beginnings) if threshold >= _STRICT else []


def hints_of_short(
    remedies: Remedies,
    *,
    n_documents: int,
    n_short: int,
    n_tokens: int,
    min_tokens: int,
    ngram: int = 1,
) -> list[Hint]:
    """Make the hint of documents of which most are shorter than the least passage.

    ``n_tokens`` are those of all documents together.
    """
    mean = n_tokens // max(n_documents, 1)
    least = max(min(min_tokens // _SHORTER, mean // 2), ngram, 2)
    if 2 * n_short <= n_documents or least >= min_tokens:
        return []
    message = (
        f"most {remedies.noun} have fewer than {min_tokens} tokens, and nothing shorter is found"
    )
    return remedies.hint("short", message, {"min_tokens": least})


_CHARACTERWISE = {"tokenizer": "characters"}


# What kind of text it is, is found where it may matter: that takes a millisecond or two.


def _hints_of_frames(remedies: Remedies, beginnings: Beginnings) -> list[Hint]:
    from neardup.text.kinds import are_framed

    if not remedies.may_frame or not are_framed(beginnings.pages):
        return []
    message = (
        "most of what pages show stands on others of them, too, as menus and footers do, and makes "
        "unlike pages similar"
    )
    return remedies.hint("frames", message, {"main_text": True})


def _hints_of_code(remedies: Remedies, beginnings: Beginnings) -> list[Hint]:
    from neardup.text.kinds import are_code

    if not are_code(beginnings.texts):
        return []
    message = (
        "most texts look like program source, in which names and layout change, and symbols are no "
        "words"
    )
    return remedies.hint("code", message, *remedies.preset("code", {"ngram": 3, "threshold": 0.5}))


def _hints_of_misread(remedies: Remedies, beginnings: Beginnings) -> list[Hint]:
    from neardup.text.kinds import are_misread

    if not are_misread(beginnings.texts):
        return []
    message = "texts look misread, as by OCR: where one letter is wrong, so is the whole word"
    otherwise = {**_CHARACTERWISE, "ngram": 5, "threshold": 0.5}
    return remedies.hint("ocr", message, *remedies.preset("ocr", otherwise))


def _hints_of_letters(remedies: Remedies, beginnings: Beginnings) -> list[Hint]:
    from neardup.text.kinds import are_bare_letters

    if not are_bare_letters(beginnings.texts):
        return []
    message = (
        "texts are in a script without spaces, of few letters, each a token: unlike passages share "
        "most of them"
    )
    return remedies.hint("letters", message, {"ngram": 3})


# Partners of a document, and passages of each, from which on they are too many to be looked at.
_MANY, _TIMES = 20, 5
# Beginnings of texts that are looked up before all, and the documents from which on it is worth it.
_HEADS, _HEAD_TOKENS, _LONG_JOB = 5, 400, 100


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
        offsets = offsets_of(stops - starts)
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


def _hint(name: str, message: str, *ways: Mapping[str, Any], of_index: bool = False) -> Hint:
    return {"name": name, "message": message, "try": list(map(dict, ways)), "index": of_index}


class Summarised(Protocol):
    """What has a summary."""

    @property
    def summary(self) -> Mapping[str, Any]:
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
    where = "an index with " if hint["index"] else ""
    return f"{hint['message']}; try {where}{' or '.join(ways)}"
