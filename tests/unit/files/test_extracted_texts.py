"""Texts that are kept: what comes back is what came, from memory or a file, or nothing."""

from __future__ import annotations

import errno
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files import extracted as extracted_texts
from neardup.files.extracted import ExtractedTexts
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

NUMBERS = np.array([3, 4, 9], np.int64)
TEXTS = [b"three", b"", b"nine" * 50]


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
        extracted.add("block", np.array(part, np.int64), [texts[each] for each in part])
    asked = sorted(wanted)
    expected = [texts.get(number) for number in asked]
    assert extracted.take("block", np.array(asked, np.int64)) == expected
    assert extracted.take("other", np.array(asked, np.int64)) == [None] * len(asked)


def test_kept__file_goes_with_the_workspace_and_texts_with_it(tmp_path):
    workspace = spilling(tmp_path, memory=2000)
    extracted = ExtractedTexts(workspace)
    extracted.add(1, NUMBERS, TEXTS)
    assert extracted._file is None
    noise = np.random.default_rng(1).bytes(1000)
    extracted.add(2, NUMBERS[:1], [noise])
    assert not extracted._file.closed
    assert extracted.take(2, NUMBERS) == [noise, None, None]
    workspace.work.remove()
    assert extracted._file.closed
    assert list(tmp_path.iterdir()) == []
    # Those in memory are still there; the others are taken out of the rows again.
    assert extracted.take(1, NUMBERS) == TEXTS
    assert extracted.take(2, NUMBERS) == [None, None, None]
    extracted.add(3, NUMBERS, TEXTS)
    assert extracted.take(3, NUMBERS) == [None, None, None]


def test_kept__full_disk_ends_no_run(tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    extracted = ExtractedTexts(spilling(tmp_path))
    extracted.add(1, NUMBERS, TEXTS)
    monkeypatch.setattr(extracted_texts, "write_all", write)
    extracted.add(2, NUMBERS, TEXTS)
    monkeypatch.undo()
    extracted.add(3, NUMBERS, TEXTS)
    found = [extracted.take(block, NUMBERS) for block in (1, 2, 3)]
    assert found == [TEXTS, [None] * 3, TEXTS]


def test_kept__shortened_file(tmp_path):
    workspace = spilling(tmp_path)
    extracted = ExtractedTexts(workspace)
    extracted.add(1, NUMBERS, TEXTS)
    os.truncate(extracted._file.fileno(), 3)
    assert extracted.take(1, NUMBERS) == [None, None, None]
