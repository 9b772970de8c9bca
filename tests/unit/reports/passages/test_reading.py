"""The reading view's data: texts as they are, places as JavaScript counts them."""

from __future__ import annotations

import json

from neardup.reports.passages.reading import make_reading

SMILE = "🙂"


def cut(text: str, place) -> str:
    """Cut as JavaScript does, by units of 16 bits."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * place[0] : 2 * place[1]].decode("utf-16-le", "surrogatepass")


def test_make_reading__places_are_those_of_javascript(make_passages):
    texts = [f"{SMILE} one {SMILE}two three", f"x{SMILE}{SMILE} one two {SMILE} three"]
    starts = [text.index("one") for text in texts]
    row = (0, starts[0], len(texts[0]), 1, starts[1], len(texts[1]), 0.75)
    data = make_reading(make_passages(texts, [row])).data
    [pair] = data["pairs"]
    [passage] = pair["passages"]
    shown = [data["documents"][k]["text"] for k in pair["documents"]]
    assert shown == texts
    assert [cut(*each) for each in zip(shown, passage["places"], strict=True)] == [
        f"one {SMILE}two three",
        f"one two {SMILE} three",
    ]
    assert (passage["similarity"], passage["moved"]) == (0.75, False)
    assert "changes" not in passage


def test_make_reading__changes_are_places_in_the_whole_text(make_passages):
    texts = [f"{SMILE}. the old house", f"See {SMILE}: the new house"]
    rows = [(0, 3, len(texts[0]), 1, 7, len(texts[1]), 0.5)]
    data = make_reading(make_passages(texts, rows)).data
    [passage] = data["pairs"][0]["passages"]
    assert [cut(*each) for each in zip(texts, passage["changes"], strict=True)] == ["old", "new"]


def test_make_reading__what_cannot_be_shown_is_a_picture_of_one_character(make_passages):
    texts = ["\x00a\x1b\x7f\ud800\tb\r\n", "a"]
    data = make_reading(make_passages(texts, [(0, 1, 2, 1, 0, 1, 1.0)])).data
    assert data["documents"][0]["text"] == "␀a␛␡\ufffd\tb\r\n"
    assert json.dumps(data)


def test_make_reading__takes_pairs_while_there_is_room(make_passages):
    texts = ["a" * 50, "b" * 50, "c" * 50, None]
    rows = [(0, 0, 40, 1, 0, 40, 1), (0, 0, 30, 2, 0, 30, 1), (1, 0, 20, 3, 0, 20, 1)]
    passages = make_passages(texts, rows, lengths=[50, 50, 50, 50])
    assert make_reading(passages, most=99) is None
    few = make_reading(passages, most=100)
    assert [pair["label"] for pair in few.data["pairs"]] == ["d0 and d1"]
    most = make_reading(passages, most=150)
    assert [pair["documents"] for pair in most.data["pairs"]] == [[0, 1], [0, 2]]
    assert len(most.data["documents"]) == 3
    ranked = passages.best(3)
    ends = zip(ranked.queries.tolist(), ranked.docs.tolist(), strict=True)
    assert [most.place_of(*pair) for pair in ends] == [0, 1, None]
