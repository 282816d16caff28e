"""The interface of the binder for its parts, since tables and selects nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dctv.bind.context import BoundQuery, ClauseContext, Environment, Leaves
from dctv.bind.dependencies import Dependencies
from dctv.bind.scope import Scope
from dctv.plan.nodes import Kernel, Plan
from dctv.record import record
from dctv.syntax import ast
from dctv.types.schema import Schema


@record
class LateralTable:
    """A common table that reads columns of the enclosing query: it is bound again at each use."""

    table: ast.CommonTable
    binder: Binding
    parent: Scope
    recursive: bool


class Binding(Protocol):
    """The interface of a binder of selects and tables, wherever in a statement they stand."""

    env: Environment
    common: Mapping[str, Plan]
    """Common tables by name."""
    recursive: bool
    """Whether this binds the recursive part of a common table."""
    depth: int
    """How many views deep this is."""
    dependencies: Dependencies | None
    """Counts what a view of the standard library reads."""
    common_dependencies: Mapping[str, Dependencies]
    """What common tables read."""
    beside: Mapping[str, LateralTable]
    """Common tables that read columns of a query around them, by name."""

    def common_name(self, path: ast.Path) -> str | None:
        """Return the name of the common table that a path means."""
        ...

    def copy(self, **changes: Any) -> Binding:
        """Return the same with other common tables, another home or other attributes."""
        ...

    def context(
        self, scope: Scope, leaves: Leaves, *, clause: str = "the select list", aggregates_allowed: bool = True
    ) -> ClauseContext:
        """Return the context for expressions of one clause."""
        ...

    def plan(self, select: ast.Select) -> Plan:
        """Bind a select that stands by itself."""
        ...

    def inline(self, select: ast.Select, parent: Scope, leaves: Leaves) -> BoundQuery:
        """Bind a subquery in place: it may name columns of the select around it."""
        ...

    def is_typed(self, body: ast.Body) -> bool:
        """Whether a select makes a span or event table."""
        ...

    def with_common_tables(self, select: ast.Select, parent: Scope | None = None) -> Binding:
        """Return a binding that knows the common tables of a select, each of which knows those before it.

        They may read columns of `parent`, the query around them.
        """
        ...

    def query_beside(self, found: LateralTable, leaves: Leaves) -> BoundQuery:
        """Bind the query of a common table that reads columns of the query around it."""
        ...

    def table(self, node: ast.Table) -> Plan:
        """Bind a table; an alias with a column list renames its columns."""
        ...

    def full_path(self, node: ast.Table) -> tuple[str, ...]:
        """Return the full name of a table that is named, and nothing for others."""
        ...

    def kernel(
        self, name: str, schema: Schema, inputs: Sequence[Plan], options: Mapping[str, object], *, ordered: bool
    ) -> Kernel:
        """Make a plan of a span operator."""
        ...
