"""The page of a folder whose texts have been changed is none; any other folder has one."""

from __future__ import annotations

import random

import pytest

import neardup
from neardup.errors import InvalidInputError
from tests.each import each_of


def texts(n: int) -> list[str]:
    """Make texts of which many are alike, some empty, some shorter than a shingle."""
    rng = random.Random(5)
    return [" ".join(rng.choices("abcd", k=rng.choice([0, 1, 4, 6, 9]))) for _ in range(n)]


@pytest.mark.slow
@each_of("measure", ["jaccard", "cosine", "dice", "containment", "max-containment"])
@each_of("clusters", ["survivors", "components"])
@each_of("occurrences", ["set", "numbered"])
@each_of("keep", ["first", "longest"])
@each_of("method", ["exact", "minhash"])
def test_report__of_what_was_not_changed(tmp_path, measure, clusters, occurrences, keep, method):
    result = neardup.deduplicate(
        texts(80),
        against=texts(90)[80:],
        threshold="0.6",
        ngram=2,
        measure=measure,
        clusters=clusters,
        occurrences=occurrences,
        keep=keep,
        method=method,
    )
    assert result.summary["documents_removed"] > 20
    result.write(tmp_path / "out")
    assert neardup.report(tmp_path / "out").html
    assert result.report().html


@pytest.mark.parametrize("side", ["kept", "removed"])
def test_report__of_changed_texts(tmp_path, side):
    path = tmp_path / "in.txt"
    path.write_text("one two three four five six seven\none two three four five six eight\n")
    result = neardup.deduplicate(path, ngram=1, threshold="0.5", lines=True)
    result.write(tmp_path / "out")
    assert neardup.report(tmp_path / "out").html
    rows = tmp_path / "out" / side / "in.txt"
    rows.write_text(rows.read_text().replace("three four", "3 4"))
    with pytest.raises(InvalidInputError, match=r"not those that were compared.* is not 0\.7500"):
        neardup.report(tmp_path / "out")
