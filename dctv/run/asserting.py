"""Run ASSERT and EXPECT: return a verdict on a condition or a select, with the values or rows of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.contracts.first_rows import FirstRows
from dctv.errors import BindError, DctvError, Interrupted, Place
from dctv.record import record, replace
from dctv.run.context import ExecutionContext
from dctv.run.plans import ExpressionValue, evaluated, result_of
from dctv.run.result import Asserted
from dctv.syntax import ast, commands
from dctv.syntax.print import to_sql
from dctv.syntax.write.writer import string
from dctv.types.amounts import amount
from dctv.types.values import dialect_type

_SHOWN = 5
"""Rows of a select that are shown."""
_COUNTED = 1_000
"""Rows that are counted at most."""
_LONGEST = 100
"""Characters of a text, or of a comparison, that are shown."""
_MIRRORED: dict[str, ast.BinaryOp] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS = {"=", "!=", "<=>", "<!=>", *_MIRRORED}
_WORDS = {"=": "", "<=>": "", "!=": "not ", "<!=>": "not "}
_NEITHER = "the condition is neither true nor false: a value that it needs is missing"
_LITERALS = (ast.Number, ast.String, ast.Constant, ast.Interval, ast.Bind)


def checked(statement: ast.Assert, context: ExecutionContext, env: Environment) -> Asserted:
    """Run ASSERT; a select must return no rows, a condition must be true.

    Raises:
        BindError: the expression is not a condition.
    """
    message, text = _message(statement, context, env), to_sql(statement.expr)
    if isinstance(statement.expr, ast.ScalarSelect):
        rows = _rows(statement.expr.select, statement.place, context, env)
        return Asserted(text, not rows, message, "the select returned rows", statement.place, rows)
    value = _condition_value(statement.expr, "ASSERT", context, env)
    found = "" if value else "\n".join(_findings(statement.expr, context, env))
    return Asserted(text, value is True, message, _verdict(text, value), statement.place, found)


def expected(statement: commands.Expect, context: ExecutionContext, env: Environment) -> Asserted:
    """Run EXPECT: a condition must be true; a failure by NULL is reported as such.

    Raises:
        BindError: the expression is not a condition.
    """
    message, text = _message(statement, context, env), to_sql(statement.expr)
    value = _condition_value(statement.expr, "EXPECT", context, env)
    found = [] if value else list(_findings(statement.expr, context, env))
    if value is None:
        found.insert(0, _NEITHER)
    return Asserted(
        text, value is True, message, _verdict(text, value), statement.place, "\n".join(found), "expectation"
    )


def _verdict(text: str, value: object) -> str:
    return f"`{text}` is {'NULL' if value is None else 'false'}"


def _message(statement: ast.Assert | commands.Expect, context: ExecutionContext, env: Environment) -> str:
    return "" if statement.message is None else str(evaluated([statement.message], context, env)[0].value)


def _condition_value(condition: ast.Expr, word: str, context: ExecutionContext, env: Environment) -> bool | None:
    """Return the value of a condition; raise BindError for an expression of another type."""
    one = evaluated([condition], context, env)[0]
    if one.value is None or isinstance(one.value, bool):
        return one.value
    raise BindError(f"{word} takes a condition, found {dialect_type(one.column.type)}", condition.place)


def _rows(select: ast.Select, place: Place | None, context: ExecutionContext, env: Environment) -> str:
    """Return the first rows of a select as a table, or nothing if there are none."""
    most = _COUNTED + 1
    if select.limit is None and select.offset is None:
        select = replace(select, limit=ast.Number(str(most), place=place))
    result = result_of(Binder(env).plan(select), context)
    # A LIMIT of the select itself may be a large one.
    rows = list(islice((row for chunk in result.chunks() for row in zip(*chunk, strict=True)), most))
    if not rows:
        return ""
    values = [list(column) for column in zip(*rows[:_SHOWN], strict=True)]
    first = FirstRows(result.schema, values, min(len(rows), _COUNTED), complete=len(rows) < most)
    return context.registries.showing.text(first)


@record
class _Comparison:
    """A comparison within a condition: an actual value with expected ones."""

    whole: ast.Expr
    found: ast.Expr
    expected: Sequence[ast.Expr]
    words: str
    """The text before the expected values, or around them, with `{}` as the placeholder of a value."""


def _findings(condition: ast.Expr, context: ExecutionContext, env: Environment) -> Iterator[str]:
    """Yield the actual and the expected value of each failed comparison."""
    comparisons = list(_comparisons(condition))
    logged = dict(context.log.entries)
    for one in comparisons:
        try:
            holds, found, *expected = evaluated([one.whole, one.found, *one.expected], context, env)
        except Interrupted:
            raise
        except DctvError:
            continue  # Not all that can be compared can be the column of a result.
        if holds.value is not True:
            where = "" if len(comparisons) == 1 else f"{_cut(to_sql(one.whole))}: "
            yield f"{where}found {_written(found)}, expected {one.words.format(*map(_written, expected))}"
    # The second computation must not warn again.
    context.log.entries.clear()
    context.log.entries.update(logged)


def _comparisons(condition: ast.Expr) -> Iterator[_Comparison]:
    match condition:
        case ast.Logical(operands=operands):
            for one in operands:
                yield from _comparisons(one)
        case ast.Binary(op=op, left=left, right=right) if op in _COMPARISONS:
            if isinstance(left, _LITERALS) and not isinstance(right, _LITERALS):
                left, right, op = right, left, _MIRRORED.get(op, op)
            yield _Comparison(condition, left, [right], _WORDS.get(op, f"{op} ") + "{}")
        case ast.Between(operand=operand, low=low, high=high, negated=negated):
            yield _Comparison(condition, operand, [low, high], f"{'not ' if negated else ''}between {{}} and {{}}")
        case ast.InList(operand=operand, items=items, negated=negated):
            listed = ", ".join(["{}"] * len(items))
            yield _Comparison(condition, operand, items, f"{'none' if negated else 'one'} of {listed}")
        case ast.Like(op=op, operand=operand, pattern=pattern, negated=negated):
            yield _Comparison(condition, operand, [pattern], f"{'NOT ' if negated else ''}{op} {{}}")


def _written(one: ExpressionValue) -> str:
    match one.value:
        case None:
            return "NULL"
        case bool() as value:
            return "true" if value else "false"
        case int() | float() | Decimal() as value:
            return amount(value, one.column.unit)
        case str() as value:
            return string(_cut(value))
        case value:
            return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
