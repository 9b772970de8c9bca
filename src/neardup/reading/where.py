"""Conditions on the columns of rows, as SQL writes them, and sources of the rows that meet one.

What is compared with what follows from each value and not from the type of its column, which a file
may leave open: numbers are compared as such, also with a text that reads as one, texts by their
characters, and all else is null, as a missing value is. What cannot be read is left to whoever
reads it next: no condition leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError, option_name
from neardup.files.inputs import Inputs
from neardup.files.problems import listed_names
from neardup.files.rows import Mask, Place, RowBlock, RowWriter, SomeRows, Source, WrappedSource
from neardup.reading.column_values import columns_there, where_to_have
from neardup.runs.progress import may_go_on
from neardup.runs.threads import map_ordered
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.cells import Cells
    from neardup.files.rows import TakeMemory
    from neardup.files.streams import Destination, OutputStream
    from neardup.indexes.index import OpenIndex
    from neardup.outputs.summary_records import Filtered

# What a condition may be made of, for messages.
_KNOWN = (
    "comparisons, like, ilike, in, between, is null, and, or, not, lower, upper and length; other "
    'names than of letters, digits and _ stand in double quotes, as "my column"'
)
_LITERAL = re.compile(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?|[0-9]+\.")
# Documents of an index whose texts are read at once.
_DOCUMENTS_AT_ONCE = 256
_PLAIN_NAME = re.compile(r"[\w.\[\]]+")


# Words that a condition has beside names; behind most of them a parenthesis is no call.
_WORDS = frozenset(
    ("and", "or", "not", "in", "is", "null", "like", "ilike", "between", "escape", "true", "false")
)
_MOST_CALLS = 6

# Parts of the parser's nodes that a condition evaluates, by class. A node with any other part set
# is refused, so that no version of the parser can add a flag that is ignored.
_NEGATABLE = ("Like", "ILike", "Is", "In", "Between")
_EVALUATED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Paren", "Not", "Neg", "Lower", "Upper", "Length", "Boolean"), ("this",)),
    **dict.fromkeys(("EQ", "NEQ", "LT", "LTE", "GT", "GTE", "And", "Or"), ("this", "expression")),
    **dict.fromkeys(("Like", "ILike", "Is"), ("this", "expression", "negate")),
    "In": ("this", "expressions", "negate"),
    "Between": ("this", "low", "high", "negate"),
    "Null": (),
    "Literal": ("this", "is_string"),
    "Identifier": ("this", "quoted"),
    "Column": ("this", "table", "db", "catalog"),
    "Dot": ("this", "expression"),
    "Bracket": ("this", "expressions"),
}


def _parse(text: str) -> Any:
    """Parse a condition; all words that it does not know are names.

    The parser knows all of SQL, and tries some of that in several ways, so that each level of it
    takes twice the time; calls and brackets are therefore nested no deeper than any that are known.
    """
    from sqlglot import ParseError, Parser, TokenType, exp, tokenize

    tokens = tokenize(text)
    inside, is_name = list[bool](), False
    for token in tokens:
        kind, written = token.token_type, text[token.start : token.end + 1]
        if kind in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE):
            inside.append(is_name or kind is not TokenType.L_PAREN)
            if sum(inside) > _MOST_CALLS:
                raise RecursionError
        elif kind in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE) and inside:
            inside.pop()
        is_word = (written[0].isalpha() or written[0] == "_") and written.isidentifier()
        if is_word and written.lower() not in _WORDS:
            # Some of what is called without parentheses is known by its name alone.
            is_called = written.upper() in Parser.NO_PAREN_FUNCTION_PARSERS
            token.token_type = TokenType.IDENTIFIER if is_called else TokenType.VAR
        is_name = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    (found,) = Parser().parse_into(exp.Condition, tokens, text) or [None]
    if found is None:
        raise ParseError("")
    return found


class Condition:
    """A condition on the columns of a row, such as ``status = 200 and lang in ('en', 'de')``.

    Parameters
    ----------
    text
        The condition in SQL, which a library parses; null is as in SQL neither true nor false.

    Raises
    ------
    InvalidParameterError
        If it is none, or has parts that are not known here.
    """

    def __init__(self, text: str) -> None:
        from sqlglot.errors import SqlglotError

        self.text = text
        compiler = _Compiler(text)
        try:
            parsed = _parse(text)
            compiler.check_parts(parsed)
            self._holds = compiler.condition(parsed)
        except RecursionError:
            raise _refused("it is nested too deep", text) from None
        except SqlglotError as error:
            found = getattr(error, "errors", None) or [{}]
            reason, near = found[0].get("description") or "", found[0].get("highlight")
            # What the library says of its own classes.
            if "<class" in reason:
                reason = "something is missing"
            reason = reason or "it cannot be parsed"
            raise _refused(f"{reason.rstrip('.')}{f' at {near!r}' if near else ''}", text) from None
        self.columns = tuple(compiler.columns)

    def __reduce__(self) -> tuple[type[Condition], tuple[str]]:
        """Be copied as the text, which is parsed again."""
        return Condition, (self.text,)

    def of(self, source: Source, block: RowBlock) -> Mask:
        """Return the rows of a block that meet the condition, or cannot be read.

        Raises
        ------
        InvalidInputError
            If a file lacks a column as a whole.
        """
        cells, are_bad = self._cells(block)
        if source.has_fixed_columns and not are_bad.all():
            for name in self.columns:
                if name not in cells:
                    message = _no_column(name, source.listed_names(), self.text)
                    raise InvalidInputError(message, path=source.origin)
        return self._met(cells, are_bad)

    def of_documents(self, index: OpenIndex[Any, Any], documents: Int64s) -> Mask:
        """Return which of some documents of an index, which ascend, meet the condition.

        Raises
        ------
        InvalidParameterError
            If the index keeps no such column.
        """
        known = ("id", "text", *index.columns)
        for name in self.columns:
            # The head of a path into a column, which may have points in its own name.
            if not any(name == each or name.startswith((f"{each}.", f"{each}[")) for each in known):
                raise InvalidParameterError(_no_column(name, known, self.text), "")
        from neardup.files.tableblocks import TableBlock

        parts = [np.empty(0, np.bool_)]
        for start in range(0, len(documents), _DOCUMENTS_AT_ONCE):
            may_go_on()
            rows = index.read_rows(documents[start : start + _DOCUMENTS_AT_ONCE])
            parts.append(self._met(*self._cells(TableBlock(rows, 1))))
        return np.concatenate(parts)

    def _cells(self, block: RowBlock) -> tuple[Mapping[str, Cells], Mask]:
        if not self.columns:
            return {}, np.zeros(len(block), np.bool_)
        return block.cells(self.columns)

    def _met(self, cells: Mapping[str, Cells], are_bad: Mask) -> Mask:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = pc.fill_null(self._holds(_Rows(cells, len(are_bad))), False)
        are_met = found.as_py() if isinstance(found, pa.Scalar) else np.asarray(found)
        chosen: Mask = are_bad | are_met
        return chosen


def _refused(reason: str, text: str) -> InvalidParameterError:
    message = (
        f"where must be a condition such as status = 200 and lang in ('en', 'de'), got {text!r}: "
        f"{reason}"
    )
    return InvalidParameterError(message, "where")


def _no_column(name: str, names: Sequence[str], condition: str) -> str:
    listed = listed_names(name, names)
    message = f"no column {name!r}, which {option_name('where')} names; columns are {listed}"
    if not _PLAIN_NAME.fullmatch(name) or f'"{name}"' in condition:
        message += "; texts stand in single quotes"
    return message


# From the parsed condition to functions of the values of some rows.


@dataclass(frozen=True)
class _Rows:
    """The values of columns in so many rows."""

    cells: Mapping[str, Cells]
    n_rows: int

    def column(self, name: str) -> Cells:
        """Return the values of a column; nulls where there is none."""
        from neardup.files.cells import Cells

        return self.cells[name] if name in self.cells else Cells.nulls(self.n_rows)


# Truth values of rows, or one of all.
_Holds = Callable[[_Rows], "pa.BooleanArray | pa.BooleanScalar"]
_Value = Callable[[_Rows], "Cells"]


class _Compiler:
    """Makes functions of parts of a condition, and notes the columns that they name."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.columns: dict[str, None] = {}

    def check_parts(self, parsed: Any) -> None:
        """Raise for any part of the condition that would not be evaluated."""
        for node in parsed.walk():
            evaluated = _EVALUATED.get(type(node).__name__)
            if evaluated is None or any(
                value for name, value in node.args.items() if name not in evaluated
            ):
                raise self._unknown(node)

    def condition(self, node: Any) -> _Holds:
        """Return the function that evaluates a part of the condition to true, false or null."""
        import pyarrow.compute as pc

        holds = self._plain_condition(node)
        if type(node).__name__ in _NEGATABLE and node.args.get("negate"):
            return lambda rows: pc.invert(holds(rows))
        return holds

    def _plain_condition(self, node: Any) -> _Holds:
        """Return the same as ``condition``, without the negation that a comparison may have."""
        import pyarrow.compute as pc
        from sqlglot import exp

        operators = {
            exp.EQ: pc.equal,
            exp.NEQ: pc.not_equal,
            exp.LT: pc.less,
            exp.LTE: pc.less_equal,
            exp.GT: pc.greater,
            exp.GTE: pc.greater_equal,
        }
        kind = type(node)
        if kind is exp.Paren:
            return self.condition(node.this)
        if kind is exp.Not:
            inner = self.condition(node.this)
            return lambda rows: pc.invert(inner(rows))
        if kind in (exp.And, exp.Or):
            join = pc.and_kleene if kind is exp.And else pc.or_kleene
            # All in a row, of which there may be very many, are one step.
            parts = [self.condition(part) for part in node.flatten()]
            return lambda rows: reduce(join, (part(rows) for part in parts))
        if kind in operators:
            a, b, operator = self.value(node.this), self.value(node.expression), operators[kind]
            return lambda rows: _compare(operator, a(rows), b(rows))
        if kind is exp.Is:
            return self._is(node)
        if kind is exp.In and node.expressions:
            a, values = self.value(node.this), [self.value(each) for each in node.expressions]
            return lambda rows: _any_equal(a(rows), [each(rows) for each in values])
        if kind is exp.Between:
            a, low, high = map(self.value, (node.this, node.args["low"], node.args["high"]))
            return lambda rows: pc.and_kleene(
                _compare(pc.greater_equal, a(rows), low(rows)),
                _compare(pc.less_equal, a(rows), high(rows)),
            )
        if kind in (exp.Like, exp.ILike) and _is_text(node.expression):
            a, pattern = self.value(node.this), node.expression.this
            ignores = kind is exp.ILike
            return lambda rows: pc.match_like(a(rows).texts, pattern, ignore_case=ignores)
        if kind in (exp.Boolean, exp.Null) or self._name_of(node) is not None:
            a = self.value(node)
            return lambda rows: a(rows).as_truths
        raise self._unknown(node)

    def _is(self, node: Any) -> _Holds:
        import pyarrow.compute as pc
        from sqlglot import exp

        a, other = self.value(node.this), node.expression
        if type(other) is exp.Null:
            return lambda rows: a(rows).are_null
        if type(other) is exp.Boolean:
            wanted = other.this
            return lambda rows: pc.fill_null(pc.equal(a(rows).as_truths, wanted), False)
        raise self._unknown(node)

    def value(self, node: Any) -> _Value:
        """Return what gives the values of a part of the condition."""
        from sqlglot import exp

        kind = type(node)
        if kind is exp.Paren:
            return self.value(node.this)
        name = self._name_of(node)
        if name is not None:
            self.columns[name] = None
            return lambda rows: rows.column(name)
        if kind in (exp.Lower, exp.Upper, exp.Length):
            a, change = self.value(node.this), kind.__name__.lower()
            return lambda rows: getattr(a(rows), change)()
        return self._constant(node)

    def _constant(self, node: Any) -> _Value:
        from sqlglot import exp

        from neardup.files.cells import Cells

        sign, kind = 1, type(node)
        if kind is exp.Neg:
            sign, node, kind = -1, node.this, type(node.this)
        value: str | float | bool | None
        if kind is exp.Literal and not node.is_string and _LITERAL.fullmatch(node.this):
            value = sign * (int(node.this) if node.this.isdecimal() else float(node.this))
        elif sign > 0 and (_is_text(node) or kind is exp.Boolean):
            value = node.this
        elif sign > 0 and kind is exp.Null:
            value = None
        else:
            raise self._unknown(node)
        constant = Cells.of_value(value)
        return lambda _: constant

    def _name_of(self, node: Any) -> str | None:
        """Return the name of a column, or the path into one, that a part is; None if it is none."""
        from sqlglot import exp

        kind = type(node)
        if kind is exp.Column and all(type(part) is exp.Identifier for part in node.parts):
            return ".".join(part.name for part in node.parts)
        if kind is exp.Dot and type(node.expression) is exp.Identifier:
            head = self._name_of(node.this)
            return None if head is None else f"{head}.{node.expression.name}"
        if kind is exp.Bracket and len(node.expressions) == 1:
            head, step = self._name_of(node.this), node.expressions[0]
            if type(step) is exp.Literal and not step.is_string and step.this.isdecimal():
                return None if head is None else f"{head}[{step.this}]"
        return None

    def _unknown(self, node: Any) -> InvalidParameterError:
        return _refused(f"{node.sql()!r} is none of {_KNOWN}", self._text)


def _is_text(node: Any) -> bool:
    from sqlglot import exp

    return type(node) is exp.Literal and node.is_string


def _compare(operator: Callable[[Any, Any], Any], a: Cells, b: Cells) -> Any:
    """Compare values row by row: texts with texts, else numbers, else truth values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = operator(a.texts, b.texts)
    # Of constants it costs nothing to know whether they are numbers.
    if all(each.numbers.floats.is_valid for each in (a, b) if isinstance(each.floats, pa.Scalar)):
        x, y = a.numbers, b.numbers
        numbers = pc.coalesce(operator(x.wholes, y.wholes), operator(x.floats, y.floats))
        found = pc.coalesce(found, numbers)
    truths = operator(a.as_truths.cast(pa.int8()), b.as_truths.cast(pa.int8()))
    return pc.coalesce(found, truths)


def _any_equal(a: Cells, values: Sequence[Cells]) -> Any:
    import pyarrow.compute as pc

    found = _compare(pc.equal, a, values[0])
    for value in values[1:]:
        found = pc.or_kleene(found, _compare(pc.equal, a, value))
    return found


# Sources of the rows that meet a condition.


class FilteredSource(WrappedSource):
    """The rows of a source that meet a condition, with the numbers that they have there.

    Parameters
    ----------
    inner
        The source of all rows.
    condition
        Which of them are there.
    """

    def __init__(self, inner: Source, condition: Condition) -> None:
        super().__init__(inner)
        self.condition = condition
        # Known once all have been read.
        self._n_others: int | None = None

    @property
    def files(self) -> Sequence[Source]:
        """The sources of single files that the other one reads."""
        return self.inner.files

    @property
    def n_filtered(self) -> int:
        """Rows that are not there; they are counted as the others are read."""
        if self._n_others is None:
            for _ in self.blocks():
                pass
        assert self._n_others is not None
        return self._n_others

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many rows are not there."""
        return self._n_others is not None

    def count_filtered(self, number: int) -> None:
        """Take note of how many rows are not there, which another process has counted."""
        self._n_others = number

    def blocks(self) -> Iterator[RowBlock]:
        """Read the source from its start; blocks of which nothing is there are left out.

        Idle threads of a map decide on rows.
        """
        n_others = 0
        decided = map_ordered(lambda each: (each, self._chosen(each)), self.inner.blocks(), 1)
        for block, found in decided:
            n_others += len(block) - len(found)
            if len(found):
                yield found
        self._n_others = n_others

    def _chosen(self, block: RowBlock) -> RowBlock:
        rows = self.condition.of(self.inner, block)
        return block if rows.all() else SomeRows(block, rows)

    def block_at(self, place: Place, numbers: Int64s, take: TakeMemory) -> RowBlock:
        """Read rows again from a place that a block has named."""
        return self.inner.block_at(place, numbers, take)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of rows of the source."""
        return _Writer(self.inner.writer(folder))

    def json_lines_writer(self, output: OutputStream) -> RowWriter | None:
        """Open a writer of rows as JSON lines, if the source is of JSON."""
        writer = self.inner.json_lines_writer(output)
        return None if writer is None else _Writer(writer)


class _Writer(RowWriter):
    """Hands rows to a writer of the source that they are of."""

    def __init__(self, writer: RowWriter) -> None:
        self._writer = writer

    def prepare(self, block: RowBlock, select: Mask) -> Any:
        """Return what the writer makes of the selected rows."""
        if isinstance(block, SomeRows):
            return self._writer.prepare(block.block, block.of_all(select))
        return self._writer.prepare(block, select)

    def append(self, prepared: Any) -> None:
        """Append what the writer has made."""
        self._writer.append(prepared)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()


def rows_where(sources: Inputs, where: str | None) -> Inputs:
    """Return the rows of some sources that meet a condition; None is met by all.

    Raises
    ------
    InvalidParameterError
        If it is no condition.
    InvalidInputError
        If it names a column that is not there.
    """
    if where is None:
        return sources
    condition = Condition(where)
    there = columns_there(sources, condition.columns) if condition.columns else ()
    lacking = next((name for name in condition.columns if name not in there), None)
    if lacking is not None:
        names = {name: None for source in sources for name in source.listed_names()}
        # Without any row, nothing is known of columns, and nothing is to be filtered.
        if names:
            raise InvalidInputError(
                _no_column(lacking, list(names), condition.text) + where_to_have(sources)
            )
    return sources.changed(lambda source: FilteredSource(source, condition))


def describe_filtered(*collections: Sequence[Source]) -> Filtered:
    """Return for a summary the condition, and how many rows do not meet it; nothing without one."""
    found = [each for part in collections for each in part if isinstance(each, FilteredSource)]
    if not found:
        return {}
    n_rows = sum(source.n_filtered for source in found)
    return {"where": found[0].condition.text, "filtered_rows": n_rows}
