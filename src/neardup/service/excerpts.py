"""Shared parts of a text and of a document, cut out with some text around."""

from __future__ import annotations

from dataclasses import dataclass

_AROUND = 80
_MOST_SHOWN = 600


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, with what stands before and behind it.

    ``is_cut`` says that the middle of the part is left out where ``tail`` begins.
    """

    before: str
    part: str
    tail: str
    after: str

    @property
    def is_cut(self) -> bool:
        """Whether the middle of the part is left out."""
        return bool(self.tail)


@dataclass(frozen=True)
class Shared:
    """What a text and a document have in common in one place."""

    similarity: float
    of_text: Excerpt
    of_document: Excerpt


def cut_out(text: str, start: int, stop: int) -> Excerpt:
    """Cut a part out of a text."""
    part, tail = text[start:stop], ""
    if len(part) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        part, tail = part[:half], part[-half:]
    before = text[max(start - _AROUND, 0) : start]
    return Excerpt(before, part, tail, text[stop : stop + _AROUND])


def shared_part(
    similarity: float, text: str, of_text: tuple[int, int], document: str, place: tuple[int, int]
) -> Shared:
    """Cut a shared part out of a text and of a document."""
    return Shared(similarity, cut_out(text, *of_text), cut_out(document, *place))
