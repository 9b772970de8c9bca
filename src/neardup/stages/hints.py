"""Hints for texts that the default options do not suit, with better options.

A job adds hints to its summary; commands print them, and Python functions warn. They do not change
a result.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from neardup.errors import NeardupError, NeardupHint, option_name
from neardup.files.rawrows import RawSource
from neardup.files.rows import ColumnNames, Source
from neardup.runs.progress import job_logger
from neardup.text.forms import UNSPACED_BLOCKS
from neardup.text.shingles import ShingleScheme

if TYPE_CHECKING:
    from neardup.outputs.summary_records import Hint

_log = job_logger("neardup.hints")


def hints_of_short(
    n_documents: int,
    n_short: int,
    shingles: ShingleScheme,
    *,
    noun: str = "documents",
    has_preset: bool = True,
    is_of_index: bool = False,
) -> list[Hint]:
    """Make a hint if most documents are shorter than a shingle.

    ``n_short`` of ``n_documents`` are. Without ``has_preset``, the job has no preset for short
    texts. With ``is_of_index``, the suggested options require a new index.
    """
    if 2 * n_short <= n_documents:
        return []
    message = (
        f"most {noun} have fewer than {shingles.ngram} tokens, so that each is one shingle and "
        "similar only to equal ones"
    )
    options: list[dict[str, Any]] = [{"preset": "titles"}]
    if not has_preset:
        is_of_words = shingles.tokenizer.name not in ("characters", "bytes")
        options = [{"ngram": 1}, {"tokenizer": "characters"}] if is_of_words else [{"ngram": 2}]
    return [{"name": "short", "message": message, "try": options, "index": is_of_index}]


def hints_of_letters(
    shingles: ShingleScheme,
    sources: Sequence[Source],
    columns: ColumnNames,
    *,
    is_early: bool = False,
    is_of_index: bool = False,
) -> list[Hint]:
    """Make a hint if single letters of scripts without spaces are compared.

    It reads the beginnings of some documents. With ``is_early``, the hint is also logged before a
    possibly long job. With ``is_of_index``, the suggested option requires a new index.
    """
    if (shingles.tokenizer.name, shingles.ngram) != ("words", 1):
        return []
    if not _are_letters(_beginnings(sources, columns.only_text())):
        return []
    message = (
        "texts are in a script without spaces, of few letters, each a token: unlike passages share "
        "most of them"
    )
    if is_early:
        _log.info("%s; %s of 3 compares them by more", message, option_name("ngram"))
    return [{"name": "letters", "message": message, "try": [{"ngram": 3}], "index": is_of_index}]


def has_chosen(options: object) -> bool:
    """Whether the user has given an option that defines the compared units."""
    return any(getattr(options, name, None) for name in ("tokenizer", "ngram", "preset"))


# Sources in the sample, bytes and documents read of each, and characters per document.
_SOURCES, _BYTES, _DOCUMENTS, _CHARACTERS = 8, 1 << 17, 16, 1000


def _beginnings(sources: Sequence[Source], columns: ColumnNames) -> list[str]:
    # Text extraction is slow, unless the job has cached the texts.
    cheap = [
        each
        for each in sources
        if not each.extracts_text or all(file.kept_texts is not None for file in each.files)
    ]
    n = min(_SOURCES, len(cheap))
    texts: list[str] = []
    for source in (cheap[i * len(cheap) // n] for i in range(n)):
        if isinstance(source, RawSource):
            source = copy(source)
            source.block_bytes = _BYTES
        # An unreadable source has ended the job already, or is skipped.
        with suppress(NeardupError):
            for block in source.blocks():
                select = np.arange(len(block)) < _DOCUMENTS
                rows = block.parse(columns, select=select, skip_bad=True).text.drop_null()
                texts += [str(text)[:_CHARACTERS] for text in rows.to_pylist()]
                break
    return texts


# Alphabets without spaces, such as Thai: they have so few letters that dissimilar passages share
# most of them. Chinese has many characters, and Japanese both.
_ALPHABETS = "".join(
    f"{chr(first)}-{chr(last)}"
    for first, last in UNSPACED_BLOCKS
    if last < 0x2E80 or 0xA9E0 <= first < 0xF900
)


def _are_letters(texts: Sequence[str]) -> bool:
    """Whether most tokens of the tokenizer ``words`` are letters of such an alphabet."""
    n_letters = sum(len(re.findall(f"[{_ALPHABETS}]", text)) for text in texts)
    if not n_letters:
        return False
    n_words = sum(len(re.findall(f"[^\\W{_ALPHABETS}]+", text)) for text in texts)
    return n_letters > n_words


class _Summarised(Protocol):
    @property
    def summary(self) -> Mapping[str, Any]: ...


ResultT = TypeVar("ResultT", bound=_Summarised)


def with_warning(result: ResultT) -> ResultT:
    """Return a result, and warn once of all its hints.

    The caller is a public function; the warning points to the line that called it.
    """
    hints = result.summary["hints"]
    if hints:
        # The frames: this function, the public one, its caller.
        warnings.warn("; ".join(map(_in_python, hints)), NeardupHint, stacklevel=3)
    return result


def _in_python(hint: Hint) -> str:
    ways = (", ".join(f"{name}={value!r}" for name, value in way.items()) for way in hint["try"])
    where = "an index with " if hint["index"] else ""
    return f"{hint['message']}; try {where}{' or '.join(ways)}"
