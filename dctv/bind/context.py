"""Context of binding: the session's environment, the leaves of a region, and the scope."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from dctv.bind.bound import Bound, Family
from dctv.bind.library_views import BoundView, UnboundView, ViewReads
from dctv.bind.result_names import ResultNames
from dctv.bind.scope import Scope
from dctv.catalog.namespace import Catalog
from dctv.contracts.engine import Engine
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.span_operator import SpanOperator
from dctv.errors import WarningLog
from dctv.plan.expressions import Call, Expression, Frame, Ordered, Window
from dctv.plan.fleets import PerTracePlan
from dctv.plan.node import Query
from dctv.plan.nodes import Plan
from dctv.plan.queries import FromItem, Join
from dctv.record import field, record, replace
from dctv.signatures.types import Type
from dctv.syntax import ast
from dctv.types.unit import Unit


@record
class Environment:
    """The session state that a statement is bound against."""

    catalog: Catalog
    engine: Engine
    rules: Mapping[str, FunctionRule]
    operators: Mapping[str, SpanOperator]
    params: Mapping[int | str, object]
    warnings: WarningLog
    evaluate: Callable[[Plan], list[object]]
    """Runs a plan of one column and returns its values: for subqueries that stand for a number in an argument."""
    file_table: Callable[[ast.TableFile, Environment], Plan]
    """Mounts a file and binds its table: for files that are named in FROM."""
    per_trace: Callable[[Plan], PerTracePlan | None] | None
    """Returns what is known of a plan over tables of a fleet that each trace can run by itself, None for others; it is
    None where there is no fleet."""
    library_view: Callable[[UnboundView], BoundView]
    """Binds a view of the standard library, or reuses its plan of another mount."""
    base: Path | None = None
    """The folder that relative paths start from; None is the current one."""
    reads: ViewReads | None = None
    """Notes what the text of a view of the standard library names, while that is bound."""
    macro_arguments: Mapping[str, Substitute] = field(default_factory=dict)
    """What stands for the parameters in the text of a macro, by lower-case name."""
    expanding: tuple[int, ...] = ()
    """The macros in whose texts this is."""

    def outside(self) -> Environment:
        """Return the environment for text outside macros."""
        return replace(self, macro_arguments={}) if self.macro_arguments else self


class Substitute(Protocol):
    """An argument of a macro, which stands for a parameter in the macro's text."""

    @property
    def binder(self) -> Subqueries:
        """The binder or context at the place of the call."""

    @property
    def argument(self) -> ast.Argument | None:
        """Its form as an argument of a table-valued function."""

    def bound(self, at: ClauseContext, bind: Callable[[ast.Expr, ClauseContext], Bound]) -> Bound:
        """Bind it where the text of the macro names it."""
        ...


class Leaves:
    """The names of the plans that one region reads, and the aliases inside its query."""

    def __init__(self) -> None:
        self._plans: dict[int, tuple[str, Plan]] = {}
        self._taken: set[str] = set()

    def name(self, plan: Plan) -> str:
        """Return the table name of a plan inside the region; the same plan has one name."""
        if id(plan) not in self._plans:
            self._plans[id(plan)] = (self.alias(f"r{len(self._plans) + 1}"), plan)
        return self._plans[id(plan)][0]

    def forget(self, plan: Plan) -> None:
        """Leave a plan out that the region does not read after all; its name stays taken."""
        del self._plans[id(plan)]

    def alias(self, preferred: str) -> str:
        """Return a table alias that is unique in the region, like the wanted one."""
        name, number = preferred, 1
        while name.lower() in self._taken:
            number += 1
            name = f"{preferred}_{number}"
        self._taken.add(name.lower())
        return name

    def all(self) -> tuple[tuple[str, Plan], ...]:
        """Return names and plans."""
        return tuple(self._plans.values())


@record
class BoundColumn:
    """A result column, whose type may not be known yet."""

    name: str
    unit: Unit
    family: Family = None
    any_unit: bool = False
    """Whether it is 0, NULL or `[]`, which go with every unit."""
    type: Type | None = None
    """Its type; None if only the engine knows it."""
    wide: bool = False
    """Whether integers of 128 bits stay as wide."""


@record
class BoundWindow:
    """The rows that a call over a window sees, in whole: what it takes from a named window is in it."""

    partition_by: tuple[Bound, ...] = ()
    order_by: tuple[Bound, ...] = ()
    terms: tuple[Ordered, ...] = ()
    """Its ORDER BY in the plan."""
    frame: Frame | None = None
    offsets: tuple[Bound, ...] = ()
    """Those of the ends of the frame."""

    @property
    def parts(self) -> tuple[Bound, ...]:
        """The expressions that it is made of."""
        return (*self.partition_by, *self.order_by, *self.offsets)

    def over(self, call: Call) -> Window:
        """Return a call over the window."""
        return Window(call, tuple(one.value for one in self.partition_by), self.terms, self.frame)


@record
class BoundQuery:
    """A bound query: the query in the plan, and its result columns, which are named `physical` inside."""

    query: Query
    outs: tuple[BoundColumn, ...]
    parts: tuple[Bound, ...] = ()
    """The expressions that it is made of, to find the one the engine objects to."""
    source: FromItem | None = None
    joins: tuple[Join, ...] = ()
    sure: bool = False
    """Whether the types of all its expressions are known, and nothing is in it that the engine could refuse."""
    serial: bool = False
    """Whether its values depend on the order in which the engine meets its rows."""
    ungrouped: Bound | None = None
    """An expression that may have several values in a group of rows, though it stands outside of aggregates."""


class Subqueries(Protocol):
    """The interface of a binder of selects that are nested in expressions."""

    def inline(self, select: ast.Select, parent: Scope, leaves: Leaves) -> BoundQuery:
        """Bind a subquery that may name columns of the select around it."""
        ...

    def copy(self, **changes: Any) -> Subqueries:
        """Return a copy that binds against other names."""
        ...


@record(frozen=False)
class ClauseContext:
    """The context in which the expressions of one clause are bound."""

    env: Environment
    scope: Scope
    leaves: Leaves
    subqueries: Subqueries
    aliases: ResultNames = field(default_factory=ResultNames)
    """Result columns that may be named where no input column has the name."""
    aggregated: Scope | None = None
    """In a span group: the scope inside an aggregate; outside of one `scope` holds the group's own columns."""
    present: Expression | None = None
    """In a span group: the condition that a row is a piece, which filters every aggregate."""
    grouped: Collection[Expression] | None = None
    """In HAVING: what its rows are grouped by; a result column hides an input column that is none of it."""
    inside_aggregate: bool = False
    aggregates_allowed: bool = True
    clause: str = "the select list"
    proven: bool = False
    """Whether the text is the standard library's, so that patterns and formats in it are ones that the engine reads."""
    away: Collection[Expression] = ()
    """Columns that `*` leaves out, since USING has merged them with another."""
    windows: Mapping[str, BoundWindow] = field(default_factory=dict)
    """The windows of WINDOW, by lower-case name."""

    def alias(self, path: ast.Path) -> Bound | None:
        """Return the result column that `name`, or `alias.name`, means where no input column has that name."""
        *qualifier, name = (part.text for part in path.parts)
        if qualifier and [one.lower() for one in qualifier] != ["alias"]:
            return None
        return self.aliases.find(name, path.place)
