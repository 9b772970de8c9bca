"""Options that travel together, and functions that take them."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.options.kinds import Whole
from neardup.options.option import Options, but, merge, option


class Shape(Options):
    size: int | None = option("How large.", Whole(1), default=None, usual="2")
    is_round: bool = option("Without corners.", default=False)


class Colour(Options):
    tint: str = option("Which colour.", default="red")
    is_light: bool | None = option("Whether it is light.", default=None)


class Ball(Shape, Colour):
    is_round: bool = True
    differs = but(size={"help": "How wide."})


def test_options__are_checked_values():
    ball = Ball(size=4)
    assert (ball.size, ball.is_round, ball.tint) == (4, True, "red")
    assert ball == Ball(size=4) != Ball()
    assert hash(ball) == hash(Ball(size=4))
    assert ball.but(tint="blue") == Ball(size=4, tint="blue")
    assert pickle.loads(pickle.dumps(ball)) == ball
    assert repr(ball) == "Ball(size=4)"
    with pytest.raises(AttributeError, match="size"):
        ball.size = 5  # type: ignore[misc]
    with pytest.raises(InvalidParameterError, match=r"size.*1.*0"):
        ball.but(size=0)
    with pytest.raises(InvalidParameterError, match=r"is_round.*True.*False"):
        Ball(is_round=None)


def test_known__what_a_class_adds_comes_first_and_changes_are_its_own():
    assert list(Ball.known) == ["size", "is_round", "tint", "is_light"]
    assert (Shape.known["size"].help, Ball.known["size"].help) == ("How large.", "How wide.")
    assert (Shape.known["is_round"].default, Ball.known["is_round"].default) == (False, True)


def test_signature__is_that_of_the_options():
    parameters = inspect.signature(Ball).parameters
    assert list(parameters) == list(Ball.known)
    assert str(parameters["is_round"]).endswith("= True")
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters.values())


@pytest.mark.parametrize("group", [neardup.TextOptions, neardup.ReadOptions, neardup.RunOptions])
def test_docstring__describes_every_option_as_help(group):
    described = inspect.getdoc(group)
    assert "{options}" not in described
    listed = described.partition("Raises\n")[0]
    names = re.findall(r"^(\w+)\n    \S", listed, re.MULTILINE)
    assert names == list(group.known)
    assert " --" not in described


def test_given__are_those_that_are_not_the_default():
    assert Ball(size=4, tint="red").given() == {"size": 4}


def test_merge__takes_groups_and_names():
    given = {"text": Shape(size=4), "read": None, "tint": "blue", "is_light": None, "data": 5}
    assert merge(Ball, given) == Ball(size=4, tint="blue")
    with pytest.raises(InvalidParameterError, match=r"tint.*Colour"):
        merge(Shape, {"text": Colour(tint="blue")})
    with pytest.raises(InvalidParameterError, match=r"read.*neardup\.ReadOptions"):
        merge(Shape, {"read": {"size": 4}})


def test_unknown_option__is_refused():
    with pytest.raises(TypeError, match="'speed'"):
        Ball(speed=3)
