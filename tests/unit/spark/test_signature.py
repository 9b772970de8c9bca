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
}


@each_of("name", neardup.spark.__all__)
def test_signature__has_the_same_options(name):
    threads = dict(inspect.signature(getattr(neardup, name)).parameters)
    spark = dict(inspect.signature(getattr(neardup.spark, name)).parameters)
    assert spark.pop("session").default is inspect.Parameter.empty
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
