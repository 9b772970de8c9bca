"""Reviews of several people, put together: labels, disagreements, Cohen's kappa."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.jobs.review.merge import agreement
from tests.oracles import reviewing

WORDS = ["yes", "no", "unsure"]


def table(*rows: tuple[str, str, str], **more: list[object]) -> pa.Table:
    a, b, labels = zip(*rows, strict=True)
    return pa.table({"id_a": a, "id_b": b, "label": labels, **more})


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), max_size=12))
def test_agreement__is_cohens(pairs):
    a = {(str(k), "b"): x for k, (x, _) in enumerate(pairs)}
    b = {(str(k), "b"): y for k, (_, y) in enumerate(pairs)}
    found = agreement(a, b)
    wanted = reviewing.kappa([x for x, _ in pairs], [y for _, y in pairs])
    assert (found["pairs"], found["agreed"]) == (len(pairs), sum(x == y for x, y in pairs))
    assert found["kappa"] == (None if wanted is None else pytest.approx(float(wanted), abs=1e-12))


def test_agreement__of_a_published_table():
    """Of 50 proposals two readers say yes to 20 both, no to 15 both: kappa is 0.4."""
    counts = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    both = [words for words, n in counts.items() for _ in range(n)]
    a, b = ({(str(k), ""): words[side] for k, words in enumerate(both)} for side in (0, 1))
    assert agreement(a, b) == {"pairs": 50, "agreed": 35, "kappa": pytest.approx(0.4)}
    # What one alone has judged says nothing about both.
    assert agreement(a | {("x", "y"): "no"}, b)["pairs"] == 50


def test_merge__labels():
    anna = table(
        ("1", "2", "yes"), ("1", "3", "no"), ("2", "4", "unsure"), ("5", "6", "yes"),
        similarity=[0.9, 0.5, None, 0.7], note=["", "a, or b", "", "see"],
    )  # fmt: skip
    ben = table(("1", "3", "0"), ("1", "2", "no"), ("2", "4", "unsure"), ("7", "8", "TRUE"))
    merged = neardup.merge_reviews([anna, ben])
    assert merged.labels.to_pydict() == {
        "id_a": ["1", "1", "2", "5", "7"],
        "id_b": ["2", "3", "4", "6", "8"],
        "label": ["disagreed", "no", "unsure", "yes", "yes"],
        "similarity": [0.9, 0.5, None, 0.7, None],
        "note": ["", "a, or b", "", "see", ""],
        "label_1": ["yes", "no", "unsure", "yes", None],
        "label_2": ["no", "no", "unsure", None, "yes"],
    }
    assert merged.disagreed["id_b"].to_pylist() == ["2"]
    assert repr(merged) == "MergedReviews(5 pairs judged by 2 reviewers: 1 disagreed)"
    wanted = reviewing.kappa(["yes", "no", "unsure"], ["no", "no", "unsure"])
    assert merged.summary == {
        "reviewers": ["1", "2"],
        "pairs": 5,
        "judged_by_all": 3,
        "disagreed": 1,
        "agreement": [
            {"reviewers": ["1", "2"], "pairs": 3, "agreed": 2, "kappa": pytest.approx(wanted)}
        ],
    }


def test_merge__of_three_and_once_more():
    words = ["yes", "no", "yes"]
    reviews = [table(("1", "2", word), ("3", "4", "no")) for word in words]
    merged = neardup.merge_reviews(reviews)
    assert [each["reviewers"] for each in merged.summary["agreement"]] == [
        ["1", "2"], ["1", "3"], ["2", "3"],
    ]  # fmt: skip
    # What was disagreed is judged by whoever has judged it since.
    again = neardup.merge_reviews([merged, table(("1", "2", "yes"))])
    assert again.labels["label"].to_pylist() == ["no", "yes"]
    assert again.summary["disagreed"] == 0


@pytest.mark.parametrize("reviews", [[], "a.csv", None])
def test_merge__takes_a_list(reviews):
    with pytest.raises(InvalidParameterError, match="two or more"):
        neardup.merge_reviews(reviews)


def test_merge__of_one_table_takes_who_is_named_in_it():
    both = table(("1", "2", "disagreed"), ("3", "4", "yes"), label_anna=["yes", "yes"],
                 label_ben=["no", None])  # fmt: skip
    merged = neardup.merge_reviews([both])
    assert merged.summary["reviewers"] == ["anna", "ben"]
    assert merged.labels["label"].to_pylist() == ["disagreed", "yes"]
    assert merged.labels["label_ben"].to_pylist() == ["no", None]
    for alone in (table(("1", "2", "yes")), table(("1", "2", "yes"), label_anna=["yes"])):
        with pytest.raises(InvalidInputError, match="labels of one reviewer"):
            neardup.merge_reviews([alone])


def test_merge__of_one_table_keeps_what_was_settled_since():
    """Its own label is what all other jobs read; who said what, and why, stays beside it."""
    rows = [
        # Settled, of which nobody has heard since, and still open.
        ("1", "2", "yes"), ("3", "4", "no"), ("5", "6", "disagreed"), ("7", "8", ""),
        # Settled by somebody who is not named, and judged by nobody.
        ("9", "10", "unsure"), ("11", "12", ""),
    ]  # fmt: skip
    both = table(
        *rows,
        label_anna=["yes", "no", "yes", "no", "", ""],
        label_ben=["no", "no", "no", None, None, ""],
        note_anna=["", "", "disagreed", "", None, "later"],
        note_ben=["see", "", "", "", "", ""],
        note=["", "", "", "x", "", ""],
    )
    merged = neardup.merge_reviews([both])
    assert merged.labels.to_pydict() == {
        "id_a": ["1", "3", "5", "7", "9"],
        "id_b": ["2", "4", "6", "8", "10"],
        "label": ["yes", "no", "disagreed", "no", "unsure"],
        "note": ["", "", "", "x", ""],
        "label_anna": ["yes", "no", "yes", "no", None],
        "label_ben": ["no", "no", "no", None, None],
        "note_anna": [None, None, "disagreed", None, None],
        "note_ben": ["see", None, None, None, None],
    }
    assert (merged.summary["pairs"], merged.summary["disagreed"]) == (5, 1)
    # They have said what they have said.
    assert merged.summary["agreement"][0]["agreed"] == 1
    assert neardup.merge_reviews([merged]).labels.equals(merged.labels)


def test_merge__of_one_table_without_a_label_of_its_own():
    """By reviewers a and b: such columns may be of documents a and b, too, and are no label."""
    rows = table(("1", "2", ""), ("3", "4", ""), label_a=["no", "yes"], label_b=["no", "no"])
    merged = neardup.merge_reviews([rows.drop(["label"])])
    assert merged.labels["label"].to_pylist() == ["no", "disagreed"]


def test_merge__takes_a_pair_either_way():
    anna, ben = table(("1", "2", "yes"), ("3", "4", "no")), table(("2", "1", "no"))
    merged = neardup.merge_reviews([anna, ben])
    assert merged.labels.select(["id_a", "id_b", "label"]).to_pylist() == [
        {"id_a": "1", "id_b": "2", "label": "disagreed"},
        {"id_a": "3", "id_b": "4", "label": "no"},
    ]
    assert merged.summary["agreement"][0]["pairs"] == 1
    # Ids of two collections may be the same, and these are two pairs.
    two = table(("1", "2", "yes"), ("2", "1", "yes"))
    assert neardup.merge_reviews([two, ben]).labels["label"].to_pylist() == ["yes", "disagreed"]


def test_merge__of_pairs_that_nobody_has_judged():
    open_ = table(("1", "2", ""), ("3", "4", " Yes "), note=["what?", ""])
    merged = neardup.merge_reviews([open_, table(("1", "2", "no"))])
    assert merged.labels.to_pydict() == {
        "id_a": ["3", "1"],
        "id_b": ["4", "2"],
        "label": ["yes", "no"],
        "note": ["", "what?"],
        "label_1": ["yes", None],
        "label_2": [None, "no"],
    }


def test_merge__refuses():
    good = table(("1", "2", "yes"))
    with pytest.raises(InvalidInputError, match="there as yes and as no"):
        neardup.merge_reviews([good, table(("1", "2", "yes"), ("1", "2", "no"))])
    of_both = [("1", "2", "yes")] * 2
    with pytest.raises(InvalidInputError, match="there as yes and as no"):
        neardup.merge_reviews([table(*of_both, label_anna=["yes", "no"], label_ben=["yes", None])])
    with pytest.raises(InvalidInputError, match=r"row 1: label must be one of .*; got 'maybe'"):
        neardup.merge_reviews([good, table(("1", "2", "maybe"))])
    with pytest.raises(InvalidInputError, match="no column 'id_b'"):
        neardup.merge_reviews([good, pa.table({"id_a": ["1"]})])
