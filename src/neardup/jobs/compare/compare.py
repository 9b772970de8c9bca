"""Comparison of two texts: all measures, shared passages, differences."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.jobs.compare.measures import (
    Makers,
    Pair,
    make_makers,
    measure_pair,
)
from neardup.jobs.compare.passages import (
    PassageOptions,
    find_differences,
    find_passages,
    locate,
)
from neardup.jobs.compare.result import CompareResult
from neardup.jobs.compare.values import Differences
from neardup.jobs.passages.presets import NO_PRESET
from neardup.jobs.sketch.options import SketchOptions
from neardup.options.choices import InverseFrequency, TermFrequency, UnicodeForm
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import CheckedOptions
from neardup.runtime.progress import Progress
from neardup.runtime.runner import Runner
from neardup.tables import Texts
from neardup.text.tokenizers import TokenFunction

DEFAULT_EDIT_LIMIT = 100_000


@dataclass(frozen=True, kw_only=True)
class CompareOptions(CheckedOptions):
    """Everything that decides a comparison; see ``compare`` for the meanings."""

    known = FUNCTIONS["compare"]

    tokenizer: str | Path | TokenFunction | None = None
    ngram: int | None = None
    casefold: bool | None = None
    unicode_form: UnicodeForm | None = None
    strip_accents: bool = False
    fold_digits: bool = False
    num_perm: int | None = None
    size: int | None = None
    compression: int | None = None
    seed: int | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None
    threshold: str | float | Decimal | Fraction = NO_PRESET.threshold
    min_tokens: int | None = None
    edit_limit: int = DEFAULT_EDIT_LIMIT

    @property
    def normalisation(self) -> dict[str, Any]:
        """What does not count, as keywords."""
        names = ("casefold", "unicode_form", "strip_accents", "fold_digits")
        return {name: getattr(self, name) for name in names}


def plan_comparison(options: CompareOptions) -> tuple[Makers, PassageOptions]:
    """Make the sketches, and what counts as a passage, before any work starts.

    Raises
    ------
    InvalidParameterError
        For options that do not go together.
    """
    common = SketchOptions(
        tokenizer=options.tokenizer,
        ngram=options.ngram,
        tf=options.tf,
        idf=options.idf,
        seed=options.seed,
        **options.normalisation,
    )
    makers = make_makers(
        common,
        num_perm=options.num_perm,
        size=options.size,
        compression=options.compression,
    )
    passages = PassageOptions(
        options.threshold,
        options.min_tokens,
        options.seed,
        options.tokenizer,
        options.normalisation,
    )
    return makers, passages


def compare_texts(
    texts: tuple[str, str],
    options: CompareOptions,
    *,
    names: tuple[str, str] = ("a", "b"),
    runner: Runner,
) -> CompareResult:
    """Compare two texts; see ``compare``. ``names`` are what the result calls them."""
    makers, of_passages = plan_comparison(options)
    for name, text in zip(names, texts, strict=True):
        _check_text(name, text)
    strings = pa.array(texts, pa.large_string())
    order = sorted((0, 1), key=lambda row: (len(texts[row]), texts[row]))
    pair = Pair(Texts.from_arrow(strings), *order)
    with runner.stage("measure"):
        measures, sizes, significance, spread = measure_pair(pair, makers, options.edit_limit)
    with runner.stage("align"):
        places = locate(strings, pair, makers.weighted.texts.shingles.tokenizer)
        passages = find_passages(texts, pair, places, of_passages, runner)
    a, share_a = find_differences(places[0], [passage.a for passage in passages])
    b, share_b = find_differences(places[1], [passage.b for passage in passages])
    described = _describe(options, makers)
    summary = {
        "passages": len(passages),
        "share_a": share_a,
        "share_b": share_b,
        "options": described,
        "workers": runner.workers,
        "seconds": runner.seconds,
    }
    return CompareResult(
        names,
        texts,
        sizes,
        tuple(measures),
        tuple(passages),
        Differences(a, b, share_a, share_b, spread, significance),
        described,
        summary,
    )


def _check_text(name: str, text: object) -> None:
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


def _describe(options: CompareOptions, makers: Makers) -> dict[str, Any]:
    """Return all that decides the result, as plain values."""
    sets = [maker.describe() for maker in makers.of_shingles["set"]]
    of_shingles = makers.of_shingles["set"][0].texts.shingles.describe()
    weighted = makers.weighted.describe()
    return {
        **{name: value for name, value in of_shingles.items() if name != "occurrences"},
        "weighted_ngram": weighted["ngram"],
        "tf": weighted["tf"],
        "idf": weighted["idf"],
        "num_perm": weighted["num_perm"],
        "smallest_size": sets[1]["size"],
        "modulo_size": sets[2]["size"],
        "compression": makers.edit.describe()["compression"],
        "seed": weighted["seed"],
        "threshold": float(exact_fraction("threshold", options.threshold)),
        "min_tokens": options.min_tokens,
        "edit_limit": options.edit_limit,
    }


def compare(
    text_a: str,
    text_b: str,
    *,
    tokenizer: str | Path | TokenFunction | None = None,
    ngram: int | None = None,
    casefold: bool | None = None,
    unicode_form: UnicodeForm | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    num_perm: int | None = None,
    size: int | None = None,
    compression: int | None = None,
    seed: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    threshold: str | float | Decimal | Fraction = NO_PRESET.threshold,
    min_tokens: int | None = None,
    edit_limit: int = DEFAULT_EDIT_LIMIT,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CompareResult:
    """Compare two texts: all measures, exact and estimated, and what they share.

    Parameters
    ----------
    text_a, text_b
        The texts themselves, not paths.
    tokenizer, ngram, casefold, unicode_form, strip_accents, fold_digits
        How texts become shingles, as for ``sketch``: shingles of 5 tokens, and of 1 for
        ``weighted-jaccard``; ``ngram`` sets both. Edit distance is of characters, and takes the
        last four only. A function as tokenizer has to say where tokens stand.
    num_perm, size, compression, seed
        Of the sketches that estimate: as for ``sketch``; ``size`` is that of smallest and modulo.
    tf, idf
        What shingles weigh; ``raw`` and ``unary`` by default. Another idf counts the two texts,
        which are hardly a collection.
    threshold
        Least similarity of two shared passages, in (0, 1], taken as the exact decimal.
    min_tokens
        Tokens of the shortest shared passage. None: 20, or half of those of the shorter text where
        that is less.
    edit_limit
        The exact edit distance is worked out if the product of the lengths, in characters, is at
        most the square of this, or the texts are equal; else there is the estimate only.
    workers, progress
        As for ``deduplicate``.

    Returns
    -------
    ``measures``: for shingles as a ``set`` and ``numbered`` (as a multiset) Jaccard, cosine, Dice,
    containment both ways, max-containment and overlap; weighted Jaccard; edit distance and
    similarity. Each with its exact value and what sketches of each kind estimate. ``sizes``,
    ``passages`` and ``differences``. With the texts exchanged the result is the same, mirrored.

    A text without tokens is similar to nothing: all similarities are 0.

    Raises
    ------
    InvalidParameterError
        For an option out of range.
    InvalidInputError
        If a text is no string, or has half of a surrogate pair.

    Notes
    -----
    An edit distance at the limit takes up to 0.5 s for ASCII and 4 s for texts of thousands of
    different characters; all else is linear in the texts, but for what they share many times over.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Coates (2011), A fast metric of
    document similarity.

    Examples
    --------
    >>> import neardup
    >>> result = neardup.compare("the cat sat on the mat", "the cat sat on a mat", ngram=2)
    >>> result["jaccard"].exact, result["edit-distance"].exact
    (0.42857142857142855, 3)
    """
    options = CompareOptions(
        tokenizer=tokenizer,
        ngram=ngram,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        num_perm=num_perm,
        size=size,
        compression=compression,
        seed=seed,
        tf=tf,
        idf=idf,
        threshold=threshold,
        min_tokens=min_tokens,
        edit_limit=edit_limit,
    )
    with Runner(workers, progress) as runner:
        return compare_texts((text_a, text_b), options, runner=runner)
