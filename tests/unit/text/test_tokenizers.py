from __future__ import annotations

import builtins
import re

import numpy as np
import pytest
import tokenizers

import neardup
from neardup.kernels.common.hashing import hash_bytes
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import load_file_tokenizer, make_tokenizer
from neardup.version import pip_install
from tests.arrays import make_texts
from tests.calls import grouped
from tests.each import each_of

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
    result = neardup.deduplicate(
        texts, text=neardup.TextOptions(tokenizer=str(tokenizer_file), ngram=2)
    )
    assert result.removed["id"].to_pylist() == ["1"]
    folded = neardup.deduplicate(
        texts, text=neardup.TextOptions(tokenizer=str(tokenizer_file), ngram=2, casefold=True)
    )
    assert folded.removed["id"].to_pylist() == ["1", "2"]


def test_file_tokenizer__errors(tmp_path, monkeypatch):
    with pytest.raises(neardup.ReadError, match=r"absent\.json: No such file"):
        make_tokenizer(tmp_path / "absent.json", KEEP_CASE)
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(neardup.InvalidInputError, match=r"other\.json: not a tokenizer\.json"):
        make_tokenizer(other, KEEP_CASE)

    real_import = builtins.__import__

    def without_tokenizers(name, *args, **kwargs):
        if name == "tokenizers":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_tokenizers)
    with pytest.raises(neardup.MissingExtraError, match=re.escape(pip_install("tokenizers"))):
        make_tokenizer(other, KEEP_CASE)


@each_of(
    ("result", "facts"),
    [
        ([1.5], "strings or integers, .*float"),
        ([1, 1.0], "strings or integers, .*float"),
        (None, "list.* NoneType"),
        ([2**64], "18446744073709551616, .*too big"),
        (["\ud800"], r"'\\ud800', .*'utf-8' codec"),
    ],
)
def test_function_tokenizer__other_results(result, facts):
    tokenizer = make_tokenizer(lambda text: result, KEEP_CASE)
    with pytest.raises(neardup.InvalidParameterError, match=f"^a tokenizer .*{facts}"):
        tokenizer.hash_tokens(make_texts(["a"]))


def located(function, text, normalisation=KEEP_CASE):
    """Return what stands at the place of each token, by its hash."""
    lists, spans = make_tokenizer(function, normalisation).locate_tokens(make_texts([text]))
    parts = [text.encode()[a:b].decode() for a, b in zip(spans.starts, spans.stops, strict=True)]
    return list(zip(lists.values.tolist(), parts, strict=True))


def test_function_tokenizer__places():
    """Of strings one behind the other; of places the text there, or the token that is given."""
    text = "Été, a Straße a"
    folding = Normalisation(casefold=True, strip_accents=True)
    expected = [
        (hash_bytes(folded.encode()), part)
        for folded, part in (("ete,", "Été,"), ("a", "a"), ("strasse", "Straße"), ("a", "a"))
    ]
    assert located(str.split, text, folding) == expected

    def spans(folded):
        return [match.span() for match in re.finditer(r"\S+", folded)]

    assert located(spans, text, folding) == expected
    stems = make_tokenizer(spans, folding).hash_tokens(make_texts([text]))
    assert stems.values.tolist() == [value for value, _ in expected]

    def lengths(folded):
        return [(stop - start, np.int64(start), stop) for start, stop in spans(folded)]

    numbers = [hash_bytes(n.to_bytes(8, "little")) for n in (4, 1, 7, 1)]
    assert located(lengths, text, folding) == list(
        zip(numbers, (part for _, part in expected), strict=True)
    )


@each_of(
    ("tokens", "facts"),
    [
        (["abc", "b"], "'b', .*token before"),
        (["ABC"], "'ABC', .*token before"),
        ([(4, 2)], r"\(4, 2\) .*5 characters; .*\(start, stop"),
        ([(0, 6)], r"\(0, 6\) "),
        ([(-1, 2)], r"\(-1, 2\) "),
        ([("a", 0.0, 1)], r"\('a', 0\.0, 1\) "),
        ([("a",)], r"\('a',\) "),
        ([(1, 2, 3, 4)], r"\(1, 2, 3, 4\) "),
        ([(1, 3), (0, 4)], r"at .* behind .* at .*order"),
        ([(1, 3), (2, 2)], "order of"),
        ([("a", 1, 2), (1.5, 3, 4)], "strings or integers, .*float"),
    ],
)
def test_function_tokenizer__refuses_places(tokens, facts):
    with pytest.raises(neardup.InvalidParameterError, match=facts):
        located(lambda _: tokens, "abc d")


FOLDED = {"tokenizer": "characters", "casefold": True}


@each_of(
    "options",
    [
        {"max_distance": 0},
        {"measure": "edit", "threshold": "1"},
        {"measure": "jaccard", "threshold": "1", "ngram": 3},
        {"measure": "jaccard", "threshold": "1", "ngram": 3, "method": "minhash"},
    ],
    ids=str,
)
def test_characters__full_case_folding(options):
    """Letters that fold to several are as many characters, as of a text that was so written."""
    texts = ["Große Straße, ﬃ", "GROSSE STRASSE, FFI"]
    [pair] = neardup.find_pairs(texts, **grouped(**FOLDED, **options)).pairs.to_pylist()
    assert pair["similarity"] == 1


def test_characters__places_of_folded_letters():
    """All that a letter folds to has its place."""
    tokenizer = make_tokenizer("characters", Normalisation(casefold=True))
    _, spans = tokenizer.locate_tokens(make_texts(["aß\u0130b"]))
    places = list(zip(spans.starts.tolist(), spans.stops.tolist(), strict=True))
    assert places == [(0, 1), (1, 3), (1, 3), (3, 5), (3, 5), (5, 6)]
