"""Texts that are kept: what comes back is what came, or nothing."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.plain import ExtractedTexts
from neardup.runs.work import WorkFolder, Workspace

TEXTS = {3: b"three", 4: b"", 9: b"nine" * 50}


@given(
    texts=st.dictionaries(st.integers(1, 40), st.binary(max_size=30)),
    wanted=st.sets(st.integers(1, 40)),
    data=st.data(),
)
def test_kept__what_comes_back(texts, wanted, data):
    """Rows of a block may come in any parts, and be asked for in any others."""
    numbers = sorted(texts)
    cuts = data.draw(st.sets(st.integers(0, len(numbers))))
    extracted = ExtractedTexts()
    for start, stop in pairwise(sorted({0, len(numbers), *cuts})):
        part = numbers[start:stop]
        extracted.add("block", {each: texts[each] for each in part})
    asked = sorted(wanted)
    found = extracted.take("block", asked)
    assert {number: found[number] for number in asked if number in found} == {
        number: texts[number] for number in asked if number in texts
    }
    assert extracted.take("other", asked) == {}


def test_kept__as_many_as_fit(tmp_path):
    work = WorkFolder.temporary(tmp_path)
    extracted = ExtractedTexts(Workspace(2000, work))
    extracted.add(1, TEXTS)
    extracted.add(2, {3: np.random.default_rng(1).bytes(1000)})
    extracted.add(3, TEXTS)
    assert [extracted.take(block, TEXTS) for block in (1, 2, 3)] == [TEXTS, {}, TEXTS]
    assert pickle.loads(pickle.dumps(extracted)) is None
    work.remove()
