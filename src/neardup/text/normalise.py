"""Normalisation: what differences between texts do not count."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from neardup.options.groups import NormalOptions

if TYPE_CHECKING:
    import pyarrow as pa


class Normalisation(NormalOptions):
    """Differences that are folded away before tokens are compared.

    Parameters
    ----------
    casefold
        Upper and lower case are the same (Unicode full case folding).
    unicode_form
        ``"NFC"`` or ``"NFKC"``: bring the whole text to that normalisation form first.
    strip_accents
        Combining marks do not count: é is e.
    """

    casefold: bool = True

    @property
    def folds(self) -> bool:
        """Whether characters are folded, one by one."""
        return self.casefold or self.strip_accents

    def fold_character(self, character: str) -> str:
        """Give what stands for one character in a token; empty if it does not count."""
        if self.casefold:
            character = character.casefold()
        if self.strip_accents and not character.isascii():
            parts = unicodedata.normalize("NFD", character)
            bare = "".join(c for c in parts if unicodedata.category(c) != "Mn")
            if bare != parts:
                character = unicodedata.normalize("NFC", bare)
        return character

    def fold_text(self, text: str) -> str:
        """Fold every character of a text, for tokenizers that want a whole string."""
        if self.strip_accents:
            return "".join(map(self.fold_character, text))
        # Case folding works on each character by itself.
        return text.casefold() if self.casefold else text

    def describe(self) -> dict[str, object]:
        """Return these options as plain values, for schemes and summaries."""
        return dict(vars(self))

    def apply_form(self, texts: pa.Array) -> pa.Array:
        """Bring texts to the chosen Unicode normalisation form."""
        if self.unicode_form is None:
            return texts
        import pyarrow.compute as pc

        return pc.utf8_normalize(texts, form=self.unicode_form)
