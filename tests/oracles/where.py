"""Conditions on rows: what they mean, value by value, and how they are written down.

A condition is a tuple: ``("and", a, b)``, ``("or", a, b)``, ``("not", a)``, ``("null", x)``,
``("is", x, True)``, ``("in", x, [y, ...])``, ``("between", x, low, high)``,
``("like", x, pattern)``, ``("ilike", x, pattern)``, ``("true", x)``, or a comparison such as
``("<", x, y)``. What is compared is ``("column", name)``, ``("constant", value)``,
``("lower", x)``, ``("upper", x)`` or ``("length", x)``.
"""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from tests.oracles.column_paths import NOTHING, lookup

_OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEGATED = {
    "null": (" is ", " is not "),
    "is": (" is ", " is not "),
    **{kind: (f" {kind} ", f" not {kind} ") for kind in ("in", "between", "like", "ilike")},
}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def meets(condition: tuple[Any, ...], row: dict[str, Any]) -> bool:
    """Return whether a condition is true of a row."""
    return _truth(condition, row) is True


def _truth(condition: tuple[Any, ...], row: dict[str, Any]) -> bool | None:
    """Return whether a condition is true, false or, as None, neither."""
    kind, *parts = condition
    if kind == "not":
        inner = _truth(parts[0], row)
        return None if inner is None else not inner
    if kind in ("and", "or"):
        truths = [_truth(part, row) for part in parts]
        decisive = kind == "or"
        if decisive in truths:
            return decisive
        return None if None in truths else not decisive
    if kind == "null":
        return _value(parts[0], row) is None
    if kind == "is":
        return _as_truth(_value(parts[0], row)) is parts[1]
    if kind == "true":
        return _as_truth(_value(parts[0], row))
    if kind == "in":
        x, choices = parts
        equal = [("=", x, choice) for choice in choices]
        return _truth(equal[0] if len(equal) == 1 else _any(equal), row)
    if kind == "between":
        x, low, high = parts
        return _truth(("and", (">=", x, low), ("<=", x, high)), row)
    if kind in ("like", "ilike"):
        text = _value(parts[0], row)
        if not isinstance(text, str):
            return None
        pattern = re.escape(parts[1]).replace("%", ".*").replace("_", ".")
        flags = re.DOTALL | (re.IGNORECASE if kind == "ilike" else 0)
        return re.fullmatch(pattern, text, flags) is not None
    return _compared(kind, *(_value(part, row) for part in parts))


def _any(conditions: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    found = conditions[0]
    for other in conditions[1:]:
        found = ("or", found, other)
    return found


def _value(what: tuple[Any, ...], row: dict[str, Any]) -> Any:
    kind, inner = what
    if kind == "constant":
        return inner
    if kind == "column":
        value = lookup(row, inner)
        return None if value is NOTHING or value != value else value
    text = _value(inner, row)
    if not isinstance(text, str):
        return None
    return {"lower": str.lower, "upper": str.upper, "length": len}[kind](text)


def _compared(kind: str, a: Any, b: Any) -> bool | None:
    """Compare two texts, or two numbers where one is one, or two truth values where one is one."""
    kinds = {_kind(a), _kind(b)}
    if kinds == {"text"}:
        return _OPERATORS[kind](a, b)
    if "number" in kinds:
        a, b = _as_number(a), _as_number(b)
        if isinstance(a, float) or isinstance(b, float):
            # Python tells whole numbers and floats apart that are the same as floats.
            a, b = (None if each is None else float(each) for each in (a, b))
    elif "truth" in kinds:
        a, b = _as_truth(a), _as_truth(b)
    else:
        return None
    return None if a is None or b is None else _OPERATORS[kind](a, b)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return {int: "number", float: "number", str: "text"}.get(type(value), "other")


def _as_number(value: Any) -> float | int | None:
    if _kind(value) == "text":
        value = value if _NUMBER.fullmatch(value) else None
        if value is not None:
            value = float(value) if set(value) & set(".eE") else int(value)
    elif _kind(value) != "number":
        return None
    # Others are not told apart by floats.
    is_large = isinstance(value, int) and abs(value) >= 2**63
    return _as_float(value) if is_large else value


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _as_truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def to_sql(condition: tuple[Any, ...]) -> str:
    """Write a condition down, as it is given to neardup."""
    kind, *parts = condition
    if kind == "not":
        inner = to_sql(parts[0])
        # Written inside of the comparison, as people do: x not like 'a%', x is not null.
        operator = _NEGATED.get(parts[0][0])
        return inner.replace(*operator, 1) if operator else f"not ({inner})"
    if kind in ("and", "or"):
        return f"({to_sql(parts[0])}) {kind} ({to_sql(parts[1])})"
    if kind == "null":
        return f"{_operand(parts[0])} is null"
    if kind == "is":
        return f"{_operand(parts[0])} is {str(parts[1]).lower()}"
    if kind == "true":
        return _operand(parts[0])
    if kind == "in":
        return f"{_operand(parts[0])} in ({', '.join(map(_operand, parts[1]))})"
    if kind == "between":
        x, low, high = map(_operand, parts)
        return f"{x} between {low} and {high}"
    if kind in ("like", "ilike"):
        return f"{_operand(parts[0])} {kind} {_operand(('constant', parts[1]))}"
    return f"{_operand(parts[0])} {kind} {_operand(parts[1])}"


def _operand(what: tuple[Any, ...]) -> str:
    kind, inner = what
    if kind == "column":
        return str(inner)
    if kind != "constant":
        return f"{kind}({_operand(inner)})"
    if isinstance(inner, str):
        return "'" + inner.replace("'", "''") + "'"
    return "null" if inner is None else str(inner).lower()
