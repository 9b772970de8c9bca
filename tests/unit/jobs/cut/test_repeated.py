"""What was repeated most: the most copies first, then the most text."""

from __future__ import annotations

from tests.cutting import cut

OFTEN, LONG = "some small words stand here", " ".join(f"considerable{k}" for k in range(40))


def test_most_repeated__by_copies():
    texts = [OFTEN, LONG, "others, just once", *(f"{k} {OFTEN}" for k in range(3)), LONG, LONG]
    found = cut([*texts, f"{OFTEN} x {OFTEN}"], exact=True, min_tokens=4).summary["most_repeated"]
    assert [(most["copies"], most["documents"]) for most in found] == [(5, 4), (2, 2)]
    assert [most["text"] for most in found] == [OFTEN, LONG[:200]]
    assert found[1]["characters"] == 2 * len(LONG) > found[0]["characters"] >= 5 * len(OFTEN)


def test_most_repeated__twenty_of_them_and_their_beginning():
    parts = [" ".join(f"{'word' * 9}{k}x{i}" for i in range(9)) for k in range(25)]
    found = cut([*parts, *parts], exact=True, min_tokens=5).summary["most_repeated"]
    assert len(found) == 20
    assert {len(most["text"]) for most in found} == {200}
