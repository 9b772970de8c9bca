"""Every option of every public function: what is no value of it is refused, by its name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.options.kinds import (
    BandShape,
    ByteSize,
    Choice,
    Columns,
    CountOrPercent,
    Delimiter,
    Documents,
    Encoding,
    Flag,
    FunctionOrFlag,
    Kind,
    Location,
    Seconds,
    Share,
    ShareOrCount,
    Text,
    TokenizerName,
    Whole,
)
from tests.calls import grouped
from tests.functions import CLASSES, GROUPS, function_of, options_of

TEXTS = ["one two three", "four five six"]


def wrong_values(kind: Kind) -> list[Any]:
    """List values of the wrong type, and those just out of range."""
    match kind:
        case Whole():
            values: list[Any] = ["64", 2.5, 3.0, True, [3], b"3", float("nan")]
            values += [kind.least - 1, -(2**70)]
            return values + ([] if kind.most is None else [kind.most + 1, 2**70])
        case CountOrPercent():
            return ["ten", "", "-1%", "0%", "100.1%", "%", "10 %", "1e1%", 2.5, True, [3], 0, -1]
        case ByteSize():
            return ["4 bananas", "", 2.5, True, [3], b"4GB", 5, -1, "1KB", float("nan")]
        case Location():
            return [5, True, [3], b"folder"]
        case Share():
            return ["abc", True, [0.5], 0, -0.5, "1.000000001", 80, float("nan"), b"0.5"]
        case Seconds():
            return ["soon", True, [3], kind.least - 0.01, 86_401, float("nan"), b"3"]
        case ShareOrCount():
            return ["abc", True, [0.5], 0, -0.5, 80]
        case Choice():
            return ["nonsense", "", 5, True, [kind.values[0]]]
        case Flag():
            return ["yes", "", 0, 1, []]
        case Delimiter():
            return ["", ";;", "é", "\n", '"', 5, b";"]
        case Encoding():
            return ["nonsense", "rot13", "utf-7", "iso-2022-jp", 5, b"utf-8", ""]
        case Text():
            return [5, b"text", ["text"], True]
        case BandShape():
            return ["20", "20x", "0x5", (20,), [1, 2, 3], 5, True]
        case Columns():
            return [5, b"text", [], ["text", 5], ["a", "a"], True]
        case TokenizerName():
            return ["nonsense", "", 5, ["words"]]
        case FunctionOrFlag():
            return [5, "print"]
        case Documents():
            # Whatever reads them finds what is wrong.
            return []
    raise AssertionError(kind)


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """Give the public functions, all but their options filled in."""
    folder = tmp_path_factory.mktemp("refusals")
    index = neardup.PassageIndex.create(folder / "index", min_tokens=2)
    index.add(TEXTS)
    sketches = neardup.sketch(TEXTS, kind="smallest")
    kept = neardup.DocumentIndex.create(folder / "kept")
    kept.add(TEXTS)
    pairs = neardup.find_pairs(TEXTS)
    return {
        "deduplicate": lambda **options: neardup.deduplicate(TEXTS, **grouped(**options)),
        "find_pairs": lambda **options: neardup.find_pairs(TEXTS, **grouped(**options)),
        "compare": lambda **options: neardup.compare(*TEXTS, **grouped(**options)),
        "similarity": lambda **options: neardup.similarity(*TEXTS, **grouped(**options)),
        "extract": lambda **options: neardup.extract(TEXTS[0], TEXTS, **grouped(**options)),
        "sketch": lambda **options: neardup.sketch(TEXTS, **grouped(**options)),
        "estimate": lambda **options: neardup.estimate(sketches, **grouped(**options)),
        "cluster_sketches": lambda **options: neardup.cluster_sketches(
            sketches, **grouped(**options)
        ),
        "align": lambda **options: neardup.align(TEXTS, TEXTS, **grouped(**options)),
        "cut": lambda **options: neardup.cut(TEXTS, **grouped(**options)),
        "report": lambda **options: neardup.report(pairs, **grouped(**options)),
        "review": lambda **options: neardup.review(pairs, **grouped(**options)),
        "open_index": lambda **options: neardup.open_index(kept.folder, **options),
        "DocumentIndex.create": lambda **o: neardup.DocumentIndex.create(
            folder / "new", **grouped(**o)
        ),
        "DocumentIndex.open": lambda **o: neardup.DocumentIndex.open(kept.folder, **o),
        "DocumentIndex.search": lambda **options: kept.search(TEXTS, **grouped(**options)),
        "PassageIndex.create": lambda **o: neardup.PassageIndex.create(
            folder / "new", **grouped(**o)
        ),
        "PassageIndex.open": lambda **o: neardup.PassageIndex.open(index.folder, **o),
        "PassageIndex.search": lambda **options: index.search(TEXTS, **grouped(**options)),
    }


def test_functions__all_there(functions):
    assert functions.keys() == CLASSES.keys()


@pytest.mark.parametrize("name", CLASSES)
def test_option__refuses(functions, name):
    for option in options_of(name):
        for value in wrong_values(option.kind):
            with pytest.raises(InvalidParameterError) as caught:
                functions[name](**{option.name: value})
            assert option.name in caught.value.parameters, (option.name, value, str(caught.value))


@pytest.mark.parametrize("name", CLASSES)
def test_function__has_names_and_defaults_of_its_options(name):
    """A default of None leaves it to the class, or to an index."""
    parameters = inspect.signature(function_of(name)).parameters
    known = CLASSES[name].known
    own = {each for each in parameters if each in known}
    for each in own:
        assert parameters[each].default in (None, known[each].default), each
    grouped_names = {
        each for argument, group in GROUPS.items() if argument in parameters for each in group.known
    }
    assert set(known) - own - grouped_names <= {"memory", "columns", "timeout", "refresh"}
    assert len(parameters) <= 20


@pytest.mark.parametrize(
    ("function", "options"),
    [
        # Options checked after others, or that others decide about.
        (neardup.deduplicate, {"num_perm": "64"}),
        (neardup.deduplicate, {"workers": "2"}),
        (neardup.deduplicate, {"method": "exact", "seed": 1.5}),
        (neardup.find_pairs, {"measure": "overlap", "threshold": 1.5}),
        (neardup.cut, {"exact": True, "min_tokens": 2**62}),
    ],
)
def test_function__refuses(function, options):
    with pytest.raises(InvalidParameterError):
        function(TEXTS, **grouped(**options))
