"""How documents are read and become sets of shingles: options that several jobs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from neardup.files.input_options import InputOptions
from neardup.files.rows import ColumnNames
from neardup.options import table
from neardup.options.option import Option
from neardup.reading.plan import ReadingPlan
from neardup.text.shingles import make_shingle_scheme

if TYPE_CHECKING:
    from neardup.options.choices import Occurrences, OnError, UnicodeForm
    from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(InputOptions):
    """What files hold, where text and id of a document are, and what becomes of bad rows."""

    known: ClassVar[Iterable[Option]] = (
        *InputOptions.known,
        table.TEXT_COLUMN,
        table.ID_COLUMN,
        table.ON_ERROR,
    )

    text_column: str | Sequence[str] = "text"
    id_column: str | None = None
    on_error: OnError = "raise"

    @property
    def columns(self) -> ColumnNames:
        """The columns to read."""
        # The check has left a name, or a tuple of several.
        names = self.text_column
        return ColumnNames(names if isinstance(names, str) else tuple(names), self.id_column)

    @property
    def skip_bad(self) -> bool:
        """Whether bad rows are left out."""
        return self.on_error == "skip"


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(ReadingOptions):
    """How documents are read and become sets of shingles; the same for every job.

    Tokens are words where ``tokenizer`` is None, and shingles have 5 where ``ngram`` is.
    """

    tokenizer: str | Path | TokenFunction | None = None
    ngram: int | None = None
    occurrences: Occurrences = "set"
    casefold: bool | None = None
    unicode_form: UnicodeForm | None = None
    strip_accents: bool = False
    fold_digits: bool = False

    def reading_plan(self, *, order: str | None = None) -> ReadingPlan:
        """Make the plan of reading; ``order`` is a column by which documents are ranked.

        Raises
        ------
        InvalidParameterError
            For options that do not go together.
        """
        shingles = make_shingle_scheme(
            "words" if self.tokenizer is None else self.tokenizer,
            ngram=5 if self.ngram is None else self.ngram,
            occurrences=self.occurrences,
            casefold=self.casefold,
            unicode_form=self.unicode_form,
            strip_accents=self.strip_accents,
            fold_digits=self.fold_digits,
        )
        columns = replace(self.columns, order=order)
        return ReadingPlan(columns, shingles, skip_bad=self.skip_bad)
