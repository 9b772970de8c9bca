"""Groups of options: the same as the flat names, wherever a function has these."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

import neardup
from neardup import ReadOptions, RunOptions, TextOptions
from neardup.errors import InvalidParameterError
from neardup.options.kinds import (
    ByteSize,
    Choice,
    Columns,
    Delimiter,
    Encoding,
    Flag,
    FunctionOrFlag,
    Kind,
    NameOrNumber,
    OneOf,
    PathOrUrl,
    Switch,
    Text,
    Tokenizer,
    Whole,
)
from neardup.options.option import REQUIRED
from tests.each import each_of
from tests.functions import GROUPS, TAKING

ARGUMENTS = dict(zip(("text", "read", "run"), GROUPS, strict=True))
# They take what the index cannot know, not how texts are cut.
OPENING = {"DocumentIndex.open", "PassageIndex.open"}
# A value of each kind that is nobody's default.
VALUES: dict[type[Kind], Any] = {
    Whole: 7,
    OneOf: 40,
    ByteSize: "1GB",
    Flag: True,
    Switch: True,
    Text: "lang = 'en'",
    NameOrNumber: 2,
    Columns: "body",
    Delimiter: ";",
    Encoding: "cp1252",
    PathOrUrl: "work",
    Tokenizer: "lines",
    FunctionOrFlag: True,
}


def value_of(kind: Kind, *, but: Any) -> Any:
    if isinstance(kind, Choice):
        return next(value for value in kind.values if value not in (but, "bytes"))
    return VALUES[type(kind)]


def given_to(found: Any, **options: Any) -> Any:
    """Make the value that a function gets of options, with something in all that is required."""
    known = found.takes.known
    required = {name: "x" for name in known if known[name].default is REQUIRED}
    return found.takes(**required, **options)


@each_of("name", list(TAKING))
def test_functions__take_the_groups_of_which_they_have_options(name):
    known = TAKING[name].takes.known
    for argument, group in ARGUMENTS.items():
        has_some = bool(known.keys() & group.known.keys()) and name not in OPENING
        assert has_some == (argument in known), argument


@each_of("name", list(TAKING))
def test_group__is_what_its_options_are_by_their_names(name):
    found, n_tried = TAKING[name], 0
    for argument, group in ARGUMENTS.items():
        if argument in found.takes.known:
            for each in group.known.keys() & found.takes.known.keys():
                option = found.takes.known[each]
                value = {each: value_of(option.kind, but=option.default)}
                together = {argument: group(**value)}
                assert given_to(found, **together) == given_to(found, **value) != given_to(found)
                with pytest.raises(TypeError, match=f"got '{each}' twice, by its name and in"):
                    given_to(found, **together, **value)
                n_tried += 1
    assert n_tried or not ARGUMENTS.keys() & found.takes.known.keys()


def test_group__counts_what_is_given_also_where_it_is_its_default():
    """Functions have other defaults, and one that takes None notices what was given."""
    took = given_to(neardup.deduplicate, text=TextOptions(occurrences="set"))
    assert (took.occurrences, given_to(neardup.deduplicate).occurrences) == ("set", None)
    assert given_to(neardup.DocumentIndex.create, text=TextOptions(ngram=3)).tokenizer == "words"
    assert TextOptions(occurrences="set") != TextOptions()
    assert TextOptions(ngram=None) == TextOptions()
    with pytest.raises(TypeError, match="got 'strip_accents' twice"):
        neardup.similarity("a", "b", text=TextOptions(strip_accents=False), strip_accents=True)


def test_group__is_a_value():
    options = ReadOptions(lines=False, where="n > 3")
    assert repr(options) == "ReadOptions(where='n > 3', lines=False)"
    assert (options.lines, options.on_error, options.id_column) == (False, "raise", None)
    assert pickle.loads(pickle.dumps(options)) == options != options.but(where="n > 4")
    assert hash(options) == hash(ReadOptions(where="n > 3", lines=False))
    assert list(inspect.signature(ReadOptions).parameters) == list(ReadOptions.known)
    assert "where\n    A condition on the columns" in (inspect.getdoc(ReadOptions) or "")


def test_group__what_does_not_fit_is_named():
    with pytest.raises(TypeError, match=r"^compare\(\) got an unexpected option 'memory' in run$"):
        neardup.compare("a", "b", run=RunOptions(memory="1GB"))
    with pytest.raises(TypeError, match=r"^TextOptions\(\) got an unexpected .* 'ngrams'$"):
        TextOptions(ngrams=3)
    with pytest.raises(InvalidParameterError, match=r"^text must be TextOptions\(\.\.\.\), got 3$"):
        neardup.sketch(["a"], text=3)
    with pytest.raises(InvalidParameterError, match="ngram must lie between"):
        TextOptions(ngram=0)
    with pytest.raises(InvalidParameterError, match="bytes are compared by"):
        neardup.cut(["a"], read=ReadOptions(input_format="bytes"))


def test_group__takes_names():
    with pytest.raises(TypeError, match=r"^TextOptions\(\) takes options by their names, such as"):
        neardup.TextOptions("words", 2)
