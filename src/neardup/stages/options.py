"""Plans, parts of summaries and hints that jobs share."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from logging import getLogger
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError, NeardupError, NeardupHint
from neardup.files.rawrows import RawSource
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import path_of
from neardup.matching.buckets import Banding, check_banding, choose_banding
from neardup.matching.measures import Measure, make_measure
from neardup.options.document_options import DedupOptions, DocumentSchemeOptions
from neardup.options.groups import (
    AgainstOptions,
    BandOptions,
    DocumentOptions,
    InputOptions,
    ReadingOptions,
    WeightOptions,
)
from neardup.options.option import no_effect
from neardup.reading.catalogue import Catalogue, KeepPolicy, parse_keep
from neardup.reading.sign import ReadingPlan, with_frequencies
from neardup.sketches.minhash import MinHashScheme, WeightedMinHashScheme
from neardup.text.forms import UNSPACED_BLOCKS
from neardup.text.shingles import ShingleScheme, shingle_scheme
from neardup.text.weighting import DocumentFrequencies, WeightedScheme, Weighting

if TYPE_CHECKING:
    from neardup.documents.document_handle import Adding
    from neardup.documents.open_documents import OpenDocuments
    from neardup.documents.scheme import DocumentScheme


def columns_of(options: ReadingOptions) -> ColumnNames:
    """Return the columns to read."""
    return _columns(options.text_column, options.id_column)


def other_columns_of(options: AgainstOptions) -> ColumnNames:
    """Return the columns to read of the other collection."""
    text, key = options.against_text_column, options.against_id_column
    columns = _columns(
        options.text_column if text is None else text, options.id_column if key is None else key
    )
    return replace(columns, text_option="against_text_column", id_option="against_id_column")


def _columns(text: str | Sequence[str], key: str | None) -> ColumnNames:
    # `Columns` returns one name or a tuple of names.
    texts = text if isinstance(text, str) else tuple(text)
    return ColumnNames(texts, key or None, id_is_default=key is None)


def counted_collections(
    options: AgainstOptions, sources: Sequence[Source], against: Sequence[Source]
) -> list[tuple[Sequence[Source], ColumnNames]]:
    """Return the collections for document frequencies, each with its columns."""
    return [(against, other_columns_of(options)), (sources, columns_of(options))]


def reading_plan(options: DocumentOptions) -> ReadingPlan:
    """Make a plan of reading without sketches and ranks."""
    shingles = shingle_scheme(options.with_tokenizer("words"))
    return ReadingPlan(columns_of(options), shingles, skip_bad=options.skip_bad)


def choose_bands(options: BandOptions, measure: Measure) -> tuple[Banding, MinHashScheme]:
    """Choose bands for the recall, unless they are given."""
    if options.bands is not None and options.recall is not None:
        raise no_effect("recall", "with bands", "leave out bands", "bands")
    num_perm = 128 if options.num_perm is None else options.num_perm
    kind = WeightedMinHashScheme if measure.is_weighted else MinHashScheme
    try:
        if options.bands is not None:
            bands, rows = map(int, options.bands)
            banding = check_banding(bands, rows, num_perm)
        else:
            recall = options.recall_asked_for
            banding = choose_banding(measure.least_jaccard, recall, num_perm)
    except InvalidParameterError as error:
        raise InvalidParameterError(str(error), "recall", "num_perm") from None
    return banding, kind(banding.num_perm, 42 if options.seed is None else options.seed)


def weights_for(options: WeightOptions, measure: Measure) -> WeightedScheme | None:
    """Return the weights of shingles, for a weighted measure."""
    where = f"with measure {measure.name}"
    if not measure.is_weighted:
        options.check_no_weights(where)
        return None
    if options.occurrences not in (None, "set"):
        where += ", where tf says what copies count"
        raise no_effect("occurrences", where, "choose tf raw", "measure", "tf")
    return WeightedScheme(Weighting(options.tf or "raw", options.idf or "smooth"))


# Columns that an index defines itself.
_OWN_COLUMNS = ("id", "text")


def make_document_scheme(options: DocumentSchemeOptions) -> DocumentScheme:
    """Check combinations of options, and choose the bands."""
    # Index code is slow to import, and most runs have none.
    from neardup.documents.scheme import DocumentScheme

    measure = make_measure(options.measure, options.threshold)
    weighted = weights_for(options, measure)
    banding, minhash = choose_bands(options, measure)
    usual = 5 if weighted is None else 1
    shingles = shingle_scheme(options.but(ngram=usual if options.ngram is None else options.ngram))
    # `Columns` returns one name or a tuple of names.
    given = options.columns or ()
    columns = (given,) if isinstance(given, str) else tuple(given)
    for name in _OWN_COLUMNS:
        if name in columns:
            message = f"columns may not have {name!r}, which an index keeps in any case"
            raise InvalidParameterError(message, "columns")
    return DocumentScheme(
        shingles, measure, options.recall_asked_for, banding, minhash, weighted, columns
    )


def check_text(name: str, text: object) -> None:
    """Raise unless a text is a valid string."""
    if not isinstance(text, str):
        message = f"{name}: expected a text, got {type(text).__name__}"
        raise InvalidInputError(message)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = (
            f"{name}: not valid Unicode: half of a surrogate pair at character {error.start + 1}; "
            "replace it, for example by text.encode(errors='replace').decode()"
        )
        raise InvalidInputError(message) from None


# Files that a summary lists individually.
_LISTED = 100

# User information in a URL, which a summary should not contain.
_USER_IN_URL = re.compile(r"(?<=://)[^/@]*@")


def describe_inputs(own: Sequence[Source], against: Sequence[Source]) -> dict[str, Any]:
    """Describe the first files of both collections, and their number.

    Each has its ``name`` as in ids and tables, and its ``origin``, a path or URL without
    credentials; null is data in memory.
    """
    return {
        "input_files": len(own),
        "inputs": _listed(own),
        "against_files": len(against),
        "against": _listed(against),
    }


def _listed(sources: Sequence[Source]) -> list[dict[str, str | None]]:
    return [
        {
            "name": source.name,
            "origin": source.origin and _USER_IN_URL.sub("", path_of(source.origin)),
        }
        for source in sources[:_LISTED]
    ]


def describe_reading(options: ReadingOptions, documents: Catalogue) -> dict[str, Any]:
    """Describe the options to read the same texts again."""
    described: dict[str, Any] = {"text_column": _described(options.text_column)}
    if isinstance(options, AgainstOptions):
        described["against_text_column"] = _described(other_columns_of(options).text)
    described["id_column"] = documents.columns.id
    return {"reading": described | {name: getattr(options, name) for name in InputOptions.known}}


def input_options_of(reading: Mapping[str, Any]) -> InputOptions:
    """Return the file options from ``describe_reading``."""
    return InputOptions(**{name: reading[name] for name in InputOptions.known if name in reading})


def _described(names: str | Sequence[str]) -> str | list[str]:
    return names if isinstance(names, str) else list(names)


@dataclass(frozen=True)
class DedupPlan:
    """Checked options for stages, with bands unused by method exact."""

    options: DedupOptions
    measure: Measure
    banding: Banding
    minhash: MinHashScheme
    keep: KeepPolicy
    reading: ReadingPlan

    def weighed(self, frequencies: DocumentFrequencies) -> DedupPlan:
        """Return the plan with counted document frequencies."""
        return replace(self, reading=with_frequencies(self.reading, frequencies))

    @cached_property
    def joins_components(self) -> bool:
        """Whether one document of each connected component stays."""
        return self.options.clusters == "components"

    @property
    def predicted_recall(self) -> float:
        """Probability that a pair at the threshold becomes a candidate."""
        return self.banding.candidate_probability(float(self.measure.least_jaccard))


@dataclass(frozen=True)
class Reference:
    """Reference data of a deduplication, and its plan.

    ``sources`` are read as a collection, documents of an ``index`` are looked up. ``new`` is the
    next state of the index, to which kept documents are added. ``state`` identifies the index and
    changes with it.
    """

    plan: DedupPlan
    sources: Sequence[Source]
    index: OpenDocuments | None = None
    new: Adding | None = None
    state: Mapping[str, str] | None = None


def plan_deduplication(options: DedupOptions, *, has_other: bool = True) -> DedupPlan:
    """Check combinations of options, for a run without an index."""
    options.check_other("against", is_given=has_other)
    if options.add:
        message = "add needs an index for the kept documents; name the index with against"
        raise InvalidParameterError(message, "add", "against")
    keep = parse_keep(options.keep)
    name = options.measure or "jaccard"
    threshold = "0.8" if options.threshold is None else options.threshold
    occurrences = options.occurrences or "set"
    options = options.but(measure=name, threshold=threshold, occurrences=occurrences)
    measure = make_measure(name, threshold)
    check_method(options)
    weighted = weights_for(options, measure)
    if weighted and options.ngram is None:
        options = options.but(ngram=1)
    # Bands are unused by method exact, and a low threshold may not allow the recall.
    is_exact = options.method == "exact"
    banding, minhash = Banding(1, 1), MinHashScheme(1)
    if not is_exact:
        banding, minhash = choose_bands(options, measure)
    reading = ReadingPlan(
        replace(columns_of(options), order=keep.columns),
        shingle_scheme(options.with_tokenizer("words")),
        minhash=None if is_exact else minhash,
        banding=None if is_exact else banding,
        skip_bad=options.skip_bad,
        with_lengths=keep.by_length,
        weighted=weighted,
        filters_for=None if weighted or is_exact else measure,
    )
    return DedupPlan(options, measure, banding, minhash, keep, reading)


def check_method(options: DedupOptions) -> None:
    """Raise for an option without effect on the method."""
    if options.method != "exact":
        return
    where, remedy = "with method exact", "choose method minhash"
    if options.audit is not None:
        raise no_effect("audit", f"{where}, which misses nothing", remedy, "method")
    options.check_unused(where, remedy)


_log = getLogger("neardup.hints")


def hints_of_short(n_documents: int, n_short: int, shingles: ShingleScheme) -> list[dict[str, str]]:
    """Make a hint if most documents are shorter than shingles."""
    if 2 * n_short <= n_documents:
        return []
    message = (
        f"most texts have fewer than {shingles.ngram} tokens and match only equal texts; try "
        "preset titles, ngram 1, or tokenizer characters"
    )
    return [{"name": "short", "message": message}]


def hints_of_letters(
    shingles: ShingleScheme,
    sources: Sequence[Source],
    columns: ColumnNames,
    *,
    is_early: bool = False,
) -> list[dict[str, str]]:
    """Make a hint for letters of scripts without spaces.

    It reads the beginnings of some documents. With ``is_early``, the hint is also logged before a
    possibly long job.
    """
    if (shingles.tokenizer.name, shingles.ngram) != ("words", 1):
        return []
    if not _are_letters(_beginnings(sources, columns.only_text())):
        return []
    message = (
        "texts are in a script without spaces, of few letters, each a token: unlike passages share "
        "most of them; try ngram 3"
    )
    if is_early:
        _log.info("hint: %s", message)
    return [{"name": "letters", "message": message}]


def has_token_options(options: object) -> bool:
    """Return whether the user has given an option of tokens or shingles."""
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
    """Whether most words are letters of such an alphabet."""
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
    """Return a public function's result, and warn once of all its hints."""
    if hints := result.summary["hints"]:
        message = "; ".join(hint["message"] for hint in hints)
        # The frames: this function, the public one, its caller.
        warnings.warn(message, NeardupHint, stacklevel=3)
    return result
