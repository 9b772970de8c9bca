"""Functions as tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import index
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.tables import Texts, TokenLists, TokenSpans
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.strings import Place, folded_strings, hash_lists, locate_strings
from neardup.text.tokenizers.tokenizer import Tokenizer

TokenFunction = Callable[[str], Iterable[str | int | tuple[int, int] | tuple[str | int, int, int]]]
"""From a text to its tokens, in the order of the text.

Each is a string, an integer, or says where it stands, in characters of the text that the function
was given: (start, stop) is the text there, (token, start, stop) a string or integer that is
something else, such as a stem or a number. Strings alone stand one behind the other in the text.
"""


@dataclass(frozen=True)
class FunctionTokenizer(Tokenizer):
    """Calls a function for each text; as fast as that function."""

    function: TokenFunction
    normalisation: Normalisation

    @property
    def name(self) -> str:  # type: ignore[override]
        """Module and name of the function: give a changed function another name."""
        function = self.function
        return (
            f"{getattr(function, '__module__', '?')}."
            f"{getattr(function, '__qualname__', type(function).__name__)}"
        )

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash what the function returns: strings as their UTF-8 bytes, integers as 8 bytes."""
        strings = folded_strings(texts, self.normalisation)
        return hash_lists([[token for token, _ in self._read(text)] for text in strings])

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash what the function returns, and find where each token stands.

        Raises
        ------
        InvalidParameterError
            If a token does not stand where the function says, or not behind the one before it.
        """

        def cut(strings: list[str]) -> tuple[TokenLists, list[list[Place]]]:
            located = [list(self._locate(text)) for text in strings]
            lists = hash_lists([[token for token, _ in tokens] for tokens in located])
            return lists, [[place for _, place in tokens] for tokens in located]

        return locate_strings(texts, self.normalisation, cut)

    def _read(self, text: str) -> Iterator[tuple[Any, Place | None]]:
        """Give the tokens of a text, and the places of those that say it."""
        result = self.function(text)
        if not isinstance(result, Iterable):
            message = f"a tokenizer must return a list of tokens, got {type(result).__name__}"
            raise InvalidParameterError(message)
        for token in result:
            if not isinstance(token, tuple):
                yield token, None
                continue
            try:
                start, stop = map(index, token[-2:])
                is_place = len(token) <= 3 and 0 <= start <= stop <= len(text)
            except (TypeError, ValueError):
                is_place = False
            if not is_place:
                message = (
                    f"the tokenizer {self.name} returned {token!r} for a text of "
                    f"{len(text):,} characters; a tuple must be (start, stop) or "
                    "(token, start, stop), with a place in the text"
                )
                raise InvalidParameterError(message)
            yield token[0] if len(token) == 3 else text[start:stop], (start, stop)

    def _locate(self, text: str) -> Iterator[tuple[Any, Place]]:
        """Give the tokens of a text with their places."""
        last: Place = (0, 0)
        for token, given in self._read(text):
            place = given
            if place is None and isinstance(token, str):
                start = text.find(token, last[1])
                place = (start, start + len(token)) if start >= 0 else None
            if place is None:
                message = (
                    f"passages need to know where each token stands, and the tokenizer "
                    f"{self.name} returned {token!r}, which does not stand in the text behind the "
                    "token before it; let it return (token, start, stop) instead, the place in "
                    "characters"
                )
                raise InvalidParameterError(message)
            if place[0] < last[0] or place[1] < last[1]:
                message = (
                    f"the tokenizer {self.name} returned a token at {place} behind one at {last}; "
                    "tokens must come in the order of the text"
                )
                raise InvalidParameterError(message)
            yield token, place
            last = place
