"""Texts that are kept: what comes back is what came, from memory or a file, or nothing."""

from __future__ import annotations

import errno
import io
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files import plain
from neardup.files.plain import ExtractedTexts
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

TEXTS = {3: b"three", 4: b"", 9: b"nine" * 50}


def spilling(tmp_path, memory: int = 1) -> Workspace:
    return Workspace(memory, WorkFolder.temporary(tmp_path))


@pytest.mark.parametrize("is_in_file", [False, True])
@given(
    texts=st.dictionaries(st.integers(1, 40), st.binary(max_size=30)),
    wanted=st.sets(st.integers(1, 40)),
    data=st.data(),
)
def test_kept__what_comes_back(tmp_path_factory, is_in_file, texts, wanted, data):
    """Rows of a block may come in any parts, and be asked for in any others."""
    numbers = sorted(texts)
    cuts = data.draw(st.sets(st.integers(0, len(numbers))))
    workspace = spilling(tmp_path_factory.mktemp("work")) if is_in_file else IN_MEMORY
    extracted = ExtractedTexts(workspace)
    for start, stop in pairwise(sorted({0, len(numbers), *cuts})):
        part = numbers[start:stop]
        extracted.add("block", {each: texts[each] for each in part})
    asked = sorted(wanted)
    found = extracted.take("block", asked)
    assert {number: found[number] for number in asked if number in found} == {
        number: texts[number] for number in asked if number in texts
    }
    assert extracted.take("other", asked) == {}


def test_kept__file_goes_with_the_workspace_and_texts_with_it(tmp_path):
    workspace = spilling(tmp_path, memory=2000)
    extracted = ExtractedTexts(workspace)
    extracted.add(1, TEXTS)
    assert isinstance(extracted._file, io.BytesIO)
    noise = np.random.default_rng(1).bytes(1000)
    extracted.add(2, {3: noise})
    assert not extracted._file.closed
    assert extracted.take(2, TEXTS) == {3: noise}
    workspace.work.remove()
    assert extracted._file.closed
    assert list(tmp_path.iterdir()) == []
    extracted.add(3, TEXTS)
    assert [extracted.take(block, TEXTS) for block in (1, 2, 3)] == [{}, {}, {}]


def test_kept__full_disk_ends_no_run(tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    extracted = ExtractedTexts(spilling(tmp_path, memory=2000))
    extracted.add(1, TEXTS)
    with monkeypatch.context() as patch:
        patch.setattr(plain, "write_all", write)
        extracted.add(2, {3: np.random.default_rng(1).bytes(1000)})
    extracted.add(3, TEXTS)
    found = [extracted.take(block, TEXTS) for block in (1, 2, 3)]
    assert found == [TEXTS, {}, TEXTS]


def test_kept__shortened_file(tmp_path):
    workspace = spilling(tmp_path)
    extracted = ExtractedTexts(workspace)
    extracted.add(1, TEXTS)
    os.truncate(extracted._file.fileno(), 3)
    assert extracted.take(1, TEXTS) == {}
