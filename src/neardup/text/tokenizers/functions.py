"""Functions as tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from neardup.errors import InvalidParameterError
from neardup.tables import Texts, TokenLists, TokenSpans
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers.named import KNOWN_NAMES
from neardup.text.tokenizers.strings import folded_strings, hash_lists
from neardup.text.tokenizers.tokenizer import Tokenizer

TokenFunction = Callable[[str], Iterable[str | int]]
"""From a text to its tokens, all strings or all integers."""


@dataclass(frozen=True)
class FunctionTokenizer(Tokenizer):
    """Calls a function for each text; as fast as that function."""

    function: TokenFunction
    normalisation: Normalisation

    knows_places = False

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
        results = [self.function(text) for text in folded_strings(texts, self.normalisation)]
        for result in results:
            if not isinstance(result, Iterable):
                message = f"a tokenizer must return a list of tokens, got {type(result).__name__}"
                raise InvalidParameterError(message)
        return hash_lists([list(result) for result in results])

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Refuse: a function returns tokens without their places."""
        message = (
            f"passages need a tokenizer that tells where each token stands, got the function "
            f"{self.name}; choose one of {KNOWN_NAMES} or a tokenizer.json file"
        )
        raise InvalidParameterError(message)
