"""How much work a method would be, as it is told of a sample of the texts."""

from __future__ import annotations

import pytest

import neardup
from neardup.jobs.dedup import run as dedup_run
from tests.calls import grouped

N_TEXTS = 2000


def exact_seconds(*, n_common: int) -> float:
    """Return what the exact join of texts of 40 words would take, by the summary.

    All texts have ``n_common`` of their words in common, the same in each, and no others.
    """
    common = [f"common{i}" for i in range(n_common)]
    texts = [
        " ".join([*common, *(f"own{i}-{j}" for j in range(40 - n_common))]) for i in range(N_TEXTS)
    ]
    # Texts at this threshold have 25 words in common, so that 16 of each are looked up: where one
    # is its own, 15 that all have.
    result = neardup.deduplicate(
        texts,
        method="auto",
        threshold="0.45",
        text=neardup.TextOptions(ngram=1, tokenizer="whitespace"),
    )
    return result.summary["method_choice"]["exact"]


@pytest.mark.parametrize("n_sample", [250, 1000])
def test_choose_method__meetings_grow_with_the_square_of_the_texts(monkeypatch, n_sample):
    """All texts meet under each common word looked up: s (s - 1) / 2 of s texts in the sample.

    Scaled up by (n / s)^2 they are n (s - 1) / (s (n - 1)) times those of all n texts.
    """
    monkeypatch.setattr(dedup_run, "SAMPLE_TEXTS", N_TEXTS)
    apart, whole = exact_seconds(n_common=0), exact_seconds(n_common=39)
    monkeypatch.setattr(dedup_run, "SAMPLE_TEXTS", n_sample)
    sampled = exact_seconds(n_common=39)
    expected = N_TEXTS * (n_sample - 1) / (n_sample * (N_TEXTS - 1)) * (whole - apart)
    # Summaries have three decimals.
    assert whole - apart > 0.5
    assert sampled - apart == pytest.approx(expected, abs=0.002)
    assert exact_seconds(n_common=0) == apart


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "exact"},
            r"^method exact .* about 120 MB for that, of 16 MB that may be used; choose",
        ),
        ({"audit": 5}, r"^audit .* about 120 MB for that, of 16 MB that may be used; leave it out"),
    ],
)
def test_memory__what_does_not_fit_is_refused(options, message):
    texts = [" ".join(f"w{i}-{j}" for j in range(20_000)) for i in range(100)]
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.deduplicate(texts, **grouped(ngram=1, memory="16MB", **options))
