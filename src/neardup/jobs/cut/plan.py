"""Options of a cut, and the plan that is made of them before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from neardup.clustering.keep import KeepPolicy, parse_keep
from neardup.errors import InvalidParameterError
from neardup.jobs.dedup.plan import DedupOptions, DedupPlan, plan_deduplication
from neardup.jobs.document_options import AgainstOptions
from neardup.options import table
from neardup.options.choices import CutUnit, Side, UnicodeForm
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.passages.align import make_alignment_plan, make_window_scheme
from neardup.passages.cutting import CutPlan
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import make_search_plan
from neardup.reading.sign import ReadingPlan
from neardup.text.shingles import make_shingle_scheme
from neardup.text.tokenizers import TokenFunction

DEFAULT_THRESHOLD = "0.8"
# Tokens of what is cut at least, by unit. Shorter lines are often the same by chance, such as a
# speaker's name; shorter passages are phrases.
LEAST_TOKENS: dict[CutUnit, int] = {"passages": 50, "paragraphs": 5, "lines": 5}


# Options that say what goes, as a table does.
_DECIDING = (
    *(table.UNIT, table.EXACT, table.THRESHOLD, table.MIN_TOKENS, table.MIN_DOCUMENTS),
    *(table.RECALL, table.NUM_PERM, table.SEED, table.TOKENIZER, table.NGRAM),
    *(table.CASEFOLD, table.UNICODE_FORM, table.STRIP_ACCENTS, table.FOLD_DIGITS),
)


@dataclass(frozen=True, kw_only=True)
class CutOptions(AgainstOptions):
    """Everything that decides the result of ``cut``; see there for the meanings."""

    known = FUNCTIONS["cut"]

    unit: CutUnit | None = None
    exact: bool = False
    threshold: str | float | Decimal | Fraction | None = None
    min_tokens: int | None = None
    min_documents: int | None = None
    keep: str = "first"
    replacement: str = ""
    recall: str | float | Decimal | Fraction | None = None
    num_perm: int | None = None
    seed: int | None = None
    tokenizer: str | Path | TokenFunction | None = None
    ngram: int | None = None
    casefold: bool | None = None
    unicode_form: UnicodeForm | None = None
    strip_accents: bool = False
    fold_digits: bool = False
    trust: bool = False

    def check_named(self, *, is_named: bool, side: Side | None, has_other: bool) -> None:
        """Raise for an option that has no effect where a table names what goes, or none does."""
        if not is_named:
            if side is not None:
                raise no_effect("side", "without named_in", "give named_in", "named_in")
            if self.trust:
                raise no_effect("trust", "without named_in", "give named_in", "named_in")
            return
        remedy = "leave out named_in"
        if has_other:
            raise no_effect("against", "with named_in", remedy, "named_in")
        for option in _DECIDING:
            value = getattr(self, option.name)
            if value is not None and value != option.default and value != "words":
                raise no_effect(option.name, "with named_in", remedy, "named_in")

    def reading_plan(self, keep: KeepPolicy) -> ReadingPlan:
        """Make the plan of reading, for documents ranked by a policy."""
        shingles = make_shingle_scheme(**self.tokens, ngram=1)
        columns = replace(self.columns, order=keep.column)
        return ReadingPlan(columns, shingles, skip_bad=self.skip_bad, with_lengths=keep.by_length)

    @property
    def tokens(self) -> dict[str, Any]:
        """What texts are cut into."""
        return {
            "tokenizer": "words" if self.tokenizer is None else self.tokenizer,
            "casefold": self.casefold,
            "unicode_form": self.unicode_form,
            "strip_accents": self.strip_accents,
            "fold_digits": self.fold_digits,
        }


@dataclass(frozen=True)
class CutJobPlan:
    """Checked options: what each stage works with.

    Similar passages are found by ``passages`` and ``scheme``, paragraphs and lines by ``units``;
    equal passages need neither. ``min_tokens`` are those of the shortest thing that goes.
    """

    options: CutOptions
    unit: CutUnit
    keep: KeepPolicy
    reading: ReadingPlan
    min_tokens: int
    passages: CutPlan | None = None
    scheme: PassageScheme | None = None
    units: DedupPlan | None = None


def plan_cut(
    options: CutOptions, *, has_other: bool, is_named: bool = False, side: Side | None = None
) -> CutJobPlan:
    """Check what goes with what, before any work starts.

    ``is_named`` tells whether a table names what goes, ``side`` which of its passages.
    """
    options.check_named(is_named=is_named, side=side, has_other=has_other)
    options.check_other("against", is_given=has_other)
    keep = parse_keep(options.keep)
    if has_other and keep.rule != "first":
        # All that goes, goes for the other collection.
        raise no_effect("keep", "with against", "cut INPUT alone", "against")
    if options.exact:
        _check_exact(options)
    unit, least = options.unit or "passages", options.min_tokens
    min_tokens = LEAST_TOKENS[unit] if least is None else least
    plan = CutJobPlan(options, unit, keep, options.reading_plan(keep), min_tokens)
    if unit == "passages":
        return plan if options.exact else _with_passages(plan)
    if has_other and not options.exact:
        message = (
            f"unit {unit} goes with against only if exact is set: what is similar is "
            "looked for in one collection; set exact, or choose unit passages"
        )
        raise InvalidParameterError(message, "unit", "against", "exact")
    return replace(plan, units=_plan_units(options))


def _check_exact(options: CutOptions) -> None:
    """Raise for an option that says what is similar, where only what is equal goes."""
    for name in ("threshold", "recall", "num_perm", "seed", "ngram"):
        if getattr(options, name) is not None:
            raise no_effect(name, "with exact", "leave out exact", "exact")


def _with_passages(plan: CutJobPlan) -> CutJobPlan:
    options = plan.options
    scheme = make_window_scheme(
        plan.min_tokens,
        ngram=1 if options.ngram is None else options.ngram,
        num_perm=64 if options.num_perm is None else options.num_perm,
        seed=42 if options.seed is None else options.seed,
        **options.tokens,
    )
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    recall = "0.99" if options.recall is None else options.recall
    search = make_search_plan(
        scheme, exact_fraction("threshold", threshold), exact_fraction("recall", recall), "best"
    )
    # No gaps: what lies between two parts of a passage may be nowhere else.
    alignment = make_alignment_plan(
        search, scheme.count_shingles(plan.min_tokens), gap=scheme.count_tokens(0)
    )
    return replace(plan, passages=CutPlan(alignment, options.min_documents), scheme=scheme)


def _plan_units(options: CutOptions) -> DedupPlan:
    """Return how paragraphs or lines are compared; equal ones by their digests alone."""
    chosen: dict[str, Any] = {
        "threshold": options.threshold,
        "recall": options.recall,
        "num_perm": options.num_perm,
        "seed": options.seed,
        "ngram": options.ngram,
        "method": "exact" if options.exact else None,
    }
    tokens = options.tokens
    return plan_deduplication(
        DedupOptions(
            **{name: value for name, value in chosen.items() if value is not None},
            **tokens,
            on_error=options.on_error,
        )
    )
