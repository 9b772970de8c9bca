"""Which rule is named, of what became of two documents and how alike they are."""

from __future__ import annotations

from dataclasses import replace

from neardup.jobs.explain.evidence import Evidence, Fate, Terms, decide_rule

ALIKE = Evidence(8, (9, 9), 0.8, reaches=True, jaccard=0.8, are_copies=False, shared_bands=(2,))
UNMET = replace(ALIKE, shared_bands=())
UNLIKE = replace(ALIKE, similarity=0.1, reaches=False)
ONE_SIDED = replace(UNLIKE, reverse=0.9, reverse_reaches=True)
CLOSER = replace(ALIKE, similarity=0.9)
FARTHER = replace(ALIKE, similarity=0.7)

STAYS, ALSO_STAYS = Fate("a"), Fate("b")
WENT = Fate("b", "k")
SURVIVORS, COMPONENTS, PAIRS = Terms(), Terms("components"), Terms(by_pairs=True)


def rule(first, second, evidence, terms=SURVIVORS, *, chosen=CLOSER, has_copy=False):
    return decide_rule(first, second, evidence, terms, lambda: chosen, lambda: has_copy)


def test_went__or_both_did():
    assert rule(STAYS, Fate("b", "a"), ALIKE) == "went-for-it"
    # A component's documents need not be similar.
    assert rule(STAYS, Fate("b", "a"), UNLIKE, COMPONENTS) == "went-for-it"
    assert rule(Fate("a", "k"), WENT, UNLIKE) == "same-keeper"


def test_not_similar():
    assert rule(Fate("a", is_empty=True), ALSO_STAYS, UNLIKE) == "no-tokens"
    assert rule(STAYS, Fate("b", is_empty=True), UNLIKE) == "no-tokens"
    assert rule(STAYS, ALSO_STAYS, UNLIKE) == "below-threshold"
    assert rule(Fate("a", "k"), ALSO_STAYS, UNLIKE) == "below-threshold"
    assert rule(STAYS, ALSO_STAYS, ONE_SIDED) == "one-sided"


def test_similar__not_compared():
    assert rule(Fate("a", "k"), ALSO_STAYS, ALIKE) == "went-before"
    assert rule(Fate("a", "k"), Fate("b", "l"), UNMET) == "went-before"
    assert rule(STAYS, ALSO_STAYS, UNMET) == "no-shared-bucket"
    assert rule(STAYS, WENT, UNMET) == "no-shared-bucket"


def test_similar__compared():
    assert rule(STAYS, ALSO_STAYS, ALIKE) == "unexplained"
    # Without bands all are compared.
    assert rule(STAYS, ALSO_STAYS, replace(ALIKE, shared_bands=None)) == "unexplained"
    assert rule(STAYS, WENT, ALIKE) == "closer-keeper"
    assert rule(STAYS, WENT, ALIKE, chosen=ALIKE) == "closer-keeper"
    assert rule(STAYS, WENT, ALIKE, chosen=None) == "closer-keeper"
    assert rule(STAYS, WENT, ALIKE, chosen=FARTHER) == "unexplained"
    assert rule(STAYS, WENT, ALIKE, chosen=FARTHER, has_copy=True) == "copy-went-before"


def test_components():
    # Either direction of a one-sided measure links.
    assert rule(STAYS, WENT, ONE_SIDED, COMPONENTS) == "first-of-component"
    assert rule(STAYS, WENT, UNMET, COMPONENTS) == "no-shared-bucket"
    assert rule(Fate("a", "k"), Fate("b", "l"), ALIKE, COMPONENTS) == "unexplained"


def test_pairs():
    assert rule(STAYS, ALSO_STAYS, ALIKE, PAIRS) == "not-in-pairs"
    assert rule(Fate("a", "k"), ALSO_STAYS, ALIKE, PAIRS) == "went-before"
    assert rule(STAYS, WENT, ALIKE, PAIRS) == "closer-keeper"
