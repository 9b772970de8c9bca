from __future__ import annotations

import pytest

import neardup
from neardup.text.forms import check_replacements
from neardup.text.normalise import Normalisation
from neardup.text.replacements import Replacements, read_replacements
from tests.each import each_of

FILE = "\ufeff# streets\r\nSt. -> Street\r\n\r\nRd\tRoad\nGmbH ->\n  # firms\nC# -> C sharp\nund->&"


def test_read__lines_of_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(FILE, encoding="utf-8", newline="")
    found = read_replacements(path)
    expected = {"St.": "Street", "Rd": "Road", "GmbH": "", "C#": "C sharp", "und": "&"}
    assert found.describe() == expected
    assert found.lines == (2, 4, 5, 7, 8)
    # It is the rules that count, not where they stand.
    assert found == read_replacements(expected)
    assert hash(found) == hash(read_replacements(expected))
    assert read_replacements(None) is None


@each_of(
    ("lines", "message"),
    [
        ("a -> b\nc d", "line 2: neither -> nor a tab in 'c d'; write St -> Street, or GmbH ->"),
        ("# a\n& -> b", "line 2: '&' has no word that could be replaced; signs count beside one"),
        ("# a\n& -> b", "Turn it round, b -> &"),
        (" -> b", "line 1: '' has no word that could be replaced; signs count beside one"),
        (
            "St -> Street\n\nst. -> Saint",
            "line 3: 'st.' is replaced by line 1 already, for neither",
        ),
        ("C# -> csharp\nC++ -> cpp", "nor folded letters tell words apart; leave one of them out"),
        ("a -> b\nx -> y\nb -> a", "line 1: 'b' has what line 3 replaces; write what it becomes"),
        ("York -> New York", "line 1: 'New York' has what line 1 replaces, with or without its"),
        ("C# -> C sharp", "signs; turn it round, C sharp -> C#"),
        ("NY -> New York\nCity -> Town\nYork -> Yk", "line 1: 'New York' has what line 3 replaces"),
        ("a -> b c\nb c -> d", "line 1: 'b c' has what line 2 replaces"),
        ("a ->\nb -> a", "line 2: 'a' has what line 1 replaces"),
    ],
)
def test_read__refuses_with_the_line(lines, message, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(lines)
    with pytest.raises(neardup.InvalidInputError, match=r"words\.txt") as caught:
        check_replacements(Normalisation(replace=read_replacements(path)))
    assert message in str(caught.value)


@each_of(
    ("old", "new", "equal"),
    [("b", "&", ("a b c", "a & c")), ("C sharp", "C#", ("in C# 3", "in c sharp 3"))],
)
def test_read__takes_what_was_turned_round(old, new, equal):
    with pytest.raises(neardup.InvalidParameterError, match=f"urn it round, {old} -> {new}"):
        neardup.similarity("a", "b", replace={new: old})
    assert neardup.similarity(*equal, ngram=1, replace={old: new}) == 1


def test_read__refuses_a_mapping_by_its_words():
    with pytest.raises(neardup.InvalidParameterError, match="replace: 'a': 'b' has what 'b' repl"):
        neardup.similarity("a", "b", replace={"a": "b", "b": "c"})
    with pytest.raises(
        neardup.InvalidParameterError, match="replace: '&' has no word that could b"
    ):
        neardup.similarity("a", "b", replace={"&": "and"})
    with pytest.raises(neardup.InvalidParameterError, match="replace: 'st' is replaced by 'St' al"):
        neardup.similarity("a", "b", replace={"St": "Street", "st": "Saint"})
    with pytest.raises(neardup.InvalidParameterError, match="replace must be a path, or words"):
        neardup.similarity("a", "b", replace={"a": 1})
    many = {f"w{i}": "w" for i in range(10_001)}
    with pytest.raises(neardup.InvalidParameterError, match="10,000 replacements at most, got 10,"):
        neardup.similarity("a", "b", replace=many)
    del many["w0"]
    assert neardup.similarity("w1 x", "w x", replace=many) == 1


def test_read__what_is_no_text(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"Stra\xdfe -> Street")
    with pytest.raises(neardup.InvalidInputError, match="not in UTF-8"):
        read_replacements(path)
    with pytest.raises(neardup.ReadError, match="No such file"):
        read_replacements(tmp_path / "other.txt")


def test_replace__the_phrase_of_more_words_may_keep_others():
    rules = {"St": "Street", "St Pauli": "St Pauli"}
    assert neardup.similarity("St. Pauli, Main St", "St Pauli, Main Street", replace=rules) == 1
    assert neardup.similarity("Street Pauli", "St. Pauli", replace=rules, ngram=1) < 1


@each_of(
    ("rules", "one", "other"),
    [
        ({"St.": "Street"}, "12 Main St.", "12 Main Street"),
        ({"St": "Street"}, "12 Main St.", "12 Main Street."),
        ({", Inc.": ""}, "Acme, Inc.", "Acme"),
        ({", Inc.": ""}, "Acme Inc, London", "Acme, London"),
        ({"& Co.": "", "GmbH": ""}, "Meier GmbH  & Co. KG", "Meier KG"),
        ({"GmbH": "", "The": ""}, "The GmbH Meier", "Meier"),
        ({"G m b H": ""}, "Meier G.m.b.H", "Meier"),
        ({"GmbH": ""}, "Meier\nGmbH Ulm", "Meier\n Ulm"),
        ({"New York": "NY"}, "New-York Times", "NY Times"),
        ({"Müller": "M."}, "Mu\u0308ller", "M."),
    ],
)
def test_replace__strings_are_equal_to_the_character(rules, one, other):
    how = {"measure": "edit", "casefold": True, "unicode_form": "NFC"}
    assert neardup.similarity(one, other, replace=rules, **how) == 1


def test_replace__equal_rules_are_equal_schemes():
    made = Replacements((("a", "b"),), (3,), "words.txt")
    assert Normalisation(replace=made) == Normalisation(replace=read_replacements({"a": "b"}))
    assert Normalisation(replace=made) != Normalisation()
