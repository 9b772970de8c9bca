"""Words are hashed by their stems, in the places where the words stand."""

from __future__ import annotations

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

import neardup
import neardup.cli
from neardup.errors import InvalidParameterError
from neardup.jobs.similarity import texts_of
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.each import each_of

WORDS = make_tokenizer("words", Normalisation())
SENTENCE = "The walkers were walking past two houses, and walked on"
IN_OTHER_FORMS = "the walker was walk past two house and walks on"


def stems_by_python(text: str, language: str) -> list[int]:
    """Hash the stem of each word, word by word."""
    _, spans = WORDS.locate_tokens(texts_of(text))
    data, stemmer = text.encode(), Stemmer.Stemmer(language)
    words = [data[a:b].decode().casefold() for a, b in zip(spans.starts, spans.stops, strict=True)]
    hashes = [WORDS.hash_tokens(texts_of(stemmer.stemWord(word))).values for word in words]
    return [int(value) for each in hashes for value in each]


@given(
    language=st.sampled_from(Stemmer.algorithms()),
    texts=st.lists(
        st.lists(st.sampled_from([*SENTENCE.split(), "Häuser", "была", "行く", "a", "ing"])),
        max_size=4,
    ),
)
def test_stems__word_by_word(language, texts):
    strings = [" ".join(words) for words in texts]
    tokenizer = make_tokenizer("words", Normalisation(stem=language))
    lists, spans = tokenizer.locate_tokens(texts_of(*strings))
    assert lists.values.tolist() == [
        value for text in strings for value in stems_by_python(text, language)
    ]
    plain, places = WORDS.locate_tokens(texts_of(*strings))
    assert lists.offsets.tolist() == plain.offsets.tolist()
    assert spans.starts.tolist() == places.starts.tolist()
    assert spans.stops.tolist() == places.stops.tolist()


def test_stems__are_equal():
    english = neardup.TextOptions(ngram=1, stem="english")
    assert neardup.similarity("running dogs", "Run, dog", text=english) == 1
    assert neardup.similarity("running dogs", "Run, dog", text=neardup.TextOptions(ngram=1)) == 0


def test_stems__of_an_index(tmp_path):
    """The index keeps the language, and places are of the original text."""
    text = neardup.TextOptions(stem="english")
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=6, text=text)
    index.add([f"Before. {SENTENCE}. After it other things."])
    index = neardup.PassageIndex.open(tmp_path / "index")
    assert index.info()["scheme"]["stem"] == "english"
    [row] = index.search([IN_OTHER_FORMS], threshold=0.7).passages.to_pylist()
    assert (row["doc_start"], row["doc_end"]) == (8, 8 + len(SENTENCE))


def test_stems__on_the_command_line(tmp_path, capsys):
    (tmp_path / "in.txt").write_text(f"{SENTENCE}\n{IN_OTHER_FORMS}\n")
    dedup = ["dedup", str(tmp_path / "in.txt"), "--document", "line", "--ngram", "1", "-o"]
    assert neardup.cli.run([*dedup, str(tmp_path / "words")]) == 0
    assert "2 kept" in "".join(capsys.readouterr())
    assert neardup.cli.run([*dedup, str(tmp_path / "stems"), "--stem", "english"]) == 0
    assert "1 kept" in "".join(capsys.readouterr())


def test_stems__of_an_unknown_language():
    with pytest.raises(InvalidParameterError, match=r"^stem .* arabic, .*'klingon'$"):
        neardup.deduplicate(["a"], text=neardup.TextOptions(stem="klingon"))


@each_of("tokenizer", ["characters", "whitespace", str.split])
def test_stems__of_words_only(tokenizer):
    with pytest.raises(InvalidParameterError, match=r"^stem .*tokenizer"):
        neardup.deduplicate(["a"], text=neardup.TextOptions(stem="english", tokenizer=tokenizer))
