"""Tokens of a block, cut some texts at a time."""

from __future__ import annotations

import pyarrow as pa

from neardup.reading import token_pass
from neardup.text.normalise import Normalisation
from neardup.text.tokenizers import make_tokenizer


def test_hash_tokens__holds_nothing_but_tokens(monkeypatch):
    monkeypatch.setattr(token_pass, "SLICE_BYTES", 5)
    sizes, parts = token_pass.hash_tokens(
        pa.array(["some long words", "", "and some more of them"]),
        make_tokenizer("words", Normalisation()),
    )
    assert sizes.tolist() == [3, 0, 5]
    assert len(parts) > 1
    assert all(part.values.base is None for part in parts)
