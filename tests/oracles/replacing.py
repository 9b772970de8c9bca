"""Texts with words replaced, by definition: from left to right, of several phrases the longest."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.oracles.spans import Places, cut, normalised_characters
from tests.oracles.tokens import Options

BLANKS = " \t"


@dataclass(frozen=True)
class Rule:
    """Words that are replaced, the marks around them, and what stands for them."""

    words: tuple[bytes, ...]
    before: str
    behind: str
    new: str


def words_of(text: str, options: Options) -> list[tuple[bytes, int, int]]:
    """Give the words of a text that is in its form, with their places in characters."""
    characters = [(character, i, i + 1) for i, character in enumerate(text)]
    return cut(characters, "words", replace(options, unicode_form=None))


def formed(text: str, options: Options) -> str:
    return unicodedata.normalize(options.unicode_form, text) if options.unicode_form else text


def parsed(rules: Mapping[str, str], options: Options) -> list[Rule]:
    found = []
    for old, new in rules.items():
        text = formed(old, options)
        words = words_of(text, options)
        before, behind = text[: words[0][1]], text[words[-1][2] :]
        tokens = tuple(token for token, _, _ in words)
        found.append(Rule(tokens, before.strip(), behind.strip(), formed(new.strip(), options)))
    return found


def places_of_phrases(
    text: str, rules: Mapping[str, str], options: Options
) -> list[tuple[int, int, str]]:
    """Give what is replaced in a text that is in its form: first character, end, and new text."""
    found: list[tuple[int, int, str]] = []
    words = words_of(text, options)
    position = i = 0
    is_empty = True
    while i < len(words):
        there = [
            rule
            for rule in parsed(rules, options)
            if rule.words == tuple(token for token, _, _ in words[i : i + len(rule.words)])
        ]
        if not there:
            i += 1
            continue
        rule = max(there, key=lambda each: len(each.words))
        start, stop = words[i][1], words[i + len(rule.words) - 1][2]
        i += len(rule.words)
        in_front = text[position:start].rstrip(BLANKS)
        if rule.before and in_front.endswith(rule.before):
            start = position + len(in_front) - len(rule.before)
        if text.startswith(rule.behind, stop):
            stop += len(rule.behind)
        if not rule.new:
            start = position + len(text[position:start].rstrip(BLANKS))
            if is_empty and start == position:
                stop = len(text) - len(text[stop:].lstrip(BLANKS))
        is_empty = is_empty and start == position and not rule.new
        found.append((start, stop, rule.new))
        position = stop
    return found


def replaced_characters(text: str, rules: Mapping[str, str], options: Options) -> Places:
    """Give each character of the text with words replaced, and the bytes of the text it is from.

    What stands for words has the place of all of them, and of what went with them.
    """
    characters = normalised_characters(text, options.unicode_form)
    joined = "".join(character for character, _, _ in characters)
    found: Places = []
    position = 0
    for start, stop, new in places_of_phrases(joined, rules, options):
        found += characters[position:start]
        place = characters[start][1], characters[stop - 1][2]
        found += [(character, *place) for character in new]
        position = stop
    return found + characters[position:]


def replaced(text: str, rules: Mapping[str, str], options: Options) -> str:
    """Give a text with words replaced."""
    return "".join(character for character, _, _ in replaced_characters(text, rules, options))


def are_sound(rules: Mapping[str, str], options: Options) -> bool:
    """Whether no two rules are of the same words, and nothing that stands for words is replaced."""
    words = [rule.words for rule in parsed(rules, options)]
    if len(set(words)) < len(words):
        return False
    return all(
        [token for token, _, _ in words_of(formed(new, options), options)]
        == [token for token, _, _ in words_of(replaced(new, rules, options), options)]
        for new in rules.values()
    )
