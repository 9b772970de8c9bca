from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.matching import edit_join, join
from neardup.matching import edit_join as edit_distances
from neardup.runs.runner import Runner
from neardup.tables import TokenLists
from tests.arrays import ragged, random_words
from tests.each import each_of
from tests.kernels.edit_strings import random_edit, random_strings, threshold_of, token_lists
from tests.oracles import edits


def joined(strings, threshold, *, sides=None, limit=None, runner=None, **options):
    join = edit_join.EditJoin(token_lists(strings), threshold_of(threshold), **options)
    sides = None if sides is None else np.array(sides, np.uint8)
    pairs, counts = join.run(sides, limit, runner or Runner(1))
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


def assert_as_oracle(strings, threshold, *, sides=None, **options):
    found, counts = joined(strings, threshold, sides=sides, **options)
    assert found == edits.join(strings, threshold, sides)
    assert counts.results == len(found) <= counts.verified <= counts.after_suffix
    assert (
        counts.after_suffix
        <= counts.after_parity
        <= counts.after_position
        <= counts.after_length
        <= counts.hits
    )


@each_of(
    ("similarity", "length", "n_edits"),
    [("0.8", 5, 1), ("0.54", 50, 23), ("0.9", 10, 1), ("0.7", 10, 3), ("0.35", 20, 13)],
)
def test_edit_join__exact_ties(similarity, length, n_edits):
    """Similarities that are the threshold, and that floating point loses or finds in excess."""
    x = "".join(map(chr, range(100, 100 + length)))
    substituted = "!" * n_edits + x[n_edits:]
    shortened = x[n_edits:]
    strings = [x, substituted, shortened]
    t, step = Fraction(similarity), Fraction(1, 10**9)
    expected = [(0, 1, n_edits), (0, 2, n_edits)]
    assert [row for row in joined(strings, t)[0] if row[0] == 0] == expected
    assert [row for row in joined(strings, t + step)[0] if row[0] == 0] == []


def test_edit_join__similarity_of_longer_strings_needs_longer_prefixes():
    """A short string is indexed for partners that may differ from it in more edits than it has."""
    generator = random.Random(13)
    for _ in range(40):
        core = "".join(generator.choices("abcdef", k=generator.randint(6, 14)))
        longer = core
        for _ in range(generator.randint(1, 5)):
            place = generator.randrange(len(longer) + 1)
            longer = longer[:place] + generator.choice("abcdefxyz") + longer[place:]
        # Other strings with these q-grams, so that the prefixes lie differently.
        parts = [string[i : i + 6] for string in (core, longer) for i in range(0, 12, 4)]
        strings = [core, longer, *generator.sample(parts, 4)]
        for qgram, threshold in ((1, Fraction("0.6")), (2, Fraction("0.7"))):
            assert_as_oracle(strings, threshold, qgram=qgram)


@each_of("qgram", [1, 2, 5])
@each_of("threshold", [1, 3, Fraction("0.6")])
@each_of(("piece", "room"), [(1, 1), (3, 1), (5, 2), (4, 64)])
def test_edit_join__small_pieces_and_rooms(monkeypatch, qgram, threshold, piece, room):
    """Where more is found than fits, also of strings too short for q-grams."""
    generator = random.Random(f"{qgram} {threshold}")
    strings = random_strings(generator, 10)
    strings += [generator.choice(strings) for _ in range(4)] + ["ab", "b", "a", "ba", "aab"]
    expected = joined(strings, threshold, qgram=qgram)
    assert expected[0] == edits.join(strings, threshold)
    monkeypatch.setattr(join, "_PIECE", piece)
    monkeypatch.setattr(join, "_FIRST_PAIRS", room)
    assert joined(strings, threshold, qgram=qgram) == expected


def test_edit_join__tokens_of_all_sizes():
    """Tokens are hashes of 64 bits, whatever script they come from."""
    generator = random.Random(14)
    letters = [*dict.fromkeys(random_words(generator, 12)), ord("é"), ord("語"), 0x1F600]
    for threshold in (1, 2, Fraction("0.6")):
        strings = []
        for _ in range(10):
            new = generator.choices(letters, k=generator.randrange(9))
            if strings and generator.random() < 0.7:
                new = [*generator.choice(strings)]
                new[generator.randrange(len(new) + 1) :][:1] = [generator.choice(letters)]
            strings.append(new)
        tokens = TokenLists(*ragged(strings))
        join = edit_join.EditJoin(tokens, threshold_of(threshold))
        pairs, _ = join.run(None, None, Runner(1))
        found = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
        assert list(found) == edits.join(strings, threshold)


def test_as_characters__beyond_the_surrogates():
    """Different tokens stay different characters, none of them half of another one."""
    n = edit_distances._FIRST_SURROGATE + 3
    offsets = np.array([0, 2, n, n], np.int64)
    one, other, empty = edit_distances.as_characters(
        TokenLists(np.arange(n, dtype=np.uint64), offsets)
    )
    assert (len(one), len(other), empty) == (2, n - 2, "")
    assert len({*one, *other}) == n
    assert (one + other).encode().decode() == one + other


def test_edit_join__too_many_tokens(monkeypatch):
    monkeypatch.setattr(edit_distances, "_MOST_TOKENS", 3)
    assert joined(["abc", "abcc"], 1)[0] == [(0, 1, 1)]
    with pytest.raises(InvalidParameterError, match=r"3 different tokens.* 4"):
        joined(["abc", "abcd"], 1)


def test_edit_join__limit_is_for_results():
    """Candidates that turn out to be too far apart do not count."""
    found, counts = joined(["abcd", "abdc", "badc", "abcd"], 1, qgram=1, limit=1)
    assert (found, counts.results) == ([(0, 3, 0)], 1)
    assert counts.verified > 1


def test_edit_join__what_each_filter_lets_through():
    generator = random.Random(0)
    strings = ["".join(generator.choices("abcd", k=generator.randrange(15, 25))) for _ in range(80)]
    for i in range(80):
        if generator.random() < 0.3:
            strings[i] = generator.choice(strings)
            for _ in range(generator.randrange(6)):
                strings[i] = random_edit(generator, strings[i], "abcd")
    counts = edit_join.EditJoinCounts(6398, 1620, 1069, 1058, 1027, 63, 11)
    assert joined(strings, 3, qgram=3)[1] == counts
