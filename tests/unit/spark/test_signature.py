"""The function for Spark has the options of the one for threads, with the same defaults."""

from __future__ import annotations

import inspect
import re

import neardup
import neardup.spark

# They need all documents in one memory, are Spark's to decide, or are of an index.
NOT_ON_SPARK = {"method", "audit", "workers", "add"}


def test_deduplicate__has_the_same_options():
    threads = dict(inspect.signature(neardup.deduplicate).parameters)
    spark = dict(inspect.signature(neardup.spark.deduplicate).parameters)
    assert spark.pop("session").default is inspect.Parameter.empty
    assert spark == {name: found for name, found in threads.items() if name not in NOT_ON_SPARK}


def test_deduplicate__describes_every_parameter():
    text = inspect.getdoc(neardup.spark.deduplicate) or ""
    headings = {
        word for line in re.findall(r"(?m)^(\w+(?:, \w+)*)$", text) for word in line.split(", ")
    }
    assert inspect.signature(neardup.spark.deduplicate).parameters.keys() <= headings
