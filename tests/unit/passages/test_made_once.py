"""What a search makes of a whole segment, which all threads want at the same time."""

from __future__ import annotations

import time

import numpy as np

import neardup
from neardup.passages.segment_search import SegmentSearcher


def test_search__threads_make_nothing_twice(tmp_path, monkeypatch):
    generator = np.random.default_rng(5)
    texts = [" ".join(f"w{n}" for n in generator.integers(0, 900, 90)) for _ in range(1_000)]
    index = neardup.PassageIndex.create(tmp_path / "index", min_tokens=20, num_perm=0)
    index.add(texts[:50])
    made = []
    find = SegmentSearcher._find_extent

    def find_slowly(self, number):
        made.append(number)
        time.sleep(0.01)
        return find(self, number)

    monkeypatch.setattr(SegmentSearcher, "_find_extent", find_slowly)
    found = index.search(texts, threshold="0.5", run=neardup.RunOptions(workers=4))
    assert made
    assert sorted(made) == sorted(set(made))
    assert len(found.passages) >= 50
