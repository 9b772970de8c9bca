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
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError, MissingExtraError, option_name
from neardup.files.inputs import Inputs
from neardup.files.problems import listed_names
from neardup.files.rows import Mask, RowBlock, Source
from neardup.files.streams import one_line
from neardup.reading.sign import columns_there, where_to_have
from neardup.runs.progress import may_go_on
from neardup.runs.runner import map_ordered
from neardup.tables import Bytes, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.index.index import OpenIndex

# Documents of an index whose texts are read at once.
_DOCUMENTS_AT_ONCE = 256
# Beyond it, floats do not represent every integer.
_LARGEST_EXACT = 1 << 53

# Prefix of the condition, which must be unchanged after parsing.
_SELECT = "SELECT number FROM batch WHERE "
# Conditions may come from a client of a service, so only the rows are readable.
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "lock_configuration": True,
}
_ARITHMETIC = frozenset("+-*/%")
# Names of columns in the query: as text, and as a value with its fields.
_INTERNAL = re.compile(r"\b[tv](\d+)\b")


@cache
def _database(_: int) -> Any:
    """Open a process's database, for one query's rows."""
    try:
        # It takes longer to load than most other libraries of a job.
        import duckdb
    except ImportError:
        raise MissingExtraError("sql", "a condition (where)") from None
    return duckdb.connect(":memory:", config=_SETTINGS)


_opening = threading.Lock()


def _connect() -> Any:
    """Return a connection to this process's database."""
    with _opening:
        return _database(os.getpid()).cursor()


def _syntax_tree(condition: str) -> dict[str, Any]:
    with _connect() as connection:
        query = "SELECT json_serialize_sql(?)"
        # A comment at the end of the condition ends with its line.
        [found] = connection.execute(query, [f"{_SELECT}({condition}\n)"]).fetchone()
    tree: dict[str, Any] = json.loads(found)
    return tree


class Condition:
    """A condition on columns, such as ``status = 200``.

    Parameters
    ----------
    text
        The condition in DuckDB's SQL; null is neither true nor false.

    Attributes
    ----------
    columns
        The named columns, without the fields within them.

    Raises
    ------
    InvalidParameterError
        If it cannot be parsed, or reads other data than columns.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if not text.strip():
            raise _refused("it is empty", text)
        tree = _syntax_tree(text)
        if tree["error"]:
            raise _refused(tree["error_message"], text)
        compiler = _Compiler()
        try:
            [statement] = tree["statements"]
            node = statement["node"]
            [plain] = _syntax_tree("true")["statements"]
            if {**node, "where_clause": None} != {**plain["node"], "where_clause": None}:
                raise _UnsupportedError("it is more than one condition")
            node["where_clause"] = compiler.condition(node["where_clause"])
        except (_UnsupportedError, ValueError, KeyError) as error:
            raise _refused(str(error) or "it cannot be parsed", text) from None
        except RecursionError:
            raise _refused("it is nested too deep", text) from None
        self.columns = tuple(compiler.columns)
        with _connect() as connection:
            query = "SELECT json_deserialize_sql(?::JSON)"
            [self._query] = connection.execute(query, [json.dumps(tree)]).fetchone()
        self._check()

    def __reduce__(self) -> tuple[type[Condition], tuple[str]]:
        """Pickle the text, which is parsed again."""
        return Condition, (self.text,)

    def _check(self) -> None:
        """Raise for missing functions, before any row is read."""
        import duckdb

        columns = range(len(self.columns))
        values = "".join(f", NULL::VARCHAR AS t{n}, NULL::VARIANT AS v{n}" for n in columns)
        with _connect() as connection:
            try:
                connection.execute(f"WITH batch AS (SELECT 1 AS number{values}) {self._query}")
            except duckdb.CatalogException as error:
                raise _refused(self._reason(error), self.text) from None
            except duckdb.Error:
                # It may be valid for columns with types.
                pass

    def of(self, source: Source, block: RowBlock) -> Mask:
        """Return a block's rows that match or are unreadable.

        Raises
        ------
        InvalidInputError
            If a file lacks a column completely, or has values that cannot be compared.
        """
        import duckdb
        import pyarrow as pa

        try:
            if not self.columns:
                return self._met(_numbered(len(block)), "SELECT number FROM given")
            objects = block.objects(self.columns)
            if objects is not None:
                return self._of_objects(objects)
            tables, are_bad = block.readable_columns(self.columns)
            table = pa.concat_tables(tables, promote_options="default") if tables else pa.table({})
            if source.has_fixed_columns and not are_bad.all():
                for name in self.columns:
                    if name not in table.column_names:
                        message = _no_column(name, source.listed_names(), self.text)
                        raise InvalidInputError(message, path=source.origin)
            are_met: Mask = are_bad.copy()
            are_met[~are_bad] = self._of_table(table, int((~are_bad).sum()))
            return are_met
        except duckdb.Error as error:
            message = f"{option_name('where')} {self.text!r}: {self._reason(error)}"
            raise InvalidInputError(message, path=source.origin) from None

    def of_documents(self, index: OpenIndex[Any, Any], documents: Int64s) -> Mask:
        """Return which index documents, in ascending order, meet the condition.

        Raises
        ------
        InvalidParameterError
            If the index lacks such a column, or its values cannot be compared.
        """
        import duckdb

        known = ("id", "text", *index.columns)
        for name in self.columns:
            if name not in known:
                raise InvalidParameterError(_no_column(name, known, self.text), "")
        parts = [np.empty(0, np.bool_)]
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            may_go_on()
            rows = index.read_rows(documents[start : start + _DOCUMENTS_AT_ONCE])
            names = [name for name in self.columns if name in rows.column_names]
            try:
                parts.append(self._of_table(rows.select(names), len(rows)))
            except duckdb.Error as error:
                raise _refused(self._reason(error), self.text) from None
        return np.concatenate(parts)

    def _reason(self, error: Exception) -> str:
        """Return the database's reason, with the user's column names."""
        line = one_line(error).partition(" LINE 1:")[0].partition(": ")[2]
        return _INTERNAL.sub(lambda name: repr(self.columns[int(name[1])]), line)

    def _of_table(self, table: pa.Table, n_rows: int) -> Mask:
        """Return the matching rows, with missing columns as null."""
        import pyarrow as pa

        from neardup.files.arrowcolumns import plain_array

        given, values = _numbered(n_rows), ""
        for n, name in enumerate(self.columns):
            expression = "NULL"
            if name in table.column_names:
                array = plain_array(table.column(name))
                given = given.append_column(f"c{n}", array)
                # NaN becomes null; DuckDB would treat it as the largest number.
                expression = f"nullif(c{n}, 'nan')" if pa.types.is_floating(array.type) else f"c{n}"
            values += f", {expression} AS t{n}, {expression} AS v{n}"
        return self._met(given, f"SELECT number{values} FROM given")

    def _of_objects(self, objects: pa.Array) -> Mask:
        """Mask JSON texts that meet the condition or are null."""
        given, values = _numbered(len(objects)).append_column("row", objects), ""
        for n, name in enumerate(self.columns):
            pointer = "/" + name.replace("~", "~0").replace("/", "~1").replace("'", "''")
            values += f", json_extract_string(row, '{pointer}') AS t{n}"
            values += f", json_extract(row, '{pointer}')::VARIANT AS v{n}"
        are_bad: Mask = objects.is_null().to_numpy(zero_copy_only=False)
        return are_bad | self._met(given, f"SELECT number{values} FROM given")

    def _met(self, given: pa.Table, batch: str) -> Mask:
        are_met: Mask = np.zeros(len(given), np.bool_)
        are_met[self._select(given, f"WITH batch AS ({batch}) {self._query}")] = True
        return are_met

    @staticmethod
    def _select(given: pa.Table, query: str) -> Int64s:
        with _connect() as connection:
            connection.register("given", given)
            numbers: Int64s = connection.execute(query).fetchnumpy()["number"]
            return numbers


def _numbered(n_rows: int) -> pa.Table:
    import pyarrow as pa

    return pa.table({"number": np.arange(n_rows)})


def _refused(reason: str, text: str) -> InvalidParameterError:
    message = (
        f"where must be a condition such as status = 200 and lang in ('en', 'de'), got {text!r}: "
        f"{reason}"
    )
    return InvalidParameterError(message, "where")


def _no_column(name: str, names: Sequence[str], condition: str) -> str:
    message = f"{option_name('where')}: no column {name!r}; columns are {listed_names(name, names)}"
    if f'"{name}"' in condition:
        message += "; texts stand in single quotes"
    return message


class _UnsupportedError(Exception):
    """An unsupported part of a condition, with the reason."""


_UNSUPPORTED = {
    "SUBQUERY": "it has a query within it",
    "PARAMETER": "it has a parameter (?)",
    "WINDOW": "it has a window function",
    "STAR": "it has a star (*)",
}
_PATHS = ("STRUCT_EXTRACT", "ARRAY_EXTRACT")
_OPERANDS = ("left", "right", "input", "lower", "upper", "children")


class _Compiler:
    """Rename a condition's columns, and cast their values."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self._parameters: list[str] = []

    def condition(self, node: Any) -> Any:
        """Return a boolean part of the condition."""
        is_column = node["class"] == "COLUMN_REF" or node["type"] in _PATHS
        changed = self._visit(node)
        return _cast(changed, "TRY_CAST(x AS BOOLEAN)") if is_column else changed

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
        if which == "LAMBDA":
            self._parameters += _names_in(node["lhs"])
        changed = {key: self._visit(value) for key, value in node.items()}
        if which == "FUNCTION" and node["function_name"] in _ARITHMETIC:
            for argument in changed["arguments"]:
                argument["expression"] = _cast(argument["expression"], _NUMBER)
        return changed

    def _column(self, node: dict[str, Any], *, is_path: bool) -> dict[str, Any]:
        head, *fields = node["column_names"]
        if head in self._parameters:
            return node
        number = self.columns.setdefault(head, len(self.columns))
        kind = "v" if fields or is_path else "t"
        return {**node, "column_names": [f"{kind}{number}", *fields]}

    def _comparison(self, node: dict[str, Any]) -> dict[str, Any]:
        if "DISTINCT" in node["type"] and node["left"]["class"] == "CAST":
            # DuckDB represents "x is true" with a cast that fails for other texts.
            node = {**node, "left": node["left"]["child"]}
        operands = {name: node[name] for name in _OPERANDS if name in node}
        listed = [each for value in operands.values() for each in _listed(value)]
        constants = [each["literal"] for each in listed if each["class"] == "CONSTANT"]
        visited = {name: self._visit(value) for name, value in operands.items()}

        def compared(template: str) -> dict[str, Any]:
            def changed(operand: Any) -> Any:
                if isinstance(operand, list):
                    return [changed(each) for each in operand]
                return operand if operand["class"] == "CONSTANT" else _cast(operand, template)

            return {**node, **{name: changed(value) for name, value in visited.items()}}

        if all(each["class"] == "COLUMN_REF" or each["type"] in _PATHS for each in listed):
            # Two columns are compared as numbers if both are, else as text.
            both: dict[str, Any] = _cast(compared(_NUMBER), "coalesce(x, y)", compared(_TEXT))
            return both
        template = _template_of(constants)
        return {**node, **visited} if template is None else compared(template)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _names_in(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for each in node for name in _names_in(each)]
    if not isinstance(node, dict):
        return []
    own: list[str] = node.get("column_names", [])
    return own + [name for value in node.values() for name in _names_in(value)]


_TEXT = "CAST(x AS VARCHAR)"
_NUMBER = "nullif(TRY_CAST(x AS DOUBLE), 'nan'::DOUBLE)"


def _template_of(literals: Sequence[dict[str, Any]]) -> str | None:
    """Return the cast for constants, None if kinds differ."""
    kinds = {_KINDS.get(each["kind"]) for each in literals if each["kind"] != "NULL"}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind == "number":
        are_large = any(
            each["kind"] == "INTEGER" and abs(int(each["text"])) >= _LARGEST_EXACT
            for each in literals
        )
        return "TRY_CAST(x AS HUGEINT)" if are_large else _NUMBER
    return {"text": _TEXT, "truth": "TRY_CAST(x AS BOOLEAN)"}.get(kind or "")


_KINDS = {"INTEGER": "number", "NUMERIC": "number", "STRING": "text", "BOOLEAN": "truth"}


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
        """Return the blocks with chosen rows alone, without empty ones.

        Idle threads of a map evaluate the condition.
        """
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


def with_filter(source: Source, row_filter: ConditionFilter | None) -> Source:
    """Return the source with another filter of its rows."""
    made = copy(source)
    made.row_filter = row_filter
    return made


def filters_of(sources: Sequence[Source]) -> list[tuple[Source, ConditionFilter]]:
    """Return the sources whose rows a condition chooses."""
    return [
        (source, source.row_filter)
        for source in sources
        if isinstance(source.row_filter, ConditionFilter)
    ]


def rows_where(sources: Inputs, where: str | None) -> Inputs:
    """Return the rows that meet a condition, all for None.

    Raises
    ------
    InvalidParameterError
        If it is not a condition.
    InvalidInputError
        If it names a missing column.
    """
    if where is None:
        return sources
    condition = Condition(where)
    there = columns_there(sources, condition.columns) if condition.columns else ()
    lacking = next((name for name in condition.columns if name not in there), None)
    if lacking is not None:
        names = {name: None for source in sources for name in source.listed_names()}
        # Without rows, columns are unknown, and there are no rows to filter.
        if names:
            raise InvalidInputError(
                _no_column(lacking, list(names), condition.text) + where_to_have(sources)
            )
    return sources.changed(lambda source: with_filter(source, ConditionFilter(condition)))


def describe_filtered(*collections: Sequence[Source]) -> dict[str, Any]:
    """Return a summary's condition and count of excluded rows."""
    found = [each for part in collections for each in filters_of(part)]
    if not found:
        return {}
    n_rows = 0
    for source, row_filter in found:
        if row_filter.n_others is None:
            for _ in source.blocks():
                pass
        n_rows += row_filter.n_others or 0
    return {"where": found[0][1].condition.text, "filtered_rows": n_rows}
