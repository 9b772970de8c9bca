"""Loads what requests call when it is imported, by the server that ``processes`` are forked off."""

from __future__ import annotations

from importlib import import_module

from neardup.jobs.compare.compare import compare_texts
from neardup.options.sketches import CompareOptions
from neardup.runs.runner import Runner

for _module in ("neardup.service.served", "neardup.service.operations"):
    import_module(_module)
# What is imported at the first call only.
compare_texts(("one two three four", "one two three five"), CompareOptions(), runner=Runner(1))
