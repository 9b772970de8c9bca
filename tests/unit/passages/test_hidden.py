from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.passages.documents import runs_of
from neardup.passages.matches import HiddenText
from neardup.tables import Texts
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.examples import examples

WORDS = make_tokenizer("words", Normalisation())
TEXT = st.lists(st.sampled_from(["é", "b", "ccc", "  ", "!"]), max_size=8).map(" ".join)


def runs_in(text: str, template: str, length: int) -> list[tuple[int, int]]:
    """Return where runs of a text stand that a template has, those that adjoin as one."""
    words = [(match.group(), *match.span()) for match in re.finditer(r"\w+", text)]
    of_template = re.findall(r"\w+", template)
    runs = [of_template[i : i + length] for i in range(len(of_template) - length + 1)]
    hidden = [False] * len(words)
    for i in range(len(words) - length + 1):
        if [word for word, _, _ in words[i : i + length]] in runs:
            hidden[i : i + length] = [True] * length
    found: list[tuple[int, int]] = []
    for i, (_, start, stop) in enumerate(words):
        if hidden[i] and i and hidden[i - 1]:
            found[-1] = (found[-1][0], stop)
        elif hidden[i]:
            found.append((start, stop))
    return found


@examples(150)
@given(texts=st.lists(TEXT, min_size=1, max_size=4), template=TEXT, data=st.data())
def test_look_at__every_character(texts, template, data):
    length = data.draw(st.integers(1, 3))
    tokens, _ = WORDS.locate_tokens(Texts.from_arrow(pa.array([template])))
    hidden = HiddenText(runs_of([tokens] if len(tokens.values) >= length else [], length), WORDS)
    visible = hidden.look_at(pa.array(texts), pa.array(range(len(texts))))
    for number, text in enumerate(texts):
        holes = runs_in(text, template, length) if len(tokens.values) >= length else []
        is_hidden = {c for start, stop in holes for c in range(start, stop)}
        places = np.arange(len(text) + 1)
        before = visible.holes.visible_before(np.full(len(places), number), places)
        expected = [len([c for c in range(place) if c not in is_hidden]) for place in places]
        assert before.tolist() == expected
        left = [m.span() for m in re.finditer(r"\w+", text) if m.start() not in is_hidden]
        extent = (left[0][0], left[-1][1]) if left else (0, 0)
        assert (visible.starts[number], visible.stops[number]) == extent
