"""SQL conditions on the columns of rows, evaluated by DuckDB.

A value is compared in the type of the constant next to it: as a number, as text, or as a truth
value. The type of a column, which a file may leave open, and other rows have no effect, so that the
same rows meet a condition however blocks are cut. Unreadable rows meet every condition; the job
that reads them reports them.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError, MissingExtraError, option_name
from neardup.files.arrowcolumns import plain_array
from neardup.files.problems import listed_names
from neardup.files.rows import Mask, RowBlock, Source
from neardup.files.streams import one_line
from neardup.runs.runner import map_ordered
from neardup.tables import Bytes, Int64s

# A condition reads rows and nothing else.
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "lock_configuration": True,
}


def _duckdb() -> Any:
    """Load DuckDB, which takes longer than most other libraries of a job."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("sql", "a condition (where)") from None
    return duckdb


@cache
def _database(_: int) -> Any:
    """Open a process's database, for one query's rows."""
    return _duckdb().connect(":memory:", config=_SETTINGS)


_opening = threading.Lock()


def _connect() -> Any:
    """Return a connection to this process's database."""
    with _opening:
        return _database(os.getpid()).cursor()


class Condition:
    """A condition on columns in DuckDB's SQL, such as ``status = 200``.

    ``columns`` are the named columns, without the fields within them. Raises InvalidParameterError
    for a text that cannot be parsed, or that reads other data than columns.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        duckdb = _duckdb()
        try:
            self.columns, self._query = _compiled(text)
            # Finds missing functions, before any row is read.
            self._met(pa.table({}), 0)
        except _UnsupportedError as error:
            reason = str(error)
        except duckdb.CatalogException as error:
            reason = self._reason(error)
        except duckdb.Error:
            # It may be valid for columns with types.
            return
        else:
            return
        message = (
            "where must be a condition such as status = 200 and lang in ('en', 'de'), got "
            f"{text!r}: {reason}"
        )
        raise InvalidParameterError(message, "where")

    def __reduce__(self) -> tuple[type[Condition], tuple[str]]:
        """Pickle the text, which is parsed again."""
        return Condition, (self.text,)

    def of(self, source: Source, block: RowBlock) -> Mask:
        """Return a block's rows that match or are unreadable.

        Raises InvalidInputError if no row of a file has a column, or values cannot be compared.
        """
        found = block.json_columns(self.columns)
        try:
            if found is not None:
                table, are_bad = found
                return are_bad | self._met(table, len(block), are_json=True)
            tables, are_bad = block.readable_columns(self.columns)
            table = pa.concat_tables(tables, promote_options="default") if tables else pa.table({})
            if source.has_fixed_columns and not are_bad.all():
                for name in self.columns:
                    if name not in table.column_names:
                        message = no_column(name, source.listed_names(), self.text)
                        raise InvalidInputError(message, path=source.origin)
            are_met: Mask = are_bad.copy()
            are_met[~are_bad] = self._met(table, int((~are_bad).sum()))
            return are_met
        except _duckdb().Error as error:
            message = f"{option_name('where')} {self.text!r}: {self._reason(error)}"
            raise InvalidInputError(message, path=source.origin) from None

    def _reason(self, error: Exception) -> str:
        """Return the database's reason, with the user's column names."""
        line = one_line(error).partition(" LINE 1:")[0].partition(": ")[2]
        return _INTERNAL.sub(lambda name: repr(self.columns[int(name[1])]), line)

    def _met(self, table: pa.Table, n_rows: int, *, are_json: bool = False) -> Mask:
        """Return the matching rows, with missing columns as null."""
        given, columns = pa.table({"number": np.arange(n_rows)}), ["number"]
        for n, name in enumerate(self.columns):
            text = value = "NULL"
            if name in table.column_names:
                array = plain_array(table.column(name))
                given = given.append_column(f"c{n}", array)
                # NaN becomes null; DuckDB would treat it as the largest number.
                is_float = pa.types.is_floating(array.type)
                text = value = f"nullif(c{n}, 'nan')" if is_float else f"c{n}"
            if are_json:
                text = f"json_extract_string(c{n}, '$')"
                value = f"json_extract(c{n}, '$')::VARIANT"
            columns += [f"{text} AS t{n}", f"{value} AS v{n}"]
        with _connect() as connection:
            connection.register("given", given)
            query = f"WITH batch AS (SELECT {', '.join(columns)} FROM given) {self._query}"
            numbers: Int64s = connection.execute(query).fetchnumpy()["number"]
        are_met: Mask = np.zeros(n_rows, np.bool_)
        are_met[numbers] = True
        return are_met


def no_column(name: str, names: Sequence[str], condition: str) -> str:
    """Describe a missing column of a condition."""
    message = f"{option_name('where')}: no column {name!r}; columns are {listed_names(names)}"
    if f'"{name}"' in condition:
        message += "; texts stand in single quotes"
    return message


# A condition becomes a query over rows with columns t0, v0, t1, ...: each named column as text, and
# as a value with its fields.

_INTERNAL = re.compile(r"\b[tv](\d+)\b")
# Prefix of the condition, which must be unchanged after parsing.
_SELECT = "SELECT number FROM batch WHERE "
# Beyond it, floats do not represent every integer.
_LARGEST_EXACT = 1 << 53
_ARITHMETIC = frozenset("+-*/%")
_UNSUPPORTED = {
    "SUBQUERY": "it has a query within it",
    "PARAMETER": "it has a parameter (?)",
    "WINDOW": "it has a window function",
    "STAR": "it has a star (*)",
    "LAMBDA": "it has a lambda function",
}
_PATHS = ("STRUCT_EXTRACT", "ARRAY_EXTRACT")
_OPERANDS = ("left", "right", "input", "lower", "upper", "children")
_TEXT, _TRUTH = "CAST(x AS VARCHAR)", "TRY_CAST(x AS BOOLEAN)"
_NUMBER = "nullif(TRY_CAST(x AS DOUBLE), 'nan'::DOUBLE)"
_LARGE_NUMBER = "TRY_CAST(x AS HUGEINT)"
_CASTS = {"INTEGER": _NUMBER, "NUMERIC": _NUMBER, "STRING": _TEXT, "BOOLEAN": _TRUTH}


class _UnsupportedError(Exception):
    """An unsupported condition, with the reason."""


def _compiled(text: str) -> tuple[tuple[str, ...], str]:
    """Return the columns of a condition, and its query."""
    if not text.strip():
        raise _UnsupportedError("it is empty")
    tree = _syntax_tree(text)
    if tree["error"]:
        raise _UnsupportedError(tree["error_message"])
    compiler = _Compiler()
    try:
        [statement] = tree["statements"]
        node, plain = statement["node"], _syntax_tree("true")["statements"][0]["node"]
        if {**node, "where_clause": None} != {**plain, "where_clause": None}:
            raise _UnsupportedError("it is more than one condition")
        node["where_clause"] = compiler.condition(node["where_clause"])
    except (ValueError, KeyError):
        raise _UnsupportedError("it cannot be parsed") from None
    except RecursionError:
        raise _UnsupportedError("it is nested too deep") from None
    with _connect() as connection:
        query = "SELECT json_deserialize_sql(?::JSON)"
        [compiled] = connection.execute(query, [json.dumps(tree)]).fetchone()
    return tuple(compiler.columns), compiled


def _syntax_tree(condition: str) -> dict[str, Any]:
    with _connect() as connection:
        query = "SELECT json_serialize_sql(?)"
        # A comment at the end of the condition ends with its line.
        [found] = connection.execute(query, [f"{_SELECT}({condition}\n)"]).fetchone()
    tree: dict[str, Any] = json.loads(found)
    return tree


class _Compiler:
    """Rename a condition's columns, and cast their values."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}

    def condition(self, node: Any) -> Any:
        """Return a boolean part of the condition."""
        changed = self._visit(node)
        return _cast(changed, _TRUTH) if _is_column(node) else changed

    def _visit(self, node: Any) -> Any:
        """Return a part with columns by other names."""
        if isinstance(node, list):
            return [self._visit(each) for each in node]
        if not isinstance(node, dict):
            return node
        which, what = node.get("class"), node.get("type")
        if which in _UNSUPPORTED:
            raise _UnsupportedError(_UNSUPPORTED[which])
        if which == "COLUMN_REF":
            return self._column(node, is_path=False)
        if what in _PATHS and node["children"][0]["class"] == "COLUMN_REF":
            column, *steps = node["children"]
            return {**node, "children": [self._column(column, is_path=True), *self._visit(steps)]}
        if which in ("COMPARISON", "BETWEEN") or what in ("COMPARE_IN", "COMPARE_NOT_IN"):
            return self._comparison(node)
        if which == "CONJUNCTION" or what == "OPERATOR_NOT":
            return {**node, "children": [self.condition(each) for each in node["children"]]}
        changed = {key: self._visit(value) for key, value in node.items()}
        if which == "FUNCTION" and node["function_name"] in _ARITHMETIC:
            for argument in changed["arguments"]:
                argument["expression"] = _cast(argument["expression"], _NUMBER)
        return changed

    def _column(self, node: dict[str, Any], *, is_path: bool) -> dict[str, Any]:
        head, *fields = node["column_names"]
        number = self.columns.setdefault(head, len(self.columns))
        kind = "v" if fields or is_path else "t"
        return {**node, "column_names": [f"{kind}{number}", *fields]}

    def _comparison(self, node: dict[str, Any]) -> dict[str, Any]:
        """Cast the operands of a comparison by its constants."""
        if "DISTINCT" in node["type"] and node["left"]["class"] == "CAST":
            # DuckDB represents "x is true" with a cast that fails for other texts.
            node = {**node, "left": node["left"]["child"]}
        operands = {name: node[name] for name in _OPERANDS if name in node}
        parts = []
        for value in operands.values():
            parts += value if isinstance(value, list) else [value]
        visited = {name: self._visit(value) for name, value in operands.items()}

        def compared(template: str) -> dict[str, Any]:
            def changed(operand: Any) -> Any:
                if isinstance(operand, list):
                    return [changed(each) for each in operand]
                return operand if operand["class"] == "CONSTANT" else _cast(operand, template)

            return {**node, **{name: changed(value) for name, value in visited.items()}}

        if all(map(_is_column, parts)):
            # Two columns are compared as numbers if both are, else as text.
            both: dict[str, Any] = _cast(compared(_NUMBER), "coalesce(x, y)", compared(_TEXT))
            return both
        literals = [each["literal"] for each in parts if each["class"] == "CONSTANT"]
        casts = {_CASTS.get(each["kind"]) for each in literals if each["kind"] != "NULL"}
        cast = casts.pop() if len(casts) == 1 else None
        integers = [int(each["text"]) for each in literals if each["kind"] == "INTEGER"]
        if cast == _NUMBER and any(abs(number) >= _LARGEST_EXACT for number in integers):
            cast = _LARGE_NUMBER
        return {**node, **visited} if cast is None else compared(cast)


def _is_column(node: Any) -> bool:
    return node["class"] == "COLUMN_REF" or node["type"] in _PATHS


@cache
def _parsed(expression: str) -> str:
    [statement] = _syntax_tree(expression)["statements"]
    return json.dumps(statement["node"]["where_clause"])


def _cast(x: Any, template: str, y: Any = None) -> Any:
    """Replace ``x`` and ``y`` of a template by expressions."""

    def put(part: Any) -> Any:
        if isinstance(part, list):
            return [put(each) for each in part]
        if not isinstance(part, dict):
            return part
        match part.get("column_names"):
            case ["x"]:
                return x
            case ["y"]:
                return y
        return {key: put(value) for key, value in part.items()}

    return put(json.loads(_parsed(template)))


class ConditionFilter:
    """Chooses rows by a condition, with their original numbers."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        # Known once all rows have been read, in this process or in another one.
        self.n_others: int | None = None
        # A bit for each row of a block that was read before.
        self._masks: dict[int, Bytes] = {}

    def choose(self, source: Source, blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
        """Yield blocks of chosen rows, none empty, evaluated by idle threads."""
        n_others = 0

        def chosen(item: tuple[int, RowBlock]) -> tuple[int, RowBlock]:
            number, block = item
            if number not in self._masks:
                self._masks[number] = np.packbits(self.condition.of(source, block))
            rows = np.unpackbits(self._masks[number], count=len(block)).astype(np.bool_)
            return int((~rows).sum()), block.select(rows)

        for n_left_out, block in map_ordered(chosen, enumerate(blocks), 1):
            n_others += n_left_out
            if len(block):
                yield block
        self.n_others = n_others
