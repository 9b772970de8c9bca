from __future__ import annotations

import builtins
import re

import numpy as np
import pytest
import tokenizers

import neardup
from neardup.kernels.hashing import hash_bytes
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers import make_tokenizer
from neardup.text.tokenizers.files import load_file_tokenizer
from tests.arrays import make_texts, unragged

KEEP_CASE = Normalisation(casefold=False)
TEXTS = ["the cat sat on the mat", "", "Hello the cat", "été 漢字 the"]


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    """A small BPE tokenizer, set to cut and to fill up texts as files for models are."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8)
    path = tmp_path_factory.mktemp("files") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_file_tokenizer__ids_of_the_library(tokenizer_file):
    """All ids of a text, without the cutting and filling that the file asks for."""
    library = tokenizers.Tokenizer.from_file(str(tokenizer_file))
    library.no_truncation()
    library.no_padding()
    expected = [
        [hash_bytes(i.to_bytes(8, "little")) for i in library.encode(text).ids] for text in TEXTS
    ]
    lists = make_tokenizer(tokenizer_file, KEEP_CASE).hash_tokens(make_texts(TEXTS, lead="é"))
    assert unragged(lists.values, lists.offsets) == expected
    assert len(expected[0]) > 3


def test_file_tokenizer__name_follows_the_content(tokenizer_file, tmp_path):
    changed = tmp_path / "tokenizer.json"
    changed.write_text(tokenizer_file.read_text() + "\n")
    first, again, other = (
        load_file_tokenizer(path, KEEP_CASE).name
        for path in (tokenizer_file, tokenizer_file, changed)
    )
    assert first == again != other
    assert re.fullmatch(r"tokenizer\.json:[0-9a-f]{16}", first)


def test_file_tokenizer__end_to_end(tokenizer_file):
    texts = ["the cat sat on the mat", "the cat sat on the mat", "The cat sat on the mat"]
    result = neardup.deduplicate(texts, tokenizer=str(tokenizer_file), ngram=2)
    assert result.removed["id"].to_pylist() == ["1"]
    folded = neardup.deduplicate(texts, tokenizer=str(tokenizer_file), ngram=2, casefold=True)
    assert folded.removed["id"].to_pylist() == ["1", "2"]


def test_file_tokenizer__errors(tmp_path, monkeypatch):
    with pytest.raises(neardup.ReadError, match=r"absent\.json: No such file or directory$"):
        make_tokenizer(tmp_path / "absent.json", KEEP_CASE)
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(neardup.InvalidInputError, match=r"not a tokenizer\.json file: "):
        make_tokenizer(other, KEEP_CASE)

    real_import = builtins.__import__

    def without_tokenizers(name, *args, **kwargs):
        if name == "tokenizers":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_tokenizers)
    with pytest.raises(neardup.MissingExtraError, match=r"pip install 'neardup\[tokenizers\]'"):
        make_tokenizer(other, KEEP_CASE)


def test_function_tokenizer__strings_and_numbers():
    words = make_tokenizer(str.split, KEEP_CASE).hash_tokens(make_texts(TEXTS))
    expected = [[hash_bytes(word.encode()) for word in text.split()] for text in TEXTS]
    assert unragged(words.values, words.offsets) == expected
    numbers = make_tokenizer(lambda text: [len(text), np.int64(-1)], KEEP_CASE)
    lists = numbers.hash_tokens(make_texts(["abc"]))
    expected = [hash_bytes(n.to_bytes(8, "little", signed=True)) for n in (3, -1)]
    assert lists.values.tolist() == expected


def test_function_tokenizer__gets_folded_text():
    seen = []

    def collect(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    normalisation = Normalisation(casefold=True, strip_accents=True, unicode_form="NFKC")
    make_tokenizer(collect, normalisation).hash_tokens(make_texts(["ÉTÉ ﬁn"]))
    assert seen == ["ete fin"]


def test_function_tokenizer__same_words_as_the_kernel():
    """A token is hashed by its bytes, whoever has cut it."""
    text = make_texts(["one two threefourfivesix"])
    by_kernel = make_tokenizer("whitespace", KEEP_CASE).hash_tokens(text)
    by_function = make_tokenizer(str.split, KEEP_CASE).hash_tokens(text)
    assert by_kernel.values.tolist() == by_function.values.tolist()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([1.5], "a tokenizer must return strings or integers, got float"),
        ([1, 1.0], "a tokenizer must return strings or integers, got float"),
        (None, "a tokenizer must return a list of tokens, got NoneType"),
        ([2**64], "a tokenizer returned 18446744073709551616, which cannot be hashed: int too big"),
        (["\ud800"], r"a tokenizer returned '\\ud800', which cannot be hashed: 'utf-8' codec"),
    ],
)
def test_function_tokenizer__other_results(result, message):
    tokenizer = make_tokenizer(lambda text: result, KEEP_CASE)
    with pytest.raises(neardup.InvalidParameterError, match=f"^{message}"):
        tokenizer.hash_tokens(make_texts(["a"]))


def test_make_tokenizer__unknown():
    with pytest.raises(neardup.InvalidParameterError, match=r"^tokenizer must be one of words, "):
        make_tokenizer("letters", KEEP_CASE)
    with pytest.raises(neardup.InvalidParameterError, match=r"leave out casefold, or choose"):
        neardup.deduplicate(["a"], tokenizer="bytes", casefold=True)
