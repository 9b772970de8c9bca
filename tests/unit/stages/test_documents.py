"""Places by which documents of two collections are told from each other."""

from __future__ import annotations

from neardup.stages.decided import Document


def test_place__of_the_row_and_the_collection():
    own, other = Document(0, "x", "kept", "a.txt", 1), Document(-9, "x", "against", "a.txt", 1)
    gone = Document(1, "y", "removed", "a.txt", 2, "against/x", "against", "a.txt", 1)
    assert gone.keeper_place == other.place != own.place
    assert own.keeper_place is None


def test_place__of_the_id_where_there_is_no_row():
    # Ids may be numbers, and text in tables.
    other = Document(-9, 7, "against", None, None)
    gone = Document(1, 8, "removed", "a.txt", 2, "7", "against")
    assert gone.keeper_place == other.place
