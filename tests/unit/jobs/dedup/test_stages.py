"""Stages of deduplication: who is compared, who is drawn, and what is never written over."""

from __future__ import annotations

import json

import pytest

import neardup

OLD = ["a b c d e f g h i j", "A b c d e f g h i j k", "a b c d e f g h i j k l"]
OTHER = ["one two three four five six seven", "nobody has any of these words"]


def test_candidates__what_stays_in_any_case_is_not_read_again():
    """Documents of the other collection are alike, but no new one is like any of them."""

    def read_again(texts: list[str], **options: object) -> list[int | None]:
        totals = []

        def report(stage: str, done: int, total: int | None) -> None:
            if stage == "compare":
                totals.append(total)

        neardup.deduplicate(texts, ngram=1, threshold="0.5", progress=report, **options)
        return totals

    assert read_again(OTHER, against=OLD) == []
    assert read_again(OLD)[-1] == len(OLD)


@pytest.mark.slow
def test_audit__draws_by_the_seed():
    """Half of the texts come in pairs, so that of ten drawn the number with a partner varies."""
    alone = [" ".join(f"w{i}-{j}" for j in range(20)) for i in range(40)]
    pairs = [" ".join([*(f"p{i}-{j}" for j in range(20)), end]) for i in range(20) for end in "xy"]

    def similar(seed: int) -> int:
        texts = alone + pairs
        result = neardup.deduplicate(texts, tokenizer="whitespace", ngram=1, audit=10, seed=seed)
        return result.summary["audit"]["similar_documents"]

    assert len({similar(seed) for seed in range(12)}) > 1
    assert similar(3) == similar(3)


def test_write__not_over_the_other_collection(tmp_path):
    """An earlier output may be replaced, but not if a document of it is among the inputs."""
    source = tmp_path / "old.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in OLD))
    neardup.deduplicate(str(source)).write(tmp_path / "out")
    other = tmp_path / "out/kept/old.jsonl"
    before = other.read_bytes()
    result = neardup.deduplicate(OTHER, against=str(other))
    with pytest.raises(neardup.OutputExistsError):
        result.write(tmp_path / "out", overwrite=True)
    assert other.read_bytes() == before
