"""What holds for every tokenizer: hashes by definition, places, and nothing but the text counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.options import kinds
from neardup.tables import Texts
from neardup.text.forms import Normalisation
from neardup.text.shingles import make_shingle_scheme
from neardup.text.tokenizers import NAMED, Tokenizer, file_in_name, make_tokenizer
from tests.arrays import make_texts, unragged
from tests.commands import COMMANDS
from tests.each import each_of
from tests.examples import examples
from tests.oracles import hashing
from tests.oracles.programs import program_tokens
from tests.oracles.spans import byte_length, normalised_characters
from tests.oracles.tokens import Options, fold, tokenize
from tests.strategies import any_text, assigned_only, options
from tests.tokenizer_files import write_byte_pairs, write_word_pieces

hash_token = cache(hashing.hash_token)

PLAIN = Options(casefold=False)


@dataclass(frozen=True)
class Case:
    """A tokenizer as the suite sees it.

    Parameters
    ----------
    name
        What a user names; the name of a file for one that is a file.
    cut
        The tokens of a text by definition, as bytes; ``path`` is where the file is.
    choice
        What goes to ``make_tokenizer``.
    has_places
        Whether it knows where tokens stand.
    normalises
        Whether anything can be folded away.
    """

    name: str
    cut: Callable[[str, Options, Any], list[bytes]]
    choice: Callable[[Any], Any]
    has_places: bool = True
    normalises: bool = True

    def __str__(self) -> str:
        return self.name

    def make(self, files: Files, chosen: Options) -> Tokenizer:
        return make_tokenizer(self.choice(files), Normalisation(**vars(chosen)))

    def expected(self, files: Files, string: str, chosen: Options) -> list[int]:
        return [hash_token(token) for token in self.cut(string, chosen, files)]


@dataclass(frozen=True)
class Files:
    """Files of tokenizers and what the library that they are for makes of them."""

    folder: Path
    libraries: dict[str, tokenizers.Tokenizer]

    def __str__(self) -> str:
        return "files"


def folded(text: str, chosen: Options) -> str:
    normal = (c for c, _, _ in normalised_characters(text, chosen.unicode_form))
    return "".join(fold(c, chosen) for c in normal)


def split_at_a(text: str) -> list[str]:
    return text.split("a")


def split_numbers(text: str) -> list[int]:
    return [len(part) - 3 for part in text.split("a")]


def places_of_runs(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^a ]+", text)]


def placed_starts(text: str) -> list[tuple[str, int, int]]:
    return [(match.group()[:2], *match.span()) for match in re.finditer(r"[^a ]+", text)]


def _named(name: str, **facts: bool) -> Case:
    return Case(name, lambda text, chosen, _: tokenize(text, name, chosen), lambda _: name, **facts)


def _file(name: str) -> Case:
    def cut(text: str, chosen: Options, files: Files) -> list[bytes]:
        encoding = files.libraries[name].encode(folded(text, chosen), add_special_tokens=False)
        return [number.to_bytes(8, "little") for number in encoding.ids]

    return Case(name, cut, lambda files: files.folder / name)


def _function(
    function: Callable[[str], list[Any]], to_bytes: Callable[[str, Any], bytes], **facts: bool
) -> Case:
    def cut(text: str, chosen: Options, _: Files) -> list[bytes]:
        text = folded(text, chosen)
        return [to_bytes(text, token) for token in function(text)]

    return Case(function.__name__, cut, lambda _: function, **facts)


CASES = [
    _named("words"),
    _named("whitespace"),
    _named("characters"),
    _named("bytes", normalises=False),
    Case(
        "code",
        lambda text, _, __: program_tokens(text, "python"),
        lambda _: "code",
        normalises=False,
    ),
    _file("pairs.json"),
    _file("pieces.json"),
    _function(split_at_a, lambda _, token: token.encode()),
    _function(split_numbers, lambda _, n: n.to_bytes(8, "little", signed=True), has_places=False),
    _function(places_of_runs, lambda text, place: text[slice(*place)].encode()),
    _function(placed_starts, lambda _, token: token[0].encode()),
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_locating = pytest.mark.parametrize("case", [c for c in CASES if c.has_places], ids=str)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    paths = [write_byte_pairs(folder / "pairs.json"), write_word_pieces(folder / "pieces.json")]
    return Files(folder, {path.name: tokenizers.Tokenizer.from_file(str(path)) for path in paths})


def allowed(case: Case, chosen: Options, strings: list[str]) -> tuple[Options, list[str]]:
    """Leave out what a tokenizer does not take, or another version of Unicode may know."""
    if not case.normalises:
        return PLAIN, strings
    return chosen, strings if chosen.unicode_form is None else list(map(assigned_only, strings))


def hashes(tokenizer: Tokenizer, texts: Texts) -> list[list[int]]:
    lists = tokenizer.hash_tokens(texts)
    assert lists.values.dtype == np.uint64
    assert lists.offsets[0] == 0
    assert len(lists) == len(texts)
    return unragged(lists.values, lists.offsets)


def located(tokenizer: Tokenizer, texts: Texts) -> list[list[tuple[int, int, int]]]:
    """Return hash, start and stop of each token of each text."""
    lists, spans = tokenizer.locate_tokens(texts)
    assert spans.starts.dtype == spans.stops.dtype == np.int64
    assert len(spans) == len(spans.starts) == len(spans.stops) == len(lists.values)
    rows = zip(lists.values.tolist(), spans.starts.tolist(), spans.stops.tolist(), strict=True)
    return [[next(rows) for _ in range(b - a)] for a, b in pairwise(lists.offsets.tolist())]


@every_case
@examples(60)
@given(strings=st.lists(any_text, max_size=5), chosen=options, lead=any_text)
def test_hash_tokens__as_oracle(case, files, strings, chosen, lead):
    """Whatever stands around the texts in memory."""
    chosen, strings = allowed(case, chosen, strings)
    expected = [case.expected(files, string, chosen) for string in strings]
    texts = make_texts(strings, lead=lead, trail=lead)
    assert hashes(case.make(files, chosen), texts) == expected


@every_locating
@examples(60)
@given(strings=st.lists(any_text, max_size=5), chosen=options, lead=any_text)
def test_locate_tokens__same_hashes_and_places_in_the_text(case, files, strings, chosen, lead):
    """Places are whole characters, unless tokens are bytes, and no token starts before another."""
    chosen, strings = allowed(case, chosen, strings)
    tokenizer = case.make(files, chosen)
    texts = make_texts(strings, lead=lead, trail=lead)
    found = located(tokenizer, texts)
    assert [[value for value, _, _ in row] for row in found] == hashes(tokenizer, texts)
    for string, row in zip(strings, found, strict=True):
        edges = {byte_length(string[:i]) for i in range(len(string) + 1)}
        if case.name == "bytes":
            edges = set(range(byte_length(string) + 1))
        assert {place for _, start, stop in row for place in (start, stop)} <= edges
        assert all(start <= stop for _, start, stop in row)
        assert [start for _, start, _ in row] == sorted(start for _, start, _ in row)


@every_case
@examples(60)
@given(strings=st.lists(any_text, max_size=6), chosen=options, cut=st.integers(0, 6))
def test_texts_do_not_know_their_neighbours(case, files, strings, chosen, cut):
    """Any cut of the texts into slices gives the same hashes and places."""
    chosen, strings = allowed(case, chosen, strings)
    cut = min(cut, len(strings))
    tokenizer = case.make(files, chosen)
    texts = make_texts(strings, lead="é")
    parts = [Texts(texts.data, texts.offsets[: cut + 1]), Texts(texts.data, texts.offsets[cut:])]
    whole = hashes(tokenizer, texts)
    assert whole == [row for part in parts for row in hashes(tokenizer, part)]
    if case.has_places:
        whole = located(tokenizer, texts)
        assert whole == [row for part in parts for row in located(tokenizer, part)]


ODD = [
    *("\0", "\ufffd", "\ufeff", "\u200b", "\U000e0001", "\ufdd0", "\uffff", "\U0010ffff", "\x7f"),
    *("\u0301", "\u1160", "\u3099a", "a\0b", "\r\n", "\u0378", "\U0001f600\u200d\U0001f680"),
]


@every_case
def test_odd_texts__are_texts(case, files):
    """Repaired, unassigned, joining and control characters: same rule as for any other."""
    for chosen in (PLAIN, replace(PLAIN, strip_accents=True, casefold=True)):
        used = chosen if case.normalises else PLAIN
        tokenizer = case.make(files, used)
        expected = [case.expected(files, string, used) for string in ODD]
        assert hashes(tokenizer, make_texts(ODD)) == expected
        if case.has_places:
            found = located(tokenizer, make_texts(ODD))
            assert [[value for value, _, _ in row] for row in found] == expected


@every_case
def test_hash_tokens__in_several_threads(case, files):
    tokenizer = case.make(files, PLAIN)
    texts = [make_texts([f"text {i} of a thread é" * (i % 7)]) for i in range(60)]
    expected = [hashes(tokenizer, one) for one in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda one: hashes(tokenizer, one), texts)) == expected


def test_name__equal_only_for_equal_hashes(files):
    names = [case.make(files, PLAIN).name for case in CASES]
    assert names == [case.make(files, PLAIN).name for case in CASES]
    assert len(set(names)) == len(CASES)
    described = [
        repr(make_shingle_scheme(case.choice(files), casefold=casefold).describe())
        for case in CASES
        for casefold in (False, True)
        if case.normalises or not casefold
    ]
    assert len(set(described)) == len(described)


def test_name__says_which_file(files):
    for case in CASES:
        name = case.make(files, PLAIN).name
        assert file_in_name(name) == (case.name if case.name in files.libraries else None)


@pytest.mark.parametrize("case", [c for c in CASES if not c.has_places], ids=str)
def test_locate_tokens__without_places(case, files):
    message = r"-3\b.*split_numbers\b.*\(token, start, stop\)"
    with pytest.raises(InvalidParameterError, match=message):
        case.make(files, PLAIN).locate_tokens(make_texts(["a"]))


def test_named__all_have_a_case():
    assert NAMED.keys() <= {case.name for case in CASES}
    assert tuple(NAMED) == kinds.TokenizerName.names
    [option] = [option for option in COMMANDS["dedup"] if option.name == "tokenizer"]
    assert option.help == f"Tokens: {', '.join(list(NAMED)[:-1])} or {list(NAMED)[-1]}."
    with pytest.raises(InvalidParameterError, match=", ".join(NAMED)):
        make_tokenizer("none", Normalisation())


@each_of("name", NAMED)
def test_named__what_is_folded_away(name):
    """Case in words unless asked otherwise, and nothing where nothing can be."""
    scheme = make_shingle_scheme(name)
    assert scheme.normalisation == Normalisation(casefold=name == "words")
    if NAMED[name].normalises:
        assert make_shingle_scheme(name, strip_accents=True).normalisation.strip_accents
    else:
        with pytest.raises(InvalidParameterError, match=f"^tokenizer {name}"):
            make_shingle_scheme(name, strip_accents=True)
