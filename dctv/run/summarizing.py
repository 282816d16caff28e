"""Run SUMMARIZE: one select of aggregates over a table, whose only row becomes a row for each column."""

from __future__ import annotations

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.run.context import ExecutionContext
from dctv.run.plans import result_of, rows_of
from dctv.run.result import Result
from dctv.syntax import ast
from dctv.types.schema import ColumnType
from dctv.types.values import dialect_type, is_numeric

_NESTED = ("[", "STRUCT", "TUPLE", "MAP", "UNION")
_SHARES = {"q25": "0.25", "q50": "0.5", "q75": "0.75"}
_COLUMNS = {
    **dict.fromkeys(("column", "type", "unit", "min", "max"), "VARCHAR"),
    "approx_unique": "BIGINT",
    **dict.fromkeys(("avg", "std", *_SHARES), "DOUBLE"),
    "count": "BIGINT",
    "null_percentage": "DOUBLE",
}


def summarize(statement: ast.Summarize, context: ExecutionContext, env: Environment) -> Result:
    """Summarize the values of each column, in one pass."""
    subject, place = statement.subject, statement.place
    table: ast.Table = (
        ast.TableSelect(subject, place=place)
        if isinstance(subject, ast.Select)
        else ast.TableName(subject, place=subject.place)
    )
    columns = Binder(env).table(table).schema.columns
    per_column = [(column, _aggregates(column)) for column in columns]
    items = [ast.ResultColumn(expr) for _, aggregates in per_column for expr in aggregates.values()]
    core = ast.Core((ast.ResultColumn(_call("count", ast.Star())), *items), source=table, place=place)
    total, *values = result_of(Binder(env).plan(ast.Select(core, place=place)), context).fetchall()[0]
    rows = []
    for column, aggregates in per_column:
        found = dict(zip(aggregates, values[: len(aggregates)], strict=True))
        values = values[len(aggregates) :]
        missing = total - found.setdefault("count", 0)
        found |= {
            "column": column.name,
            "type": dialect_type(column.type),
            "unit": str(column.unit) or None,
            "count": total,
            "null_percentage": round(100 * missing / total, 2) if total else None,
        }
        rows.append([found.get(name) for name in _COLUMNS])
    return rows_of(_COLUMNS, rows, context)


def _aggregates(column: ColumnType) -> dict[str, ast.Expr]:
    """Return the aggregates of a column without its unit, which all of them share."""
    if column.type == '"NULL"':
        return {}
    value = _call("unitless", ast.Column(ast.Path((ast.Name(column.name),))))
    aggregates = {"count": _call("count", value)}
    if any(part in column.type for part in _NESTED):
        return aggregates
    text = ast.TypeName("STRING")
    aggregates |= {name: ast.Cast(_call(name, value), text) for name in ("min", "max")}
    aggregates["approx_unique"] = _call("approx_count_distinct", value)
    if is_numeric(column.type):
        number = ast.Cast(value, ast.TypeName("FLOAT64"))
        aggregates |= {"avg": _call("avg", number), "std": _call("stddev", number)}
        aggregates |= {name: _call("quantile_cont", number, ast.Number(share)) for name, share in _SHARES.items()}
    return aggregates


def _call(name: str, *arguments: ast.Expr) -> ast.Expr:
    return ast.Call(ast.Path.of(name), arguments)
