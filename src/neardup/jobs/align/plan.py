"""Options of an alignment, what presets choose of them, and the plan that is made of them.

Presets were chosen on one half of the texts in docs/alignment.md, which has the figures of the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

from neardup.jobs.document_options import AgainstOptions
from neardup.options.choices import AlignmentSummary, PresetName
from neardup.options.jobs import FUNCTIONS
from neardup.options.kinds import exact_fraction, percent_of
from neardup.options.option import check_options, no_effect
from neardup.passages.align import AlignmentPlan, make_alignment_plan
from neardup.passages.documents import ReadOptions
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import check_either, make_search_plan


@dataclass(frozen=True)
class Preset:
    """Options of an alignment; ``scheme`` are those that decide an index."""

    threshold: str = "0.5"
    min_tokens: int = 50
    gap: int | None = None
    scheme: Mapping[str, Any] = field(default_factory=dict)


NO_PRESET = Preset()
PRESETS: dict[PresetName | None, Preset] = {
    None: NO_PRESET,
    # Long texts in few pieces; what is shorter is mostly phrases that recur.
    "editions": Preset(min_tokens=75),
    # A line or two, each by itself, hardly changed; shorter or less similar ones are chance.
    "quotations": Preset(threshold="0.6", min_tokens=15, gap=15),
    # Whole sentences in other words; rare words weigh more, because everybody has the others.
    "rewording": Preset(threshold="0.4", scheme={"idf": "smooth"}),
}


@dataclass(frozen=True, kw_only=True)
class AlignOptions(AgainstOptions):
    """What decides the result of an alignment; see ``align`` for the meanings."""

    known = FUNCTIONS["align"]

    preset: PresetName | None = None
    threshold: str | float | Decimal | Fraction | None = None
    recall: str | float | Decimal | Fraction | None = None
    hits: int | None = None
    min_tokens: int | None = None
    gap: int | None = None
    max_documents: int | str | None = None
    within: bool = False
    summary: AlignmentSummary | None = None
    with_text: bool = False
    excerpt: int | None = None

    @property
    def has_texts(self) -> bool:
        """Whether passages have their texts."""
        return self.with_text or self.excerpt is not None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_either(self.recall, self.hits)

    @property
    def usual(self) -> Preset:
        """What is taken for options that are not given."""
        return PRESETS[self.preset]

    @property
    def widest_gap(self) -> int | None:
        """Tokens between two parts of a passage; None where their evidence decides."""
        return self.usual.gap if self.gap is None else self.gap

    @property
    def read(self) -> ReadOptions:
        """How documents of the first collection are read."""
        return ReadOptions(self.columns, self.skip_bad)

    @property
    def read_other(self) -> ReadOptions:
        """How documents of the other collection are read."""
        return ReadOptions(self.other_columns, self.skip_bad)


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Work out what an alignment has to look for in an index of a scheme."""
    usual = options.usual.threshold
    threshold = exact_fraction(
        "threshold", usual if options.threshold is None else options.threshold
    )
    recall = None if options.recall is None else exact_fraction("recall", options.recall)
    search = make_search_plan(scheme, threshold, recall, "best", options.hits)
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    # Between the shingles of two parts are also those that share tokens with a part.
    gap = None if options.widest_gap is None else scheme.count_tokens(options.widest_gap)
    return make_alignment_plan(search, scheme.count_shingles(least), gap)


def most_documents(most: int | str | None, n_documents: int) -> int | None:
    """Return the number that a percentage of the documents is.

    What two documents share is always looked for: in few of them, two are many percent.
    """
    return max(int(percent_of(most) * n_documents), 2) if isinstance(most, str) else most


def choose_options(
    names: tuple[str, str], *, has_other: bool, **options: Any
) -> tuple[AlignOptions, dict[str, Any]]:
    """Check options, and part them: those of an alignment, and of a scheme those that were given.

    Parameters
    ----------
    names
        What the collections are called.
    has_other
        Whether there is the second.
    **options
        All that ``align`` has, but for those of a run.
    """
    checked = check_options(FUNCTIONS["align"], **options)
    own = {field.name for field in fields(AlignOptions)}
    chosen = AlignOptions(**{name: value for name, value in checked.items() if name in own})
    chosen.check_other(names[1], is_given=has_other)
    if chosen.within and has_other:
        raise no_effect("within", f"with {names[1]}", f"align {names[0]} alone", names[1])
    defaults = {option.name: option.default for option in FUNCTIONS["align"]}
    # Not by ==, for which a seed of 0 is False.
    given = {
        name: value
        for name, value in checked.items()
        if name not in own and value is not defaults[name]
    }
    return chosen, given
