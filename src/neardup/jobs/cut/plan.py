"""Plan of a cut: its options, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.matching.keep import KeepPolicy, parse_keep
from neardup.options.choices import CutUnit, Side
from neardup.options.documents import DedupOptions
from neardup.options.groups import ShingleOptions, TextAgainstOptions, TokenOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.options.passages import DEFAULT_RECALL, CutOptions, PassageOptions
from neardup.passages.align import make_alignment_plan, make_window_scheme
from neardup.passages.cutting import CutPlan
from neardup.passages.plan import make_search_plan
from neardup.passages.scheme import PassageScheme
from neardup.reading.sign import ReadingPlan
from neardup.stages.options import DedupPlan, columns_of, plan_deduplication
from neardup.text.shingles import shingle_scheme

DEFAULT_THRESHOLD = "0.8"
# Least tokens of cut units. Shorter lines are often equal by chance, such as a speaker's name;
# shorter passages are phrases.
LEAST_TOKENS: dict[CutUnit, int] = {"passages": 50, "paragraphs": 5, "lines": 5, "sentences": 5}


# Options that select the cuts, as a table does.
_DECIDING = ["preset"] + [
    name
    for name in CutOptions.known
    if name not in {"preset", "keep", "replacement", *TextAgainstOptions.known}
]


@dataclass(frozen=True)
class CutJobPlan:
    """Checked options as parameters of stages.

    Similar passages are found by ``passages`` and ``scheme``, similar paragraphs and lines by
    ``units``; equal ones need neither. ``min_tokens`` is the length of the shortest cut unit.
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
    """Check combinations of options, before any work starts.

    ``is_named`` is whether a table names the cuts, ``side`` the side of its passages.
    """
    if is_named:
        _check_named(options, has_other=has_other)
    elif side is not None:
        raise no_effect("side", "without named_in", "give named_in", "named_in")
    options.check_other("against", is_given=has_other)
    keep = parse_keep(options.keep, may_be_none=True)
    if has_other and (keep.rule != "first" or keep.keeps_none):
        # All cut text has its copy in the other collection.
        raise no_effect("keep", "with against", "cut INPUT alone", "against")
    if keep.keeps_none and not (options.exact and options.unit in ("lines", "paragraphs")):
        message = (
            "keep none goes only with exact and unit lines or paragraphs, which are removed with "
            "all of their copies; choose these, or keep first"
        )
        raise InvalidParameterError(message, "keep", "exact", "unit")
    if options.exact:
        _check_exact(options)
    unit, least = options.unit or "passages", options.min_tokens
    min_tokens = LEAST_TOKENS[unit] if least is None else least
    reading = ReadingPlan(
        replace(columns_of(options), order=keep.columns),
        shingle_scheme(options.part(ShingleOptions, ngram=1)),
        skip_bad=options.skip_bad,
        with_lengths=keep.by_length,
    )
    plan = CutJobPlan(options, unit, keep, reading, min_tokens)
    if options.exact:
        return plan
    if unit == "passages":
        return _with_passages(plan)
    if unit == "sentences":
        message = (
            "unit sentences goes only if exact is set: spans of three overlap, and one that is "
            "similar to the next would go for it; set exact, or choose unit passages"
        )
        raise InvalidParameterError(message, "unit", "exact")
    if has_other:
        message = (
            f"unit {unit} goes with against only if exact is set: what is similar is "
            "looked for in one collection; set exact, or choose unit passages"
        )
        raise InvalidParameterError(message, "unit", "against", "exact")
    return replace(plan, units=_plan_units(options))


def _check_named(options: CutOptions, *, has_other: bool) -> None:
    """Raise for an option that has no effect if a table names the cuts."""
    remedy = "leave out named_in"
    if has_other:
        raise no_effect("against", "with named_in", remedy, "named_in")
    for name in _DECIDING:
        value = getattr(options, name)
        if value is not None and value != options.known[name].default and value != "words":
            raise no_effect(name, "with named_in", remedy, "named_in")


def _check_exact(options: CutOptions) -> None:
    """Raise for an option of similarity in an exact cut."""
    for name in ("threshold", "recall", "num_perm", "seed", "ngram"):
        if getattr(options, name) is not None:
            raise no_effect(name, "with exact", "leave out exact", "exact")


def _with_passages(plan: CutJobPlan) -> CutJobPlan:
    options = plan.options
    recall = _window_recall(options)
    of_index = vars(options.part(PassageOptions, min_tokens=plan.min_tokens))
    # Min-hashes are made only on request.
    scheme = make_window_scheme(**(of_index | ({"num_perm": 0} if recall == 1 else {})))
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    search = make_search_plan(scheme, exact_fraction("threshold", threshold), recall)
    # No gaps: text between two parts of a passage may be unique.
    alignment = make_alignment_plan(
        search, scheme.count_shingles(plan.min_tokens), gap=scheme.count_tokens(0)
    )
    return replace(plan, passages=CutPlan(alignment, options.min_documents), scheme=scheme)


def _window_recall(options: CutOptions) -> Fraction:
    """Return the recall of windows: 1 without options of min-hashes."""
    given = [name for name in ("num_perm", "seed") if getattr(options, name) is not None]
    if options.num_perm == 0:
        given.clear()
    if options.recall is None:
        return DEFAULT_RECALL if given else Fraction(1)
    least = exact_fraction("recall", options.recall)
    if least == 1 and given:
        raise no_effect(given[0], "with a recall of 1", "ask for less", "recall")
    return least


def _plan_units(options: CutOptions) -> DedupPlan:
    names = ("threshold", "recall", "num_perm", "seed", "on_error", *TokenOptions.known)
    chosen = {name: getattr(options, name) for name in names}
    return plan_deduplication(DedupOptions(**chosen, method="minhash"))
