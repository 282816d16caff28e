"""Runs statements one after another: binds selects, and changes the namespace for the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlglot import exp

from dctv.bind import expressions
from dctv.bind.binder import Binder
from dctv.bind.context import Environment, Leaves
from dctv.bind.scope import Scope
from dctv.catalog.mount import HIDDEN, Mount
from dctv.catalog.namespace import Catalog, Entry, Part, StoredTable, View
from dctv.contracts.engine import Engine
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.states import Computed, States
from dctv.contracts.table_function import REQUIRED, Argument, TableFunction
from dctv.errors import BindError, DctvError, UsageError, WarningLog, nearest
from dctv.plan.explain import explain
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.rows import of_rows
from dctv.plan.source import Run, Source
from dctv.record import field, record, replace
from dctv.rewrite.graph import readers_first
from dctv.rewrite.rewrite import rewrite
from dctv.rewrite.settings import CHOICES, Settings
from dctv.run import state_systems
from dctv.run.histories import Report
from dctv.run.metering import Metering, measured
from dctv.run.regions import cut
from dctv.run.result import Asserted, Control, Done, Outcome, Result
from dctv.run.sharing import Sharing, merged, sharing
from dctv.run.stream import Runner, in_final_order
from dctv.syntax import ast
from dctv.syntax.print import to_sql
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.values import dialect_type

_ELSEWHERE = {"temp_directory": "--temp-directory, or Session(temp_directory=...), says where rows are spilled to"}
"""What is chosen by whoever opens the session, and not by a text."""


@record
class Shelves:
    """What functions there are, as the session found them."""

    rules: Mapping[str, FunctionRule]
    operators: Mapping[str, SpanOperator]


@record(frozen=False)
class Hooks:
    """What execution asks the session for."""

    mount: Callable[[ast.MountTrace], str]
    unmount: Callable[[tuple[str, ...]], None]
    new_cancel: Callable[[], object]
    mounts: Mapping[tuple[str, ...], Mount]
    report: Report
    base: Callable[[], Path | None]
    """Where relative paths of the text start from."""
    deep: Callable[[], AbstractContextManager[None]]
    """Lets long texts be bound."""
    control: Control


@record(frozen=False)
class Executor:
    """Runs statements against a catalog and an engine."""

    catalog: Catalog
    engine: Engine
    shelves: Shelves
    hooks: Hooks
    settings: Settings
    params: Mapping[int | str, object] = field(default_factory=dict)
    log: WarningLog = field(default_factory=WarningLog)

    def environment(self) -> Environment:
        """Return what a statement is bound against."""
        shelves = self.shelves
        return Environment(
            self.catalog,
            self.engine,
            shelves.rules,
            shelves.operators,
            self.params,
            self.log,
            self._evaluate,
            self.hooks.base(),
        )

    def _evaluate(self, plan: Plan) -> list[object]:
        return [row[0] for row in self.result(plan).fetchall()]

    def run(self, statement: ast.Statement) -> Outcome:
        """Run one statement."""
        try:
            return self._run(statement)
        except RecursionError:
            raise BindError("the statement is nested too deeply", statement.place) from None

    def _run(self, statement: ast.Statement) -> Outcome:
        match statement:
            case ast.SelectStatement():
                return self.result(self.bind(statement.select))
            case ast.Explain():
                return self._explain(statement)
            case ast.Assert():
                return self._assert(statement)
            case ast.Describe() | ast.ShowTables():
                return self._describe(statement.path) if isinstance(statement, ast.Describe) else self._show(statement)
            case _:
                return self._change(statement)

    def _change(self, statement: ast.Change) -> Done:
        match statement:
            case ast.CreateStateSystem() | ast.DropStateSystem():
                return state_systems.change(statement, self.means())
            case ast.Set():
                return self._set(statement)
            case ast.MountTrace():
                return Done(self.hooks.mount(statement))
            case ast.CreateView():
                return self._create_view(statement)
            case ast.DropView():
                return self._drop_view(statement)
            case ast.DropAll():
                parts = tuple(p.text for p in statement.path.parts)
                if parts[0].lower() == "dctv":
                    raise BindError("`dctv` holds dctv's own functions and cannot be dropped", statement.path.place)
                if not self.catalog.drop_space(parts):
                    raise self.catalog.unknown(statement.path, "namespace")
                self.hooks.unmount(parts)
                return Done(f"dropped {statement.path.text}")

    def bind(self, select: ast.Select) -> Plan:
        """Bind a select of this session."""
        return Binder(self.environment()).plan(select)

    def faults(self, statements: Sequence[ast.Statement]) -> Iterator[DctvError]:
        """Yield what is wrong with the selects of statements; after one that changes names, nobody can tell."""
        for statement in statements:
            match statement:
                case ast.SelectStatement(select=select) | ast.CreateView(select=select):
                    try:
                        self.bind(select)
                    except DctvError as error:
                        yield error
            if not isinstance(statement, ast.SelectStatement):
                return

    def called(self, function: TableFunction, table: Plan, **given: object) -> Plan:
        """Call a table-valued function on a table from Python, with strings and lists of them as arguments."""
        arguments = {p.name: Argument(None if p.default is REQUIRED else p.default, None) for p in function.parameters}
        arguments["table"] = Argument(table, None)
        for name, value in given.items():
            items = [Argument(v, None) for v in value] if isinstance(value, list) else value
            arguments[name] = Argument(items, None)
        return function.bind(arguments, Binder(self.environment()))

    def result(self, plan: Plan) -> Result:
        """Return the result of a plan; nothing runs until it is read."""
        return self._running(_whole(self._rewritten(plan)))

    def _running(self, plan: Plan, metering: Metering | None = None) -> Result:
        cancel: Any = self.hooks.new_cancel()
        sources = tuple(_sources(plan))
        run = Run(sources, self.engine.spill_folder())
        runner = Runner(self.engine, cancel, self._sharing(plan), run, metering)
        control = self.hooks.control
        begun = threading.Event()
        """Not where an interrupt came first: others that are being read would be taken for ended."""

        def finish() -> None:
            runner.finish()
            runner.warn(self.log)
            if begun.is_set():
                control.finish()

        def begin() -> None:
            control.begin()
            begun.set()
            for source in sources:
                if isinstance(source, States | Computed):
                    source.prepare(runner.run)

        own = replace(control, begin=begin, finish=finish)
        return Result(plan.schema, runner.stream(plan), self.log, own, run.spill_folder)

    def _sharing(self, plan: Plan) -> Sharing:
        return sharing(plan, self.engine.functions)

    def _rewritten(self, plan: Plan) -> Plan:
        return merged(in_final_order(rewrite(plan, self.settings, self.shelves.operators)))

    def rows(self, names: Mapping[str, str], rows: list[list[Any]]) -> Result:
        """Return a result of rows that are known already; columns by name with their types."""
        schema = Schema(Kind.REGULAR, tuple(ColumnType(n, t) for n, t in names.items()))
        return self.result(of_rows(schema, rows))

    def _explain(self, statement: ast.Explain) -> Result:
        plan = self._rewritten(self.bind(statement.select))
        shared = self._sharing(plan)

        def sql(relation: Relation) -> tuple[str, list[Plan], list[str]]:
            region = cut(relation, shared)
            return region.sql, [*region.sources.values(), *region.stored], region.pushed

        metering = Metering()
        total = measured(self._running(plan, metering)) if statement.analyze else []
        lines = explain(plan, sql, lambda node: node in shared, metering.lines) + total
        return self.rows({"plan": "VARCHAR"}, [[line] for line in lines])

    def _assert(self, statement: ast.Assert) -> Asserted:
        message = "" if statement.message is None else str(self._value(statement.message))
        text = to_sql(statement.expr)
        if isinstance(statement.expr, ast.ScalarSelect):
            limited = ast.Select(statement.expr.select, limit=ast.Number("1"), place=statement.place)
            rows = self.result(self.bind(limited)).fetchall()
            return Asserted(text, not rows, message or "the select returned rows", statement.place)
        value = self._value(statement.expr)
        if value is not None and not isinstance(value, bool):
            raise BindError("ASSERT takes a condition", statement.expr.place)
        verdict = "NULL" if value is None else "false"
        return Asserted(text, value is True, message or f"`{text}` is {verdict}", statement.place)

    def _value(self, expr: ast.Expr) -> object:
        core = ast.Core((ast.ResultColumn(expr, place=expr.place),), place=expr.place)
        return self.result(self.bind(ast.Select(core, place=expr.place))).fetchall()[0][0]

    def _create_view(self, statement: ast.CreateView) -> Done:
        parts = tuple(p.text for p in statement.path.parts)
        found = self.catalog.find(parts)
        if parts[0].lower() == "dctv":
            raise BindError("the name `dctv` belongs to dctv's own functions", statement.path.place)
        if found is not None and not (statement.replace and isinstance(found[0], View)):
            what = "a view" if isinstance(found[0], View) else "a table of a trace"
            hint = "CREATE OR REPLACE VIEW replaces it" if isinstance(found[0], View) else None
            raise BindError(f"`{statement.path.text}` is {what} already", statement.path.place, hint=hint)
        plan = self.bind(statement.select)
        Binder(self.environment()).renamed(plan, statement.columns, statement.path.parts[-1])
        select = statement.select
        self.catalog.add(found[1] if found else parts, View(lambda: select, statement.columns))
        return Done(f"created view {statement.path.text}")

    def means(self) -> state_systems.Means:
        """Return what state systems are made with."""
        hooks = self.hooks
        return state_systems.Means(
            self.catalog,
            hooks.mounts,
            lambda: Binder(self.environment()),
            self.result,
            hooks.report,
            self.log.add,
            hooks.deep,
            self.engine.spill_folder(),
        )

    def _drop_view(self, statement: ast.DropView) -> Done:
        found = self.catalog.find(tuple(p.text for p in statement.path.parts))
        if found is None:
            if statement.if_exists:
                return Done(f"there is no view {statement.path.text}")
            raise self.catalog.unknown(statement.path, "view")
        if not isinstance(found[0], View):
            hint = None if found[1][0] == "dctv" else "DROP ALL unmounts a whole trace"
            raise BindError(f"`{statement.path.text}` is not a view", statement.path.place, hint=hint)
        self.catalog.drop(found[1])
        return Done(f"dropped view {statement.path.text}")

    def _set(self, statement: ast.Set) -> Done:
        name = statement.path.text.lower()
        context = Binder(self.environment()).context(Scope([]), Leaves(), clause="SET", aggregates_allowed=False)
        bound = expressions.bind(statement.value, context)
        value: object = self._value(statement.value)
        if str(bound.unit):
            value = f"{value}{bound.unit}"
        try:
            self._configure(name, value)
        except DctvError as error:
            raise BindError(error.message, statement.path.place, hint=error.hint) from None
        return Done(f"set {name}")

    def _configure(self, name: str, value: object) -> None:
        known = [*CHOICES, *self.engine.settings()]
        if name not in known:
            near = nearest(name, known)
            hint = _ELSEWHERE.get(name) or (f"did you mean `{near}`?" if near else f"settings: {', '.join(known)}")
            raise UsageError(f"unknown setting `{name}`", hint=hint)
        if name not in CHOICES:
            self.engine.configure(name, value)
            return
        if value not in CHOICES[name]:
            near = nearest(str(value), list(CHOICES[name]))
            listed = " or ".join(f"'{c}'" for c in CHOICES[name])
            raise UsageError(f"`{name}` is {listed}, found `{value}`", hint=f"did you mean '{near}'?" if near else None)
        setattr(self.settings, name, value)

    def _describe(self, path: ast.Path) -> Result:
        found = self.catalog.find(tuple(p.text for p in path.parts))
        if found is None:
            raise self.catalog.unknown(path, "table")
        names = {"column": "VARCHAR", "type": "VARCHAR", "unit": "VARCHAR", "role": "VARCHAR"}
        if isinstance(found[0], TableFunction):
            shown = [[p.name, None, None, p.doc] for p in found[0].parameters]
            return self.rows(names, shown)
        schema = Binder(self.environment()).table(ast.TableName(path, place=path.place)).schema
        return self.rows(
            names, [[c.name, dialect_type(c.type), str(c.unit) or None, role(schema, c.name)] for c in schema.columns]
        )

    def _show(self, statement: ast.ShowTables) -> Result:
        path = statement.path
        prefix = () if path is None else tuple(p.text for p in path.parts)
        if path is not None and self.catalog.space(prefix) is None:
            raise self.catalog.unknown(path, "namespace")
        rows = [[name, kind, doc] for name, kind, doc in self.listing(".".join(prefix))]
        return self.rows({"name": "VARCHAR", "kind": "VARCHAR", "description": "VARCHAR"}, rows)

    def listing(self, prefix: str) -> Iterator[tuple[str, str, str]]:
        """Yield name, kind and documentation of every public thing below a prefix."""
        space = self.catalog.space(tuple(prefix.split(".")) if prefix else ())
        if space is None:
            return
        entries = sorted(space.walk(f"{prefix}." if prefix else ""))
        for name, entry in entries:
            if HIDDEN.isdisjoint(name.split(".")):
                yield name, self._kind(entry), getattr(entry, "doc", "")

    def _kind(self, entry: Entry) -> str:
        match entry:
            case TableFunction():
                return "function"
            case StoredTable():
                return entry.plan().schema.kind.value
            case View() | Part():
                return "view"


def role(schema: Schema, name: str) -> str:
    """Return what a column is to its table: time, partition or payload."""
    if name in schema.kind.time_columns:
        return "time"
    return "partition" if name in schema.partitions else "payload"


def _sources(plan: Plan) -> Iterator[Source]:
    """Yield where the stored tables of a plan are."""
    return (node.source for node in readers_first(plan) if isinstance(node, Scan))


def _whole(plan: Plan) -> Plan:
    """Let the engine run plans of kernels and stored tables too, so that results have its types."""
    if isinstance(plan, Relation):
        return plan
    tree = exp.Select(expressions=[exp.Star()]).from_(exp.Table(this=exp.to_identifier("whole", quoted=True)))
    return Relation(plan.schema, ordered=plan.ordered, query=tree, leaves=(("whole", plan),), keeps_order=True)
