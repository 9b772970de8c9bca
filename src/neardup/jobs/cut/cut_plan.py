"""Plan of a cut: its options, checked before work starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.rows import Source
from neardup.options.choices import CutUnit
from neardup.options.groups import ShingleOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.options.passage_options import DEFAULT_RECALL, CutOptions, PassageOptions
from neardup.passages.aligner import AlignmentPlan, make_alignment_plan, make_window_scheme
from neardup.passages.search_plan import make_search_plan
from neardup.passages.windows import PassageScheme
from neardup.reading.catalogue import Catalogue, KeepPolicy, parse_keep
from neardup.reading.sign import ReadingPlan
from neardup.stages.options import columns_of, other_columns_of
from neardup.tables import Int64s
from neardup.text.shingles import shingle_scheme

DEFAULT_THRESHOLD = "0.8"
# Least tokens of passages, which are phrases if shorter, and of other units, which are often equal
# by chance if shorter, such as a speaker's name.
_LEAST_OF_PASSAGES, _LEAST_OF_UNITS = 50, 5


@dataclass(frozen=True)
class CutJobPlan:
    """Checked options as parameters of stages.

    ``alignment`` and ``scheme`` find similar passages; they are None if equal text is cut.
    ``min_tokens`` is the length of the shortest cut unit.
    """

    options: CutOptions
    unit: CutUnit
    keep: KeepPolicy
    reading: ReadingPlan
    min_tokens: int
    alignment: AlignmentPlan | None = None
    scheme: PassageScheme | None = None

    def collections(
        self, sources: Sequence[Source], against: Sequence[Source]
    ) -> list[tuple[Sequence[Source], ReadingPlan]]:
        """Return both collections with reading plans, the other one first."""
        other = self.reading.without_ranks(other_columns_of(self.options))
        return [(against, other), (sources, self.reading)]

    def keep_order(self, own: Catalogue) -> Int64s:
        """Return the documents of a collection in keep order."""
        order = self.keep.order(len(own), own.lengths, own.order)
        return np.ascontiguousarray(order, np.int64)


def plan_cut(options: CutOptions, *, has_other: bool) -> CutJobPlan:
    """Check combinations of options, before any work starts."""
    options.check_other("against", is_given=has_other)
    keep, unit = parse_keep(options.keep, may_be_none=True), options.unit or "passages"
    if has_other and (not keep.is_by_input or keep.keeps_none):
        # All cut text has its copy in the other collection.
        raise no_effect("keep", "with against", "cut INPUT alone", "against")
    if keep.keeps_none and unit not in ("lines", "paragraphs"):
        message = (
            "keep none goes only with unit lines or paragraphs, which are removed with all of "
            "their copies; choose these, or keep first"
        )
        raise InvalidParameterError(message, "keep", "unit")
    where, remedy, named = "with exact", "leave out exact", "exact"
    if unit != "passages":
        where, remedy, named = f"with unit {unit}, compared by equality", "cut passages", "unit"
    is_equal = options.exact or unit != "passages"
    if is_equal:
        names = ("threshold", "recall", "num_perm", "seed", "ngram")
        options.check_left_out(names, where, remedy, named)
    default = _LEAST_OF_PASSAGES if unit == "passages" else _LEAST_OF_UNITS
    reading = ReadingPlan(
        replace(columns_of(options), order=keep.columns),
        shingle_scheme(options.part(ShingleOptions, ngram=1)),
        skip_bad=options.skip_bad,
        with_lengths=keep.by_length,
    )
    plan = CutJobPlan(options, unit, keep, reading, options.min_tokens or default)
    return plan if is_equal else _with_alignment(plan)


def _with_alignment(plan: CutJobPlan) -> CutJobPlan:
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
    return replace(plan, alignment=alignment, scheme=scheme)


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
