"""Normalisation: what differences between texts do not count."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from neardup.options.choices import Spelling
from neardup.options.groups import NormalOptions
from neardup.options.option import argument
from neardup.text.replacements import Replacements

if TYPE_CHECKING:
    import pyarrow as pa


# Letters and what is written where they are missing. German as in CLDR's transform de-ASCII, but
# that a letter knows nothing of its word, which may be one of capitals; nordic as in
# machine-readable travel documents (ICAO Doc 9303, part 3, section 6).
_SPELLED: Mapping[Spelling, Mapping[str, str]] = {
    "german": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"},
    "nordic": {"å": "aa", "ä": "ae", "æ": "ae", "ö": "oe", "ø": "oe"},
}
_CAPITALS = {"ß": "ẞ"}
# For ``str.translate``.
_SPELLINGS: Mapping[Spelling | None, Mapping[int, str]] = {None: {}} | {
    name: {ord(letter): spelled for letter, spelled in letters.items()}
    | {
        ord(_CAPITALS.get(letter, letter.upper())): spelled.capitalize()
        for letter, spelled in letters.items()
    }
    for name, letters in _SPELLED.items()
}


class Normalisation(NormalOptions):
    """Differences that are folded away before tokens are compared.

    Parameters
    ----------
    casefold
        Upper and lower case are the same (Unicode full case folding).
    unicode_form
        ``"NFC"`` or ``"NFKC"``: bring the whole text to that normalisation form first.
    fold
        ``"german"`` or ``"nordic"``: letters are as they are written out: ü is ue.
        Accents that are left do not count with ``strip_accents``.
    strip_accents
        Combining marks do not count: é is e.
    replace
        Words that others stand for. They are replaced in texts that are in ``unicode_form``, and
        found folded as tokens are.
    fold_digits
        Decimal digits of other scripts are the ASCII digits of the same value; 3 and 4 differ.
    """

    casefold: bool = True
    # Options name the file, or have the words.
    replace: Replacements | None = argument(  # type: ignore[assignment]
        "Words that others stand for.", default=None
    )

    @property
    def folds(self) -> bool:
        """Whether characters are folded, one by one."""
        return self.casefold or self.strip_accents or self.fold_digits or self.fold is not None

    def fold_character(self, character: str) -> str:
        """Give what stands for one character in a token; empty if it does not count."""
        if self.fold_digits and unicodedata.category(character) == "Nd":
            return str(unicodedata.decimal(character))
        spelled = _SPELLINGS[self.fold].get(ord(character))
        if spelled is None and self.strip_accents:
            # One of the letters with an accent, as in ǿ.
            letter = unicodedata.decomposition(character).partition(" ")[0]
            spelled = _SPELLINGS[self.fold].get(int(letter, 16)) if letter[:1].isalnum() else None
        if spelled is not None:
            return spelled.casefold() if self.casefold else spelled
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
        if self.strip_accents or self.fold_digits:
            return "".join(map(self.fold_character, text))
        if self.fold is not None:
            text = text.translate(_SPELLINGS[self.fold])
        # Case folding works on each character by itself.
        return text.casefold() if self.casefold else text

    def describe(self) -> dict[str, object]:
        """Return what is folded away, as plain values; ``fold`` and ``replace`` if it is any."""
        described = vars(self) | {"replace": self.replace and self.replace.describe()}
        seldom = ("fold", "replace")
        return {name: value for name, value in described.items() if value or name not in seldom}

    def apply_form(self, texts: pa.Array) -> pa.Array:
        """Bring texts to the chosen Unicode normalisation form."""
        if self.unicode_form is None:
            return texts
        import pyarrow.compute as pc

        return pc.utf8_normalize(texts, form=self.unicode_form)
