"""How documents are read and become sets of shingles: options that several jobs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from neardup.errors import InvalidParameterError
from neardup.files.input_options import InputOptions
from neardup.files.rows import ColumnNames, Source
from neardup.options.jobs import READING_TEXT
from neardup.options.option import Option, no_effect
from neardup.reading.sign import ReadingPlan
from neardup.text.shingles import make_shingle_scheme

if TYPE_CHECKING:
    from neardup.options.choices import Fingerprint, Occurrences, OnError, UnicodeForm
    from neardup.text.tokenizers import TokenFunction

# The tokenizer of documents that are bytes.
_BYTES = "bytes"


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(InputOptions):
    """What files hold, where text and id of a document are, and what becomes of bad rows."""

    known: ClassVar[Iterable[Option]] = READING_TEXT

    text_column: str | Sequence[str] = "text"
    id_column: str | None = None
    on_error: OnError = "raise"

    @property
    def columns(self) -> ColumnNames:
        """The columns to read."""
        return _columns(self.text_column, self.id_column)

    @property
    def reads_bytes(self) -> bool:
        """Whether documents are the bytes of files, and no text."""
        return self.input_format == "bytes"

    @property
    def skip_bad(self) -> bool:
        """Whether bad rows are left out."""
        return self.on_error == "skip"


@dataclass(frozen=True, kw_only=True)
class AgainstOptions(ReadingOptions):
    """Where text and id are, also in another collection; None: where they are in the first."""

    against_text_column: str | Sequence[str] | None = None
    against_id_column: str | None = None

    @property
    def other_columns(self) -> ColumnNames:
        """The columns to read of the other collection."""
        text, key = self.against_text_column, self.against_id_column
        columns = _columns(
            self.text_column if text is None else text, self.id_column if key is None else key
        )
        return replace(columns, text_option="against_text_column", id_option="against_id_column")

    def check_other(self, name: str, *, is_given: bool) -> None:
        """Raise if an option of the other collection was given, and that itself was not.

        Raises
        ------
        InvalidParameterError
            For the first of them; ``name`` is what names the other collection.
        """
        if not is_given:
            self.check_no_other(f"without {name}", f"give {name}", name)

    def check_no_other(self, where: str, remedy: str, *others: str) -> None:
        """Raise if one of these options was given where no other collection is read.

        Raises
        ------
        InvalidParameterError
            For the first of them; ``where``, ``remedy`` and ``others`` as of ``no_effect``.
        """
        for name in ("against_text_column", "against_id_column"):
            if getattr(self, name) is not None:
                raise no_effect(name, where, remedy, *others)


def to_be_counted(
    options: AgainstOptions,
    sources: Sequence[Source],
    against: Sequence[Source],
    counted: Sequence[Source] | None,
) -> list[tuple[Sequence[Source], ColumnNames]]:
    """Return the sources of the documents by which shingles are weighed, each with its columns.

    Those of ``counted``; where that is None, all that are compared.
    """
    if counted is not None:
        return [(counted, options.columns)]
    return [(against, options.other_columns), (sources, options.columns)]


def _columns(text: str | Sequence[str], key: str | None) -> ColumnNames:
    # The check has left a name, or a tuple of several.
    texts = text if isinstance(text, str) else tuple(text)
    return ColumnNames(texts, key or None, id_is_default=key is None)


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(ReadingOptions):
    """How documents are read and become sets of shingles; the same for every job.

    Tokens are words where ``tokenizer`` is None, or bytes if these are read; shingles have 5 where
    ``ngram`` is, are a set where ``occurrences`` is, and are hashed to 64 bits by the mixer where
    fingerprints are.
    """

    tokenizer: str | Path | TokenFunction | None = None
    ngram: int | None = None
    occurrences: Occurrences | None = "set"
    fingerprint: Fingerprint | None = None
    fingerprint_bits: int | None = None
    seed: int | None = None
    casefold: bool | None = None
    unicode_form: UnicodeForm | None = None
    strip_accents: bool = False
    fold_digits: bool = False

    @property
    def seeded(self) -> str | None:
        """The option that selects the hash of shingles; None where nothing does."""
        return "seed" if self.fingerprint == "rabin" else None

    def with_tokenizer(self, usual: str) -> Self:
        """Return these options with the tokenizer that is usual for texts, if none was given.

        Raises
        ------
        InvalidParameterError
            If bytes are read, and the tokenizer given cuts texts.
        """
        if not self.reads_bytes:
            return self if self.tokenizer is not None else replace(self, tokenizer=usual)
        if self.tokenizer not in (None, _BYTES):
            message = (
                f"tokenizer {self.tokenizer} cuts texts, and input_format bytes reads none; leave "
                "it out, or read the files as text"
            )
            raise InvalidParameterError(message, "tokenizer", "input_format")
        return replace(self, tokenizer=_BYTES)

    def check_reads_text(self) -> None:
        """Raise if documents are bytes, where an index has texts.

        Raises
        ------
        InvalidParameterError
            Naming the option.
        """
        if self.reads_bytes:
            message = (
                "input_format bytes reads no texts, which an index has; name files with against, "
                "or read the files as text"
            )
            raise InvalidParameterError(message, "input_format", "against")

    def reading_plan(self, *, order: str | None = None) -> ReadingPlan:
        """Make the plan of reading; ``order`` is a column by which documents are ranked.

        Raises
        ------
        InvalidParameterError
            For options that do not go together.
        """
        tokenizer = self.with_tokenizer("words").tokenizer
        assert tokenizer is not None
        shingles = make_shingle_scheme(
            tokenizer,
            ngram=5 if self.ngram is None else self.ngram,
            occurrences=self.occurrences or "set",
            fingerprint=self.fingerprint or "mixer",
            fingerprint_bits=self.fingerprint_bits or 64,
            seed=self.seed,
            casefold=self.casefold,
            unicode_form=self.unicode_form,
            strip_accents=self.strip_accents,
            fold_digits=self.fold_digits,
        )
        columns = replace(self.columns, order=order)
        return ReadingPlan(columns, shingles, skip_bad=self.skip_bad)
