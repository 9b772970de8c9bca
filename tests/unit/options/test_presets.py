"""The table of presets, who takes which of them, and that what is given wins."""

from __future__ import annotations

from typing import get_args

from neardup.options.choices import CutPreset, DocumentPreset, PassagePresetName, PresetName
from neardup.options.document_options import DedupOptions, DocumentSchemeOptions, PairOptions
from neardup.options.kinds import Choice
from neardup.options.passage_options import CutOptions, PassageOptions, SearchOptions
from neardup.options.presets import PRESETS
from tests.each import each_of

JOBS = (
    *(DedupOptions, PairOptions, DocumentSchemeOptions),
    *(PassageOptions, SearchOptions, CutOptions),
)


def names_of(literal) -> set[str]:
    parts = get_args(literal)
    return {part for part in parts if isinstance(part, str)}.union(*map(names_of, parts))


def test_presets__one_for_each_name():
    assert set(PRESETS) == names_of(PresetName)


def test_presets__who_takes_which():
    """The types, which users' editors show, are those of the table."""
    assert names_of(DocumentPreset) == {name for name, each in PRESETS.items() if each.documents}
    assert names_of(PassagePresetName) == {name for name, each in PRESETS.items() if each.passages}
    assert names_of(CutPreset) == {name for name, each in PRESETS.items() if each.cuts}


@each_of("job", JOBS)
def test_presets__are_options_of_the_job(job):
    """Each row is made of values that the job takes, as they would be given."""
    kind = job.known["preset"].kind
    assert isinstance(kind, Choice)
    for name in kind.values:
        row = job.implied({"preset": name})
        assert row
        assert job(preset=name) == job(**row, preset=name)
        for key, value in row.items():
            assert job.known[key].checked(value) == value


@each_of("job", JOBS)
def test_presets__what_is_given_wins(job):
    """Also where it is the default, and where it is None, which is the same as not to give it."""
    for name in job.known["preset"].kind.values:
        row = job.implied({"preset": name})
        for key, value in row.items():
            other = {
                "num_perm": 64,
                "ngram": 7,
                "min_tokens": 17,
                "threshold": "0.9",
                "casefold": False,
            }.get(key, "unary" if key == "idf" else "words")
            found = job(preset=name, **{key: other})
            assert vars(found)[key] == other
            assert {**vars(found), key: value} == vars(job(preset=name))
            assert job(preset=name, **{key: None} if job.known[key].default is None else {}) == job(
                preset=name
            )


def test_preset__of_a_default_that_is_typed():
    """The index's usual threshold is 0.8, and its usual tokenizer words."""
    made = DocumentSchemeOptions(preset="ocr", threshold="0.8", tokenizer="words")
    assert (made.threshold, made.tokenizer, made.ngram, made.casefold) == ("0.8", "words", 5, True)
    chosen = {"casefold": True, "ngram": 5, "num_perm": 512}
    assert made.describe_preset() == {"preset": {"name": "ocr", "chosen": chosen}}


@each_of(
    "given",
    [
        {"measure": "containment"},
        {"measure": "weighted-jaccard"},
        {"max_distance": 2},
    ],
)
def test_preset__threshold_is_one_of_jaccard_similarities(given):
    found = PairOptions(preset="titles", **given)
    assert (found.threshold, found.tokenizer, found.ngram) == (None, "characters", 2)
    assert "threshold" not in found.describe_preset()["preset"]["chosen"]


def test_preset__hash_functions_where_there_are_bands():
    assert PairOptions(preset="ocr").num_perm is None
    assert PairOptions(preset="ocr", method="minhash").num_perm == 512
    assert DedupOptions(preset="ocr").num_perm == 512
    assert DedupOptions(preset="ocr", method="exact").num_perm is None
