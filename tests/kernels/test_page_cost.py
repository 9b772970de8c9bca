from __future__ import annotations

import numpy as np
import pytest

from neardup.files.pages.visible_text import _tables
from neardup.kernels.page_cost import page_cost

MUCH = 10**9


def cost(page: str, most: int = MUCH) -> tuple[int, int, int]:
    return page_cost(np.frombuffer(page.encode(), np.uint8), *_tables()[1], most)


@pytest.mark.parametrize(
    ("page", "elements", "deepest"),
    [
        ("", 0, 0),
        ("a < b <", 0, 0),
        ("<!-- <div> --><div>", 1, 1),
        ("<!--<div>", 0, 0),
        ("<div><span></span></div>", 2, 2),
        ("<DIV></div><div>", 2, 1),
        ("<div></x><div></x>", 2, 2),
        ("<p>a<p>b<li>c<br>", 4, 0),
        ("<a title='>'><b>", 2, 2),
        ("<a title='>", 1, 1),
        # Formatting that is not closed is opened anew in each block, equal ones three times.
        ("<b><p><p>", 1 + 2 + 2, 1),
        ("<b><b><b><b><b><p>", 5 + 1 + 3, 5),
        ("<font size=1><font size=2><p><p>", 2 + 2 + 4, 2),
        ("<b></b><p>", 2, 1),
        (f"<font size={'1' * 2000}><p><p>", 1 + 2 * (1 + 1 + 3), 1),
    ],
)
def test_page_cost__elements_and_depth(page, elements, deepest):
    assert cost(page)[1:] == (elements, deepest)


def test_page_cost__steps_are_open_elements_at_tags_and_pairs_of_attributes():
    assert cost("<div>" * 10)[0] == sum(range(10))
    assert cost("<div>" * 3 + "</p>" * 4)[0] == 0 + 1 + 2 + 4 * 3
    assert cost("<p a b='c d' e>")[0] == 9


def test_page_cost__stops_where_it_is_enough():
    steps, elements, _ = cost("<div>" * 1000, 100)
    assert 100 <= steps < 200
    assert elements < 20
