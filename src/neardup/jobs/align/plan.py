"""Options of an alignment, what presets choose of them, and the plan that is made of them.

Presets were chosen on one half of the texts in docs/alignment.md, which has the figures of the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup.options.choices import PresetName
from neardup.options.kinds import exact_fraction, percent_of
from neardup.options.option import no_effect
from neardup.options.passages import (
    AlignOptions,
    AlignSchemeOptions,
    PassageSchemeOptions,
    window_recall,
)
from neardup.passages.align import AlignmentPlan, make_alignment_plan
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import make_search_plan


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


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Work out what an alignment has to look for in an index of a scheme."""
    usual = PRESETS[options.preset].threshold
    threshold = exact_fraction(
        "threshold", usual if options.threshold is None else options.threshold
    )
    recall = window_recall(options.recall, options.hits)
    search = make_search_plan(scheme, threshold, recall, "best", options.hits)
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    # Between the shingles of two parts are also those that share tokens with a part.
    gap = widest_gap(options)
    gap = None if gap is None else scheme.count_tokens(gap)
    return make_alignment_plan(search, scheme.count_shingles(least), gap)


def most_documents(most: int | str | None, n_documents: int) -> int | None:
    """Return the number that a percentage of the documents is.

    What two documents share is always looked for: in few of them, two are many percent.
    """
    return max(int(percent_of(most) * n_documents), 2) if isinstance(most, str) else most


def choose_options(
    given: AlignSchemeOptions, names: tuple[str, str], *, has_other: bool
) -> tuple[AlignOptions, dict[str, Any]]:
    """Part options: those of an alignment, and of a scheme those that were given.

    ``names`` are what the two collections are called, ``has_other`` whether there is the second.
    """
    chosen = given.part(AlignOptions)
    chosen.check_other(names[1], is_given=has_other)
    if chosen.within and has_other:
        raise no_effect("within", f"with {names[1]}", f"align {names[0]} alone", names[1])
    # Not by ==, for which a seed of 0 is False.
    scheme = {
        name: getattr(given, name)
        for name, option in PassageSchemeOptions.known.items()
        if getattr(given, name) is not option.default
    }
    of_hashes = {name: scheme.get(name) for name in ("num_perm", "seed")}
    recall = window_recall(chosen.recall, chosen.hits, **of_hashes)
    return chosen if recall is None else chosen.but(recall=recall), scheme


def widest_gap(options: AlignOptions) -> int | None:
    """Return the tokens between two parts of a passage; None where their evidence decides."""
    return PRESETS[options.preset].gap if options.gap is None else options.gap
