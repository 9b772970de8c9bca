"""Words of a passage that the other one lacks."""

from __future__ import annotations

from neardup.reports.passages.reading import changed_places
from tests.each import each_of


def marked(text: str, places: list[int]) -> str:
    """Put brackets around what is marked."""
    for k in reversed(range(0, len(places), 2)):
        start, stop = places[k : k + 2]
        text = f"{text[:start]}[{text[start:stop]}]{text[stop:]}"
    return text


@each_of(
    ("a", "b"),
    [
        ("the [quick brown] fox, jumps", "The [slow] fox jumps"),
        ("all the same", "ALL: the same!"),
        ("same [end]", "same"),
        ("[a b]", "[c d]"),
        ("春[眠]不觉", "春[宵]不觉"),
        ("", "[x]"),
        ("...", "!!!"),
    ],
)
def test_changed_places(a, b):
    texts = [text.replace("[", "").replace("]", "") for text in (a, b)]
    found = changed_places(*texts)
    assert [marked(text, places) for text, places in zip(texts, found, strict=True)] == [a, b]
