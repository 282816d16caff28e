"""Bind calls and operators over tables of a fleet to plans that each trace runs alone, as if it were the only one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from dctv.bind.context import Environment
from dctv.bind.trace_order import in_order_of_trace
from dctv.contracts.table_function import Argument, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.expressions import Cast, Column
from dctv.plan.fewer_columns import schema_without, without
from dctv.plan.fleets import FleetSource, PerTracePlan
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.plan.queries import Select, TableName
from dctv.record import record, replace
from dctv.syntax import ast


class _Builder(PlanBuilder, Protocol):
    """A binder, as table-valued functions see it."""

    env: Environment


@record
class _Table:
    """A table of a fleet that is an argument."""

    argument: Argument
    plan: Plan
    source: FleetSource
    known: PerTracePlan | None
    """None if its rows are not those of each trace."""

    @property
    def tells(self) -> bool:
        """Whether each trace has its own rows, and a column says which trace that is."""
        return self.known is not None and self.source.trace_column in self.known.traces


def called(binder: _Builder, function: TableFunction, node: ast.TableCall, arguments: Mapping[str, Argument]) -> Plan:
    """Bind a call; if it is given tables of a fleet, it runs in each trace by itself, as if that were the only one.

    Raises:
        BindError: rows of several traces would be taken for those of one.
    """
    if binder.env.per_trace is None or not function.each_trace:
        return function.bind(arguments, binder)
    plans = [one for one in _each(arguments.values()) if isinstance(one.value, Plan)]
    tables = [_table(binder, one) for one in plans if _traces_of(one.value) is not None and not _is_value(one)]
    if not tables:
        return function.bind(arguments, binder)
    trace = tables[0].source.trace_column
    others = [one for one in plans if _traces_of(one.value) is None and not _is_value(one)]
    if (
        all(one.tells for one in tables)
        and len({id(one.source.fleet) for one in tables}) == 1
        and all(is_constant(one.value) and trace not in one.value.schema.names for one in others)
    ):
        rows = _in_each(binder, function, node, arguments, tables)
        if rows is not None:
            return rows
    made = function.bind(arguments, binder)
    for one in tables:
        _check(one, made, node, apart=function.by_partition)
    return made


def _in_each(
    binder: _Builder,
    function: TableFunction,
    node: ast.TableCall,
    arguments: Mapping[str, Argument],
    tables: list[_Table],
) -> Plan | None:
    """Return the rows that a call has in each trace; None if it takes other tables, too."""
    named = {one.value.lower() for one in _each(arguments.values()) if isinstance(one.value, str)}
    fixed = {name for one in tables for name in _fixed(one)}
    left_out = {name for name in fixed if name.lower() not in named}
    by_plan = {id(one.plan): _in_trace(one.plan, left_out & _fixed(one)) for one in tables}
    given = {name: _changed(one, by_plan) for name, one in arguments.items()}
    rows = function.bind(given, binder)
    own = {id(one) for table in by_plan.values() for one in _plans(table)}
    if any(isinstance(one, Scan) and id(one) not in own for one in _plans(rows)):
        # What was to be a value is a table.
        return None
    return _computed(node.path.text, rows, fixed, [one.known for one in tables if one.known is not None])


def in_each_trace(
    env: Environment, name: str, plans: Sequence[Plan], make: Callable[[Sequence[Plan]], Plan]
) -> Plan | None:
    """Return what is made of timed tables of a fleet in each trace; None if they are not partitioned by trace.

    `make` gets them without the column of the trace.
    """
    if env.per_trace is None:
        return None
    found = [one for plan in plans if (one := env.per_trace(plan)) is not None]
    if len(found) < len(plans) or len({id(one.source.fleet) for one in found}) > 1:
        return None
    trace = found[0].source.trace_column
    if not all(trace in one.traces and trace in plan.schema.partitions for one, plan in zip(found, plans, strict=True)):
        return None
    return _computed(name, make([_in_trace(one, {trace}) for one in plans]), (), found)


def _computed(name: str, rows: Plan, shown: Collection[str], known: Sequence[PerTracePlan]) -> Plan:
    """Return the rows that a plan has in each trace, but for those that none of the tables has rows of."""
    first, *others = known
    tests = [one for one in first.tests if all(one in other.tests for other in others)]
    made: Plan = first.source.computed(name, rows, shown, tests)
    return made


def _check(table: _Table, made: Plan, node: ast.TableCall, *, apart: bool) -> None:
    """Refuse a table whose rows of several traces a function would take for those of one.

    `apart` if it keeps partitions apart.
    """
    trace, plan = table.source.trace_column, table.plan
    apart = apart and trace in plan.schema.partitions and trace in made.schema.partitions
    if apart or (table.known is None and trace not in plan.schema.names):
        return
    name = node.path.text
    if trace in plan.schema.names:
        raise BindError(
            f"`{name}` takes the rows of each trace by themselves, but these are computed over all traces",
            table.argument.place,
            hint=f"compute them for each trace: joins, groups and windows by `{trace}`, without LIMIT or subqueries",
        )
    raise BindError(
        f"`{name}` would mix up the rows of several traces: the table has no column `{trace}`",
        table.argument.place,
        hint=f"select `{trace}`, too, or aggregate the rows of all traces first",
    )


def _table(binder: _Builder, argument: Argument) -> _Table:
    source = _traces_of(argument.value)
    assert source is not None
    assert binder.env.per_trace is not None
    return _Table(argument, argument.value, source, binder.env.per_trace(argument.value))


def _fixed(table: _Table) -> set[str]:
    """Return the columns of a table that are the same in all rows of a trace, and have their own names."""
    assert table.known is not None
    return {name for name, one in table.known.fixed.items() if name == one}


def _in_trace(plan: Plan, names: Collection[str]) -> Plan:
    """Return a plan without some of its columns, for one trace."""
    rows = _rows_of(plan)
    if rows is not None and rows.schema == schema_without(plan.schema, names):
        return rows
    return without(in_order_of_trace(plan), names)


def _rows_of(plan: Plan) -> Plan | None:
    """Return the rows that a computed table has in one trace, if a plan is nothing but that table, sorted or not."""
    while isinstance(plan, Relation) and len(plan.leaves) == 1 and _is_whole(plan.query):
        ((_, plan),) = plan.leaves
    rows: Plan | None = plan.source.rows if isinstance(plan, Scan) and isinstance(plan.source, FleetSource) else None
    return rows


def _is_whole(query: Query) -> bool:
    """Whether a query only sorts rows, and casts columns to the types that they had."""
    if not isinstance(query, Select) or not isinstance(query.source, TableName):
        return False
    values = [(one.value.operand if isinstance(one.value, Cast) else one.value, one.output) for one in query.items]
    return all(isinstance(value, Column) and value.name == name for value, name in values) and replace(
        query, order_by=()
    ) == Select(query.items, query.source)


def _is_value(argument: Argument) -> bool:
    """Whether a subquery stands for a value, not for a table: it may be about all traces."""
    return argument.scalar is not None and len(argument.value.schema.columns) == 1


def _each(arguments: Collection[Argument]) -> Iterator[Argument]:
    """Yield arguments, and those in lists and dicts."""
    for one in arguments:
        inside = one.value.values() if isinstance(one.value, dict) else one.value if isinstance(one.value, list) else ()
        yield one
        yield from _each(inside)


def _changed(argument: Argument, plans: Mapping[int, Plan]) -> Argument:
    """Return an argument with other plans."""
    match argument.value:
        case list():
            return replace(argument, value=[_changed(one, plans) for one in argument.value])
        case dict():
            return replace(argument, value={name: _changed(one, plans) for name, one in argument.value.items()})
        case Plan():
            return replace(argument, value=plans.get(id(argument.value), argument.value))
        case _:
            return argument


def _plans(plan: Plan) -> Iterator[Plan]:
    seen: set[int] = set()
    stack = [plan]
    while stack:
        one = stack.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            match one:
                case Relation():
                    stack += [leaf for _, leaf in one.leaves]
                case Kernel():
                    stack += one.inputs
                case _:
                    pass


def is_constant(plan: Plan) -> bool:
    """Whether a plan reads no stored rows, so that it is the same in each trace."""
    return not _scans(plan)


def _scans(plan: Plan) -> list[Scan]:
    return [one for one in _plans(plan) if isinstance(one, Scan)]


def _traces_of(plan: Plan) -> FleetSource | None:
    """Return a table of a fleet that a plan reads."""
    return next((one.source for one in _scans(plan) if isinstance(one.source, FleetSource)), None)
