"""Options of an alignment, and the plan that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from neardup.options.kinds import exact_fraction, percent_of
from neardup.options.option import no_effect
from neardup.options.passages import (
    AlignOptions,
    AlignSchemeOptions,
    PassageSchemeOptions,
)
from neardup.options.presets import PassagePreset, describe_preset, passages_for
from neardup.passages.align import AlignmentPlan, make_alignment_plan, step_of
from neardup.passages.plan import candidate_probability, make_search_plan
from neardup.passages.scheme import PassageScheme
from neardup.passages.seeds import (
    SENTENCE,
    choose_seed_threshold,
    jaccard_of_share,
    passage_recall,
    share_of_jaccard,
)

# The defaults for passages that are contained: any long passage holds the frequent words of a
# shorter one, so that words of all documents must weigh next to nothing.
_CONTAINED = PassagePreset("0.65", recall="0.95", min_tokens=40, scheme={"idf": "standard"})


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Work out what an alignment has to look for in an index of a scheme."""
    usual, times = usual_of(options), options.most_times
    threshold = exact_fraction(
        "threshold", usual.threshold if options.threshold is None else options.threshold
    )
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    n_shingles, length = scheme.count_shingles(least), scheme.least_shingles
    recall = usual.recall if options.recall is None else options.recall
    of_windows = threshold
    if recall is None and usual.window_threshold is not None and options.hits is None:
        of_windows = min(exact_fraction("threshold", usual.window_threshold), threshold)
    if recall is not None:
        of_windows = choose_seed_threshold(
            n_shingles,
            jaccard_of_share(threshold) if times else threshold,
            length,
            step_of(length),
            exact_fraction("recall", recall),
        )
        of_windows = share_of_jaccard(of_windows) if times else of_windows
    search = make_search_plan(scheme, of_windows, Fraction(1), options.hits, times)
    # Between the shingles of two parts are also those that share tokens with a part.
    gap = None if usual.gap is None else scheme.count_tokens(usual.gap)
    plan = make_alignment_plan(search, n_shingles, gap, threshold)
    return replace(plan, misses_few=recall is not None)


def describe_choices(options: AlignOptions, scheme: Mapping[str, Any]) -> dict[str, Any]:
    """Return for a summary what the preset has chosen; ``scheme`` is empty with an index."""
    usual = passages_for(options.preset)
    row: dict[str, Any] = {"threshold": usual.threshold, "recall": usual.recall}
    # Of these, what is not given is as the preset has it.
    own = {name: value for name, value in row.items() if getattr(options, name) is None}
    row["gap"] = own["gap"] = usual.gap
    if scheme:
        row |= {"min_tokens": usual.min_tokens, **usual.scheme}
        own |= {"min_tokens": options.min_tokens, **scheme}
    return describe_preset(options.preset, row, own)


def recalls_of(plan: AlignmentPlan, scheme: PassageScheme) -> dict[str, float]:
    """Return for a summary how probable it is that a shortest passage at the threshold is found.

    Of those by min-hashes it is that of one of its windows times that this is found. Where order
    matters, that is where words were changed, and where they were moved in their sentences, too.
    """
    recalls = {"predicted_recall": _recall_of(plan, scheme)}
    if not plan.search.times and scheme.shingles.ngram == 1:
        recalls["predicted_recall_moved"] = _recall_of(plan, scheme, SENTENCE)
    return recalls


def _recall_of(plan: AlignmentPlan, scheme: PassageScheme, sentence: int = 1) -> float:
    search, similarities = plan.search, (plan.threshold, plan.search.threshold)
    if search.times:
        similarities = (jaccard_of_share(plan.threshold), jaccard_of_share(search.threshold))
    of_window = passage_recall(
        plan.min_tokens, similarities[0], plan.length, plan.step, similarities[1], sentence
    )
    return of_window * candidate_probability(scheme.num_perm, search.hits, search.threshold)


def usual_of(options: AlignOptions) -> PassagePreset:
    """Return what stands for options that are not given."""
    if options.preset is None and options.measure != "jaccard":
        return _CONTAINED
    return passages_for(options.preset)


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
    return chosen, scheme
