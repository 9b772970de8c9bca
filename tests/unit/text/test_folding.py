from __future__ import annotations

import pytest

import neardup
from tests.each import each_of


@each_of(
    ("fold", "one", "other"),
    [
        ("german", "Müller", "Mueller"),
        ("german", "Mu\u0308ller", "Mueller"),
        ("german", "GROẞE STRAẞE", "grosse strasse"),
        ("nordic", "Ångström", "Aangstroem"),
        ("nordic", "A\u030angstro\u0308m", "Aangstroem"),
        # The sign of the unit, which NFC makes a letter.
        ("nordic", "\u212bngström", "Aangstroem"),
        ("nordic", "Sørensen, Ærø", "Soerensen, Aeroe"),
    ],
)
def test_fold__what_is_written_out_is_equal(fold, one, other):
    for how in ({}, {"measure": "edit", "casefold": True}, {"tokenizer": "whitespace"}):
        how = {"casefold": True, **how}
        assert neardup.similarity(one, other, fold=fold, **how) == 1
        assert neardup.similarity(one, other, **how) < 1 or "ẞ" in one


def test_fold__of_other_letters_nothing():
    assert neardup.similarity("Mueller", "Müller", fold="nordic") == 0
    assert neardup.similarity("Ålborg", "Aalborg", fold="german") == 0
    assert neardup.similarity("café", "cafe", fold="german") == 0
    assert neardup.similarity("café Müller", "cafe Mueller", fold="german", strip_accents=True) == 1


def test_fold__accents_on_letters_that_are_written_out():
    """They do not count where accents do not, however a text has them."""
    how = {"fold": "nordic", "strip_accents": True}
    for one in ("gǿr Ǽr Ǻr", "gø\u0301r Æ\u0301r A\u030a\u0301r"):
        assert neardup.similarity(one, "goer aer aar", **how) == 1
        for strings in ({"tokenizer": "whitespace"}, {"measure": "edit"}):
            assert neardup.similarity(one, "goer aer aar", casefold=True, **how, **strings) == 1
    assert neardup.similarity("gǿr", "gør", fold="nordic") == 0
    assert neardup.similarity("Ṽ", "V", fold="nordic", strip_accents=True) == 1


def test_fold__places_are_those_of_the_text():
    [text, other] = ["xx Mu\u0308ller größer", "yy Mueller groesser"]
    found = neardup.align([text], [other], fold="german", min_tokens=2, threshold=0.9).passages
    [row] = found.to_pylist()
    assert text[row["query_start"] : row["query_end"]] == "Mu\u0308ller größer"
    assert other[row["doc_start"] : row["doc_end"]] == "Mueller groesser"


@each_of("kind", ["minhash", "edit"])
def test_fold__sketches_are_of_one_folding(kind):
    plain, folded = (neardup.sketch(["Müller"], kind=kind, fold=each) for each in (None, "german"))
    assert "fold" not in plain.scheme
    assert folded.scheme["fold"] == "german"
    with pytest.raises(neardup.SketchMismatchError, match="fold None and 'german'"):
        neardup.estimate(plain, folded)


@each_of("tokenizer", ["bytes", "code"])
def test_fold__where_nothing_is_folded(tokenizer):
    message = f"tokenizer {tokenizer} has nothing to fold away; leave out fold, or"
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.find_pairs(["a", "b"], tokenizer=tokenizer, fold="german")
