"""The binder: turns a select into a typed plan, against the names of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dctv.bind import arguments, engine_tables, macros, merging, per_trace
from dctv.bind.binding import LateralTable
from dctv.bind.context import BoundQuery, ClauseContext, Environment, Leaves
from dctv.bind.dependencies import Dependencies
from dctv.bind.library_parts import bind_part
from dctv.bind.library_views import BoundView, UnboundView, ViewReads
from dctv.bind.pivots import pivoted, unpivoted
from dctv.bind.recursion import common_name, reads_rounds, recurring, recursive_plan, recursive_query
from dctv.bind.relations import relation
from dctv.bind.samples import sampled
from dctv.bind.scope import Scope
from dctv.bind.selects import bind_select
from dctv.bind.span_selects import bind_typed
from dctv.bind.spans import bind_spans, is_join
from dctv.bind.spellings import fitting
from dctv.catalog.namespace import LibraryPart, Macro, NamedType, StoredTable, View, WallClock
from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError, WarningLog
from dctv.plan import build as w
from dctv.plan.expressions import Cast, Column, Expression
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.schema import Kind, Schema

_MAX_DEPTH = 100


class Binder:
    """A binder of selects; copies with other common tables or another home bind nested ones."""

    def __init__(self, env: Environment, home: tuple[str, ...] = ()) -> None:
        self.env = env
        self.home = home
        """Names are looked up below this prefix first: inside views of a mounted trace."""
        self.common: Mapping[str, Plan] = {}
        """Common tables by name."""
        self.recursive = False
        """Whether this binds the recursive part of a common table."""
        self.depth = 0
        """How many views deep this is."""
        self.replaced: View | None = None
        """The view that a statement replaces, and that its select therefore may not read."""
        self.dependencies: Dependencies | None = None
        """Counts what a view of the standard library reads."""
        self.within = False
        """Whether this binds a view of the standard library."""
        self.common_dependencies: Mapping[str, Dependencies] = {}
        """What common tables read."""
        self.beside: Mapping[str, LateralTable] = {}
        """Common tables that read columns of a query around them, by name."""
        self.away: frozenset[str] = frozenset()
        """Names of such tables that cannot be read here."""

    def copy(self, **changes: Any) -> Binder:
        """Return a binder that differs in some attributes."""
        other = Binder(self.env, self.home)
        other.common, other.recursive, other.depth = self.common, self.recursive, self.depth
        other.dependencies, other.common_dependencies, other.within = (
            self.dependencies,
            self.common_dependencies,
            self.within,
        )
        other.beside, other.away, other.replaced = self.beside, self.away, self.replaced
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def context(
        self, scope: Scope, leaves: Leaves, *, clause: str = "the select list", aggregates_allowed: bool = True
    ) -> ClauseContext:
        """Return the context for expressions of one clause."""
        allowed, proven = aggregates_allowed, bool(self.home)
        return ClauseContext(self.env, scope, leaves, self, clause=clause, aggregates_allowed=allowed, proven=proven)

    def plan(self, select: ast.Select) -> Plan:
        """Bind a select that stands by itself."""
        binder = self.by_itself().with_common_tables(select)
        select = replace(select, ctes=(), recursive=False)
        body = select.body
        if isinstance(body, ast.Select) and not (select.order_by or select.limit or select.offset):
            return binder.plan(body)
        if isinstance(body, ast.Core) and body.kind != "REGULAR":
            return bind_typed(binder, body, select)
        leaves = Leaves()
        query, keeps = bind_select(binder, select, None, leaves)
        return relation(query, leaves, self.env, select.place, RowOrder.STABLE if keeps else RowOrder.ANY)

    def by_itself(self) -> Binder:
        """Return a binder for a query that reads no lateral common table."""
        return self.copy(beside={}, away=self.away.union(self.beside)) if self.beside else self

    def inline(self, select: ast.Select, parent: Scope, leaves: Leaves) -> BoundQuery:
        """Bind a subquery in place: it may name columns of the select around it."""
        return bind_select(self, select, parent, leaves)[0]

    def is_typed(self, body: ast.Body) -> bool:
        """Whether a select makes a span or event table."""
        if isinstance(body, ast.Select):
            return self.is_typed(body.body)
        return isinstance(body, ast.Core) and body.kind != "REGULAR"

    def with_common_tables(self, select: ast.Select, parent: Scope | None = None) -> Binder:
        """Return a binder that knows the common tables of a select, each of which knows those before it."""
        binder = self
        for cte in select.ctes:
            if not select.recursive:
                self._check_not_recursive(cte, binder.common)
            name, dependencies = cte.name.text, Dependencies()
            inner: Binder = binder.copy(dependencies=dependencies)
            itself = select.recursive and (_names_itself(cte, binder.common) or bool(cte.keys))
            if cte.keys and not itself:
                raise BindError("USING KEY is for a recursive table: WITH RECURSIVE", cte.keys[0].place)
            if binder.recursive and reads_rounds(cte.select, binder.common):
                binder = binder.beside_others(cte, parent or Scope([]), recursive=itself)
                continue
            try:
                plan = recursive_plan(inner, cte) if itself else inner.plan(cte.select)
            except BindError:
                if parent is None and not binder.recursive:
                    raise
                binder = binder.beside_others(cte, parent or Scope([]), recursive=itself)
                continue
            plan = plan if itself else binder.renamed(plan, cte.columns, cte.name)
            others = {key: one for key, one in binder.beside.items() if key != name}
            tables = {**binder.common, name: plan}
            away = binder.away - {name}
            binder = binder.copy(
                common=tables,
                common_dependencies={**binder.common_dependencies, name: dependencies},
                beside=others,
                away=away,
            )
        return binder

    def beside_others(self, cte: ast.CommonTable, parent: Scope, *, recursive: bool) -> Binder:
        """Return a binder that knows a common table which reads columns of the query around it.

        Raises:
            BindError: it reads what that has not, either.
        """
        found = LateralTable(cte, self, parent, recursive)
        self.query_beside(found, Leaves())
        name = cte.name.text
        common = {key: one for key, one in self.common.items() if key != name}
        beside = {**self.beside, name: found}
        return self.copy(common=common, beside=beside, away=self.away - {name})

    def _check_not_recursive(self, cte: ast.CommonTable, known: Mapping[str, Plan]) -> None:
        name = cte.name.text
        exists = bool(fitting(known, name)) or self.env.catalog.find((name,), self.home) is not None
        if not exists and _names_itself(cte, known):
            raise BindError(
                f"the common table `{name}` reads itself",
                cte.name.place,
                hint="WITH RECURSIVE lets a table read itself",
            )

    def query_beside(self, found: LateralTable, leaves: Leaves) -> BoundQuery:
        """Bind the query of a common table that reads columns of the query around it."""
        if found.recursive:
            return recursive_query(self, found.table, found.parent, leaves)
        return self.inline(found.table.select, found.parent, leaves)

    def full_path(self, node: ast.Table) -> tuple[str, ...]:
        """Return the full name of a table that is named, and nothing for others."""
        if isinstance(node, ast.TableSample):
            return self.full_path(node.table)
        if isinstance(node, ast.TableName | ast.TableCall):
            return tuple(p.text for p in node.path.parts)
        return ()

    def table(self, node: ast.Table) -> Plan:
        """Bind a table; an alias with a column list renames its columns."""
        match node:
            case ast.TableName():
                plan = self._named(node.path)
            case ast.TableCall():
                plan = self._called(node)
            case ast.TableFile():
                plan = self.env.file_table(node, self.env)
            case ast.TableSelect():
                plan = self.plan(node.select)
            case ast.Pivot():
                plan = pivoted(self, node)
            case ast.Unpivot():
                plan = unpivoted(self, node)
            case ast.TableSample():
                return sampled(self.table(node.table), node.sample)
            case _ if is_join(node):
                plan = bind_spans(self, node, None).plan
            case _:
                raise BindError(
                    "a conventional join returns a regular table, which is not allowed here",
                    node.place,
                    hint="SPAN JOIN joins span tables by time",
                )
        alias = getattr(node, "alias", None)
        return plan if alias is None else self.renamed(plan, alias.columns, alias.name)

    def _named(self, path: ast.Path) -> Plan:
        name = self.common_name(path)
        if name is not None:
            return self._common_table(name, path)
        found = self.env.catalog.find(tuple(p.text for p in path.parts), self.home)
        if found is None:
            raise self.env.catalog.unknown(path, "table", self.home)
        entry, full = found
        match entry:
            case StoredTable():
                if self.dependencies is not None:
                    self.dependencies.add_table(entry)
                if self.env.reads is not None:
                    self.env.reads.tables[full] = entry
                return entry.plan()
            case View():
                return self._view(entry, full, path)
            case LibraryPart():
                return self.of_library(entry, full, full[:-2]).plan
            case Macro() | TableFunction():
                return self._uncalled(entry, path)
            case NamedType() | WallClock():
                raise _no_table(entry, path)

    def _common_table(self, name: str, path: ast.Path) -> Plan:
        """Return the plan of a common table, unless that reads columns of a query which are out of sight here."""
        if name not in self.common:
            raise BindError(
                f"the common table `{path.text}` reads columns of the surrounding query, so it cannot be read here",
                path.place,
                hint="read it in the select that it belongs to",
            )
        if self.dependencies is not None and name in self.common_dependencies:
            self.dependencies.add(self.common_dependencies[name])
        return self.common[name]

    def common_name(self, path: ast.Path) -> str | None:
        """Return the name of the common table that a path means."""
        return common_name(path, (*self.common, *self.beside, *self.away))

    def _uncalled(self, entry: Macro | TableFunction, path: ast.Path) -> Plan:
        """Bind the name of a function without parentheses, which may do without arguments."""
        if isinstance(entry, TableFunction) and any(
            one.default is not None and not isinstance(one.default, str) for one in entry.parameters
        ):
            raise BindError(
                f"`{path.text}` is a function", path.place, hint=f"call it: {path.text}({_signature(entry)})"
            )
        return self._called(ast.TableCall(path, place=path.place))

    def _view(self, view: View, name: Sequence[str], path: ast.Path) -> Plan:
        if view is self.replaced:
            raise BindError(
                f"the view `{path.text}` would read itself", path.place, hint="give the new one another name"
            )
        if self.depth >= _MAX_DEPTH:
            raise BindError(f"view `{path.text}` refers to itself", path.place)
        if not view.home:
            if self.env.reads is not None:
                self.env.reads.varies = True
            env = replace(self.env.outside(), params=view.params)
            binder = self.copy(env=env, common={}, beside={}, away=frozenset(), recursive=False, depth=self.depth + 1)
            return self.renamed(binder.plan(view.select()), view.columns, path.parts[-1])
        found = self.of_library(view, tuple(name), view.home)
        if view.warns_if_empty and not self.within and found.dependencies.lacking:
            self.env.warnings.repeat({found.dependencies.note(".".join(name)): 1})
        return found.plan

    def of_library(self, entry: View | LibraryPart, name: tuple[str, ...], home: tuple[str, ...]) -> BoundView:
        """Return a view or part of the standard library as bound for its mount; each is bound once."""
        bound: dict[int, BoundView] = self.env.catalog.bound
        if id(entry) not in bound:
            inner = self.copy(
                home=home,
                common={},
                recursive=False,
                beside={},
                away=frozenset(),
                depth=self.depth + 1,
                within=True,
            )
            wanted = UnboundView(entry, name, home, self.env.catalog, partial(inner.bind_text, entry), inner.other_view)
            bound[id(entry)] = self.env.library_view(wanted)
        found = bound[id(entry)]
        if self.env.reads is not None:
            self.env.reads.views[name] = found
        if self.dependencies is not None:
            self.dependencies.add(found.dependencies)
        return found

    def bind_text(self, entry: View | LibraryPart, reads: ViewReads) -> tuple[Plan, Dependencies]:
        """Bind the text of a view or part of the standard library, and note what it reads."""
        warnings, dependencies = WarningLog(), Dependencies()

        def evaluated(plan: Plan) -> list[object]:
            reads.varies = True
            return self.env.evaluate(plan)

        env = replace(self.env.outside(), reads=reads, evaluate=evaluated, warnings=warnings)
        binder = self.copy(env=env, dependencies=dependencies)
        if isinstance(entry, LibraryPart):
            plan, dependencies = bind_part(binder, entry)
        else:
            plan = binder.plan(entry.select())
            plan = replace(plan, unique=entry.key) if entry.key and isinstance(plan, Relation) else plan
        reads.varies = reads.varies or bool(warnings.entries)
        self.env.warnings.repeat(warnings.entries)
        return plan, dependencies

    def other_view(self, name: tuple[str, ...]) -> BoundView | None:
        """Return a view or part of the standard library below the same mount; None if none may be read."""
        found = self.env.catalog.find(name)
        entry = None if found is None else found[0]
        if isinstance(entry, LibraryPart) or (isinstance(entry, View) and entry.home and entry is not self.replaced):
            alone = self.copy(env=replace(self.env, reads=None), dependencies=None)
            return alone.of_library(entry, name, self.home)
        return None

    def _called(self, node: ast.TableCall) -> Plan:
        found = self.env.catalog.find(tuple(p.text for p in node.path.parts), self.home)
        if found is None:
            if len(node.path.parts) == 1 and engine_tables.is_offered(self, node.path):
                return engine_tables.bind_table_function(self, node)
            raise self.env.catalog.unknown(node.path, "table-valued function", self.home)
        entry, full = found
        if self.env.reads is not None and full[0] != "dctv":
            self.env.reads.varies = True
        if isinstance(entry, Macro):
            return macros.expand_table(entry, node, self)
        if isinstance(entry, WallClock):
            raise _no_table(entry, node.path)
        if not isinstance(entry, TableFunction):
            raise BindError(
                f"`{node.path.text}` is a table, not a function", node.path.place, hint="leave the parentheses out"
            )
        return per_trace.called(self, entry, node, arguments.bind_arguments(self, entry, node))

    def renamed(self, plan: Plan, columns: Sequence[ast.Name], name: ast.Name) -> Plan:
        """Rename the columns of a plan: all of them, or all but the special ones."""
        if not columns:
            return plan
        schema = plan.schema
        new = [c.text for c in columns]
        if len(new) == len(schema.payload) and schema.special_count:
            new = [*(c.name for c in schema.special), *new]
        if len(new) != len(schema.columns):
            raise BindError(
                f"`{name.text}` has {len(schema.columns)} columns, the list names {len(columns)}", columns[0].place
            )
        times = len(schema.kind.time_columns)
        # Without its time columns a table is a regular one.
        kind = schema.kind if tuple(new[:times]) == schema.kind.time_columns else Kind.REGULAR
        partitions = () if kind is Kind.REGULAR else tuple(new[times : schema.special_count])
        renamed = Schema(kind, tuple(replace(c, name=n) for c, n in zip(schema.columns, new, strict=True)), partitions)
        query, leaves = self._projected(plan, physical_names(schema), renamed)
        order = plan.order if kind is schema.kind else min(plan.order, RowOrder.STABLE)
        return Relation(renamed, order, query, leaves)

    def _projected(
        self, plan: Plan, names: Sequence[str], schema: Schema
    ) -> tuple[Select, tuple[tuple[str, Plan], ...]]:
        leaves = Leaves()
        source = leaves.name(plan)
        types = column_types(plan.schema)
        values: list[Expression] = []
        for name, column in zip(names, schema.columns, strict=True):
            value = Column(name, source)
            values.append(value if types[name] == column.type else Cast(value, column.type))
        return w.select(*w.named(values, physical_names(schema)), source=source), leaves.all()

    def ordered(self, plan: Plan, columns: Sequence[tuple[str, str]], schema: Schema) -> Plan:
        """Project a plan to columns (source name, name in the schema), sorted by the first, which is a time."""
        physical = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
        keeps = plan.ordered and columns[0][0] == "_ts"
        query, leaves = self._projected(plan, [physical[old] for old, _ in columns], schema)
        if keeps:
            return Relation(schema, RowOrder.TIME, query, leaves)
        names = physical_names(schema)
        if plan.stable:
            numbered = w.adding(query, Item(w.ROW_NUMBER, "dctv:row"))
            query = w.select(*w.columns(names), source=numbered, alias="numbered")
            query = w.sorted_by(query, *w.by_names((names[0], "dctv:row")))
        else:
            query = w.sorted_by(query, *w.by_names(names))
        return Relation(schema, order=RowOrder.TIME, query=query, leaves=leaves)

    def query(self, query: Query, leaves: Mapping[str, Plan], schema: Schema, *, ordered: bool) -> Plan:
        """Make a plan of a query of our own, reading the leaves by name."""
        return Relation(schema, RowOrder.TIME if ordered else RowOrder.ANY, query, tuple(leaves.items()))

    def kernel(
        self, name: str, schema: Schema, inputs: Sequence[Plan], options: Mapping[str, object], *, ordered: bool
    ) -> Kernel:
        """Make a plan of a span operator."""
        return Kernel(
            schema,
            RowOrder.TIME if ordered else RowOrder.STABLE,
            name,
            tuple(inputs),
            options,
            self.env.operators[name].run,
        )

    def merged(self, spans: Plan) -> Plan:
        """Merge spans of one partition that touch and have equal payload."""
        return merging.merged(self, spans)


def _no_table(entry: NamedType | WallClock, path: ast.Path) -> BindError:
    if isinstance(entry, NamedType):
        return BindError(f"`{path.text}` is a type, not a table", path.place, hint=f"it is {entry.doc}")
    return BindError(f"`{path.text}` is a function of times and cannot be used in FROM", path.place)


def _names_itself(cte: ast.CommonTable, others: Iterable[str]) -> bool:
    """Whether a common table reads itself, and so is recursive."""
    own = (cte.name.text, recurring(cte.name.text))
    known = dict.fromkeys((*others, *own))

    hidden = _where_hidden(cte)
    tables = (node for node in nodes(cte.select, without=(ast.Path,)) if isinstance(node, ast.TableName))
    return any(common_name(table.path, known) in own for table in tables if id(table) not in hidden)


def _where_hidden(cte: ast.CommonTable) -> set[int]:
    """Return the nodes of a common table's select, by identity, in which another common table has its name."""
    found: set[int] = set()
    for select in nodes(cte.select, without=(ast.Path,)):
        if not isinstance(select, ast.Select):
            continue
        at = next((at for at, one in enumerate(select.ctes) if one.name.text == cte.name.text), None)
        if at is not None:
            # Those before it, and itself unless it is recursive, read what the name means further out.
            seen = set(map(id, nodes(select.ctes[: at + (not select.recursive)])))
            found.update(id(one) for one in nodes(select) if id(one) not in seen)
    return found


def _signature(function: TableFunction) -> str:
    return ", ".join(f"{p.name}=>..." if p.keyword_only else p.name for p in function.parameters)
