"""Values of fields: what joins of them would cost, and which numbers are read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from neardup.jobs.pairs.fields import (
    POSTINGS_OF_PAIR,
    Units,
    field_values,
    read_number,
    weigh_by_rarity,
)
from neardup.matching.measures import Jaccard
from neardup.options.documents import PairOptions


def test_numbers__cost_is_that_of_all_pairs_of_records():
    """Also where few numbers are of many records, which their join makes pairs of."""
    texts = pa.array(["10", "9", "5", "-9"] * 100, pa.large_string())
    values = field_values(texts, "number", PairOptions(), Jaccard.lowest())
    units = Units.of(values.numbers, np.zeros(len(texts), np.int64))
    # Those of 10 and 9, and not those of 5 or of another sign.
    assert values.cost(units, Fraction("0.8")) == POSTINGS_OF_PAIR * 100 * 100
    assert values.cost(units, Fraction("0.5")) == POSTINGS_OF_PAIR * 3 * 100 * 100


@pytest.mark.parametrize(("ngram", "counts"), [(None, [1, 3]), (2, [1, 1, 1])])
def test_rare__counts_records_that_have_a_token(ngram, counts):
    """Not those without any, however many copies a record has, and of shingles if asked for."""
    parts = [pa.array(each, pa.large_string()) for each in (["a b", "!!!", None], [], ["A a", "a"])]
    options = PairOptions(ngram=ngram)
    found = weigh_by_rarity(parts, options).frequencies
    assert found.n_documents == 3
    assert sorted(found.counts.tolist()) == counts


@pytest.mark.parametrize("kind", ["exact", "edit"])
def test_strings__blanks_that_are_left_by_words_that_go_do_not_count(kind):
    """Whatever blanks these are, also where nothing is left; but those within do."""
    options = PairOptions(replace={"GmbH": "", "Inc.": ""})
    texts = ["ab", "ab\nGmbH", "GmbH\u3000ab ", "ab\u00a0Inc.\n", "\nGmbH \n", "a b", "a\nGmbH b"]
    values = field_values(pa.array(texts, pa.large_string()), kind, options, Jaccard.lowest())
    numbers = values.numbers.tolist()
    assert [number < 0 for number in numbers] == [text == "\nGmbH \n" for text in texts]
    ab, others = np.array(numbers[1:4]), np.array(numbers[5:])
    assert values.exact_similarities(np.full(3, numbers[0]), ab) == [1, 1, 1]
    assert max(values.exact_similarities(np.full(2, numbers[0]), others)) < 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" -0.5 ", Fraction(-1, 2)),
        ("$1,299.00", 1299),
        ("99 €", 99),
        ("1.299,00", None),
        ("12,99", None),
        ("12 kg", None),
        ("1e5", None),
        ("٣", 3),
        ("", None),
    ],
)
def test_read_number(text, number):
    assert read_number(text) == number
