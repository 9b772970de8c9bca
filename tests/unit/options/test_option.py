"""Options that travel together, and functions that take them."""

from __future__ import annotations

import inspect
import pickle

import pytest

from neardup.errors import InvalidParameterError
from neardup.options.kinds import Whole
from neardup.options.option import Options, argument, but, option, takes


class Shape(Options):
    size: int | None = option("How large.", Whole(1), default=None, usual="2")
    is_round: bool = option("Without corners.", default=False)


class Colour(Options):
    tint: str = option("Which colour.", default="red")
    is_light: bool | None = option("Whether it is light.", default=None)


class Ball(Shape, Colour):
    is_round: bool = True
    differs = but(size={"help": "How wide."})


class Throw(Ball, kw_only=False):
    target: str = argument("At what.")
    force: int = argument("How hard.", default=3)


@takes(Throw)
def throw(given: Throw) -> tuple[str, int, Ball]:
    """Throw a ball.

    Returns
    -------
    What was thrown.
    """
    return given.target, given.force, given.part(Ball)


class Player:
    @classmethod
    @takes(Throw)
    def named(cls, given: Throw) -> str:
        """Return a name."""
        return f"{cls.__name__} {given.target}"

    @takes(Throw)
    def throw(self, given: Throw) -> int:
        """Throw."""
        return given.force


def test_options__are_checked_values():
    ball = Ball(size=4)
    assert (ball.size, ball.is_round, ball.tint) == (4, True, "red")
    assert ball == Ball(size=4) != Ball()
    assert hash(ball) == hash(Ball(size=4))
    assert ball != Throw("wall", size=4)
    assert ball.but(tint="blue") == Ball(size=4, tint="blue")
    assert pickle.loads(pickle.dumps(ball)) == ball
    assert repr(ball) == "Ball(size=4)"
    with pytest.raises(AttributeError, match="do not change: size"):
        ball.size = 5  # type: ignore[misc]
    with pytest.raises(InvalidParameterError, match="size must be at least 1, got 0"):
        ball.but(size=0)
    with pytest.raises(InvalidParameterError, match="is_round must be True or False"):
        Ball(is_round=None)


def test_known__what_a_class_adds_comes_first_and_changes_are_its_own():
    assert list(Throw.known) == ["target", "force", "size", "is_round", "tint", "is_light"]
    assert (Shape.known["size"].help, Ball.known["size"].help) == ("How large.", "How wide.")
    assert (Shape.known["is_round"].default, Throw.known["is_round"].default) == (False, True)


def test_takes__arguments_become_one_value():
    assert throw("wall") == ("wall", 3, Ball())
    assert throw(force=5, target="wall", size=1) == ("wall", 5, Ball(size=1))
    assert Player.named("me") == "Player me"
    assert Player().throw("wall", 8) == 8


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, r"^throw\(\) missing a required argument: 'target'$"),
        (("wall",), {"speed": 3}, r"^throw\(\) got an unexpected keyword argument 'speed'$"),
        (("wall", 3, 4), {}, r"^throw\(\) takes 2 positional arguments at most$"),
        (("wall",), {"target": "me"}, r"^throw\(\) got multiple values for argument 'target'$"),
    ],
)
def test_takes__arguments_that_do_not_fit(arguments, options, message):
    with pytest.raises(TypeError, match=message):
        throw(*arguments, **options)


def test_takes__signature_and_docstring():
    parameters = inspect.signature(throw).parameters
    assert list(parameters) == list(Throw.known)
    assert str(parameters["target"]) == "target: str"
    assert parameters["size"].kind is inspect.Parameter.KEYWORD_ONLY
    assert list(inspect.signature(Player.throw).parameters)[:2] == ["self", "target"]
    text = inspect.getdoc(throw)
    assert text is not None
    assert text.startswith("Throw a ball.\n\nParameters\n----------\ntarget\n    At what.\n")
    assert "\nsize\n    How wide. None: 2.\n" in text
    assert text.endswith("\n\nReturns\n-------\nWhat was thrown.")
    assert inspect.getdoc(Player.throw).endswith("\nis_light\n    Whether it is light.")
