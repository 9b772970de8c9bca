"""What every tokenizer can do."""

from __future__ import annotations

from abc import ABC, abstractmethod

from neardup.tables import Texts, TokenLists, TokenSpans


class Tokenizer(ABC):
    """Cuts texts into tokens and hashes them.

    ``name`` goes into schemes: tokenizers of equal name and normalisation return equal hashes.
    """

    name: str

    is_bytewise: bool = False
    """Whether the tokens of a text are its bytes, in their order."""

    @abstractmethod
    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text; safe to call from several threads."""

    @abstractmethod
    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find where in the text each of them stands.

        Texts are normalised before they are cut, but places are those in the texts as given: a
        token made of characters that were normalised together has the place of all of them.

        Raises
        ------
        InvalidParameterError
            If a function returns tokens without their places.
        """
