"""Known answers of edit signatures."""

from __future__ import annotations

from neardup.sketches import edit
from neardup.sketches.edit import EditScheme, edit_signatures
from tests.arrays import make_texts


def test_edit_signatures__known_answers(monkeypatch):
    """Written down once: signatures on disk must stay what they are."""
    texts = make_texts(["the quick brown fox jumps over the lazy dog"])
    expected = [0x8DBE3DC6, 0xE1E47BB2, 0x42BE65BA, 0x90280786, 0x6E027D6]
    monkeypatch.setattr(edit, "NEIGHBOURHOOD", 6)
    assert edit_signatures(texts, EditScheme(compression=8)).symbols.tolist() == expected
