"""Plan of an alignment, made of its options."""

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

# Defaults for contained passages: any long passage contains the frequent words of a shorter one, so
# words of all documents must weigh next to nothing.
_CONTAINED = PassagePreset("0.65", recall="0.95", min_tokens=40, scheme={"idf": "standard"})


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Make the plan of an alignment for the scheme of an index."""
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
    # The shingles between two parts include shingles that share tokens with a part.
    gap = None if usual.gap is None else scheme.count_tokens(usual.gap)
    plan = make_alignment_plan(search, n_shingles, gap, threshold)
    return replace(plan, misses_few=recall is not None)


def describe_choices(options: AlignOptions, scheme: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preset's choices for a summary; ``scheme`` is empty with an index."""
    usual = passages_for(options.preset)
    row: dict[str, Any] = {"threshold": usual.threshold, "recall": usual.recall}
    # Options not given are taken from the preset.
    own = {name: value for name, value in row.items() if getattr(options, name) is None}
    row["gap"] = own["gap"] = usual.gap
    if scheme:
        row |= {"min_tokens": usual.min_tokens, **usual.scheme}
        own |= {"min_tokens": options.min_tokens, **scheme}
    return describe_preset(options.preset, row, own)


def recalls_of(plan: AlignmentPlan, scheme: PassageScheme) -> dict[str, float]:
    """Return the predicted recalls of a shortest passage at the threshold for a summary.

    With min-hashes, it is the recall of one window multiplied by the probability of finding it. If
    order matters, there is one for changed words, and one for words also moved within sentences.
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
    """Return the defaults of options that are not given."""
    if options.preset is None and options.measure != "jaccard":
        return _CONTAINED
    return passages_for(options.preset)


def most_documents(most: int | str | None, n_documents: int) -> int | None:
    """Return the number for a percentage of the documents.

    It is at least two, because passages of two documents are always found.
    """
    return max(int(percent_of(most) * n_documents), 2) if isinstance(most, str) else most


def choose_options(
    given: AlignSchemeOptions, names: tuple[str, str], *, has_other: bool
) -> tuple[AlignOptions, dict[str, Any]]:
    """Separate the options of an alignment from given options of a scheme.

    ``names`` are the names of both collections; ``has_other`` is whether the second exists.
    """
    chosen = given.part(AlignOptions)
    chosen.check_other(names[1], is_given=has_other)
    if chosen.within and has_other:
        raise no_effect("within", f"with {names[1]}", f"align {names[0]} alone", names[1])
    # Not by ==, because 0 == False.
    scheme = {
        name: getattr(given, name)
        for name, option in PassageSchemeOptions.known.items()
        if getattr(given, name) is not option.default
    }
    return chosen, scheme
