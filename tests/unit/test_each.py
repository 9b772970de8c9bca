"""Laws over many cases in one test: no case is passed over, and each that fails is named."""

from __future__ import annotations

import inspect

import pytest

from tests.each import each_of


def test_each_of__runs_all_cases_and_names_those_that_fail():
    seen = []

    @each_of(("x", "y"), [(1, 1), (2, 3), (4, 4), (5, 6)])
    def law(x, y):
        seen.append(x)
        assert x == y

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases fail") as raised:
        law()
    assert seen == [1, 2, 4, 5]
    assert [error.__notes__ for error in raised.value.exceptions] == [
        ["case: 2, 3"],
        ["case: 5, 6"],
    ]


def test_each_of__what_does_not_raise_fails():
    @each_of("x", [1, 0], ids=["one", "none"])
    def law(x):
        with pytest.raises(ZeroDivisionError):
            1 / x

    with pytest.raises(BaseExceptionGroup) as raised:
        law()
    [error] = raised.value.exceptions
    assert isinstance(error, pytest.fail.Exception)
    assert error.__notes__ == ["case: one"]


def test_each_of__product_of_two():
    seen = []

    @each_of("x", [1, 2])
    @each_of("y", [3, 4], ids=str)
    def law(x, y, given):
        seen.append((x, y, given))

    assert list(inspect.signature(law).parameters) == ["given"]
    law(given=0)
    assert seen == [(1, 3, 0), (1, 4, 0), (2, 3, 0), (2, 4, 0)]


def test_each_of__skips_if_all_cases_do():
    @each_of("x", [1, 2])
    def law(x):
        pytest.skip(f"not on {x}")

    with pytest.raises(pytest.skip.Exception, match="not on 2"):
        law()


@each_of("number", [1, 2, 3])
def test_each_of__cases_do_not_meet(number, tmp_path, monkeypatch, capsys):
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert not hasattr(each_of, "patched")
    monkeypatch.setattr(each_of, "patched", number, raising=False)
    print(number)  # noqa: T201
    assert capsys.readouterr().out == f"{number}\n"
