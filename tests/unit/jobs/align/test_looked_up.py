"""Queries that are looked up in threads."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from neardup.files.resolve import resolve_inputs
from neardup.jobs.align.align import find_shared
from neardup.jobs.align.looked_up import InThreads
from neardup.jobs.align.other import no_other, open_other
from neardup.options.passages import AlignOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY


def test_in_threads__looks_up_those_that_are_chosen():
    """They find what they find among all others, which are found as before."""
    generator = np.random.default_rng(3)
    shared = [" ".join(f"w{n}" for n in generator.integers(0, 900, 60)) for _ in range(4)]
    texts = [f"own{k} {shared[k % 4]} end{k} {shared[(k + 1) % 4]}" for k in range(12)]
    texts[5] = ""
    sources, options = resolve_inputs(texts), AlignOptions(min_tokens=20)
    other = no_other(sources, options, {})
    runner = Runner(1)
    of_all = find_shared(sources, other, options, IN_MEMORY, runner)
    chosen = np.arange(12) % 3 == 1

    @contextmanager
    def opened(asked, workspace, runner):
        with open_other(asked.other, workspace, runner) as (index, made):
            yield InThreads(index, made, asked, workspace, runner, chosen)

    of_some = find_shared(sources, other, options, IN_MEMORY, runner, opened=opened)
    is_of_some = np.isin(of_all.places[:, 0], np.flatnonzero(chosen))
    assert 0 < is_of_some.sum() < len(is_of_some)
    assert of_some.places.tolist() == of_all.places[is_of_some].tolist()
    assert of_some.passages.equals(of_all.passages.filter(is_of_some.tolist()))
