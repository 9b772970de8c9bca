"""The functions for Spark have the options of those for threads, with the same defaults."""

from __future__ import annotations

import inspect
import re

import neardup
import neardup.spark
from tests.each import each_of

# They need all documents in one memory, are Spark's to decide, or are of a table.
NOT_ON_SPARK = {
    "align": {"workers"},
    "deduplicate": {"method", "audit", "workers"},
    "cut": {"workers", "named_in", "side"},
    "find_pairs": {"workers"},
    "search_documents": {"workers"},
    "search_passages": {"workers"},
}
# Methods of indexes in threads.
_METHODS = {"search_documents": neardup.DocumentIndex, "search_passages": neardup.PassageIndex}


@each_of("name", neardup.spark.__all__)
def test_signature__has_the_same_options(name):
    index = _METHODS.get(name)
    function = getattr(neardup, name) if index is None else index.search
    threads = dict(inspect.signature(function).parameters)
    spark = dict(inspect.signature(getattr(neardup.spark, name)).parameters)
    assert spark.pop("session").default is inspect.Parameter.empty
    if index is not None:
        assert threads.pop("self")
        assert spark.pop("index").default is inspect.Parameter.empty
        # Sketches, which are in memory, are looked up in threads.
        for each in threads, spark:
            each["queries"] = each["queries"].replace(annotation=inspect.Parameter.empty)
    left_out = NOT_ON_SPARK[name]
    assert spark == {name: found for name, found in threads.items() if name not in left_out}


@each_of("name", neardup.spark.__all__)
def test_docstring__describes_every_parameter(name):
    function = getattr(neardup.spark, name)
    text = inspect.getdoc(function) or ""
    headings = {
        word for line in re.findall(r"(?m)^(\w+(?:, \w+)*)$", text) for word in line.split(", ")
    }
    assert inspect.signature(function).parameters.keys() <= headings
