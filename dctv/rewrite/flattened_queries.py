"""Flatten queries over the tables of one trace into queries over those of many.

Each table gets a column with the number of the trace that a row is of, and so does the result. Rows of different
traces never meet: joins compare the numbers, groups have them among their keys, and windows among their partitions.
Rows that came in some order come trace by trace, each in that order. A value that is the same in all rows of a trace
(`OfTrace`) is looked up by the number.

Sound because each clause then does for the rows of every trace what it did for those of one. What looks at more than
that, such as LIMIT or a query in an expression, is not flattened. Partial aggregates that their reader combines are
those of all traces (`QueryFlattening.together`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from dctv.contracts.engine import VOLATILE
from dctv.plan.build import (
    ROW_NUMBER,
    all_of,
    ascending,
    at_least,
    call,
    case,
    equal,
    error,
    greater,
    grouped,
    is_not_null,
    number,
    plus,
    select,
)
from dctv.plan.expressions import (
    TRUE,
    Call,
    Cast,
    Column,
    Expression,
    List,
    Number,
    OfTrace,
    Ordered,
    Star,
    StartOf,
    State,
    Subquery,
    Window,
)
from dctv.plan.node import Node, Query
from dctv.plan.queries import (
    CommonTable,
    Compound,
    Derived,
    FromItem,
    Group,
    GroupingSets,
    Item,
    Join,
    JoinKind,
    Rows,
    Select,
    TableCall,
    TableName,
)
from dctv.plan.walk import columns_in, free, nested, replaced, walk
from dctv.record import record, replace
from dctv.rewrite.select_shapes import clauses, conditions_of_joins

NUMBER = "dctv:trace"
"""The last column of flattened tables: the number of the trace, from 0."""
_TRACES = "dctv:traces"
_OWN = "dctv:"
"""What the names of our own columns begin with."""
_VALUE = "dctv:value"


class NotFlat(Exception):
    """A query cannot be flattened."""


@record
class FlattenedTraces:
    """The traces that a query is flattened for."""

    count: int
    values: Callable[[str], Sequence[Expression]]
    """Returns the value of a column of the fleet in each trace."""
    kinds: Mapping[str, str]
    """The kind (`scalar`, `aggregate`, `window`) of the engine's functions, by lower-case name."""

    @property
    def numbers(self) -> FromItem:
        """A table of the numbers."""
        numbers = Item(Cast(call("unnest", call("range", number(self.count))), "BIGINT"), NUMBER)
        return Derived(Select((numbers,)), _TRACES)


@record
class QueryFlattening:
    """Tables that a query reads."""

    traces: FlattenedTraces
    columns: Mapping[str, Sequence[str]]
    """The columns of each, without the number."""
    flat: Collection[str]
    """Those that have the number; the others are the same for all traces."""
    sorted: Collection[str]
    """Those whose rows come trace by trace, and in each as they do in one."""
    serial: bool
    """Whether the values of the query depend on the order in which it meets rows."""
    recursive: frozenset[str] = frozenset()
    """Common tables that read themselves, within their own queries: where a trace has no more rows of one, its steps
    are over, while those of others go on."""

    def query(self, query: Query) -> Query:
        """Flatten a query.

        Raises:
            NotFlat: that is not possible.
        """
        if isinstance(query, Compound):
            return self._compound(query)
        if not isinstance(query, Select):
            raise NotFlat
        query = _numbered_limit(query)
        steps, inner = self._steps(query.steps, recursive=query.recursive)
        return _block(inner, query).flattened(steps)

    def together(self, query: Query) -> Select:
        """Return a query that groups and aggregates over the rows of all traces, as if they were of one.

        Raises:
            NotFlat: that is not possible.
        """
        if not isinstance(query, Select) or self.serial:
            raise NotFlat
        more = (query.distinct, query.having, query.qualify, query.limit, query.offset, *query.order_by, *query.steps)
        if any(more):
            raise NotFlat
        return _block(self, query).together()

    def _compound(self, query: Compound) -> Compound:
        if query.limit is not None or query.offset is not None or query.recursive or nested(*query.order_by):
            raise NotFlat
        if query.operator == "EXCEPT" and any(map(self.reads_itself, query.parts[1:])):
            raise NotFlat
        steps, inner = self._steps(query.steps)
        parts = tuple(map(inner.query, query.parts))
        return replace(query, parts=parts, steps=steps, order_by=_by_number(query.order_by))

    def _steps(
        self, steps: Sequence[CommonTable], *, recursive: bool = False
    ) -> tuple[tuple[CommonTable, ...], QueryFlattening]:
        """Flatten common tables; return how to flatten what reads them, too."""
        made, inner = [], self
        for step in steps:
            if step.keys:
                raise NotFlat
            names = step.columns or outputs(step.query)
            after = replace(inner, columns={**inner.columns, step.name: names}, flat={*inner.flat, step.name})
            itself = replace(after, recursive=after.recursive | {step.name}) if recursive else inner
            query = itself.query(step.query)
            made.append(replace(step, query=query, columns=(*step.columns, NUMBER) if step.columns else ()))
            inner = after
        return tuple(made), inner

    def keeps_order(self, query: Query) -> bool:
        """Whether the rows of a query, once it is flattened, come trace by trace, and in each as they do in one."""
        assert isinstance(query, Select | Compound)
        if query.order_by or isinstance(query, Compound):
            return bool(query.order_by)
        # The engine may give rows in another order.
        reorders = bool(
            query.joins or query.group or query.distinct or query.steps or nested(*query.items, query.where)
        )
        windows = (node for node in walk(*query.items, query.qualify) if isinstance(node, Window))
        if reorders or any(node != ROW_NUMBER for node in windows):
            return False
        source = query.source
        if isinstance(source, Derived):
            return self.keeps_order(source.query)
        return isinstance(source, TableName) and source.name in self.sorted

    def source(self, source: FromItem) -> tuple[FromItem, bool]:
        """Return an item of FROM that has the number, if its rows are of traces, and whether that is so."""
        match source:
            case TableName(name=name):
                return source, name in self.flat
            case Derived(query=query):
                if free(query):
                    raise NotFlat
                if not self.is_of_traces(query):
                    return source, False
                return replace(source, query=self.query(query), alias=source.alias or "part"), True
            case Rows() | TableCall():
                if nested(source) or any(isinstance(node, OfTrace) for node in walk(source)):
                    raise NotFlat
                return source, False
            case _:
                raise NotFlat

    def is_of_traces(self, query: Query) -> bool:
        """Whether a query reads a table that has the number, or values that traces have."""
        return any(
            isinstance(node, OfTrace) or (isinstance(node, TableName) and node.name in self.flat)
            for node in walk(query)
        )

    def reads_itself(self, node: Node) -> bool:
        """Whether a part of a recursive common table reads that."""
        return any(isinstance(one, TableName) and one.name in self.recursive for one in walk(node))

    def names(self, source: FromItem) -> Sequence[str]:
        """Return the columns of an item of FROM, without the number."""
        if isinstance(source, TableName) and source.name in self.columns:
            names = self.columns[source.name]
        elif isinstance(source, Derived):
            names = [name for name in outputs(source.query) if name != NUMBER]
        else:
            raise NotFlat
        return (*source.columns, *names[len(source.columns) :])


def _block(around: QueryFlattening, select: Select) -> _Block:
    """Return a select to be flattened, with the values of its queries as columns of sources."""
    if nested(*conditions_of_joins(select)):
        raise NotFlat
    values: list[Derived] = []

    def change(node: Node) -> Node | None:
        if isinstance(node, Query | FromItem):
            return node if node is not select else None
        queries = [one for one in nested(node) if around.is_of_traces(one)] if isinstance(node, Expression) else []
        if not isinstance(node, Subquery) or not queries or any(map(around.reads_itself, queries)):
            return None
        values.append(_one_value(around, node.query, f"{_OWN}value{len(values)}"))
        return Column(_VALUE, values[-1].alias)

    changed = replaced(select, change)
    parts = [*changed.items, *clauses(changed), *conditions_of_joins(changed)]
    if any(map(around.is_of_traces, nested(*parts))) or any(map(_forbids, walk(*parts))):
        raise NotFlat
    return _Block(around, changed, values)


def _numbered_limit(select: Select) -> Select:
    """Return a select with a condition on the numbers of its rows in place of LIMIT and OFFSET."""
    if select.limit is None and select.offset is None:
        return select
    if select.distinct or select.qualify is not None or not select.order_by:
        raise NotFlat
    start = 0 if select.offset is None else _count(select.offset)
    order = tuple(replace(one, operand=_sorted_value(one.operand, select)) for one in select.order_by)
    place = replace(ROW_NUMBER, order_by=order)
    tests = [] if select.limit is None else [at_least(number(start + _count(select.limit)), place)]
    tests += [greater(place, number(start))] if start else []
    return replace(select, limit=None, offset=None, qualify=all_of(tests) or TRUE)


def _count(limit: Expression) -> int:
    if not isinstance(limit, Number) or not limit.text.isdigit():
        raise NotFlat
    return int(limit.text)


def _sorted_value(term: Expression, select: Select) -> Expression:
    """Return the value that a term of ORDER BY stands for, which may be the place or the name of a column."""
    if isinstance(term, Number):
        found: Sequence[Item] = select.items[: int(term.text)][-1:]
    else:
        found = [one for one in select.items if isinstance(term, Column) and term == Column(one.output)]
    if any(one.is_star for one in (select.items if isinstance(term, Number) else found)):
        raise NotFlat
    return found[0].value if found else term


def _one_value(around: QueryFlattening, query: Query, alias: str) -> Derived:
    """Return the value that a query in an expression has in each trace; without a row it has none."""
    inner = [node for node in walk(query) if isinstance(node, FromItem)]
    known = {name for one in inner if isinstance(one, TableName | Derived) for name in around.names(one)}
    if free(query) or any(one.table is None and one.name not in known for one in columns_in(query)):
        raise NotFlat
    flat = around.query(query)
    value, _ = outputs(flat)
    several = error("More than one row returned by a subquery used as an expression")
    one = case((greater(call("count", Star()), number(1)), several), default=call("any_value", Column(value)))
    made = grouped(select(Item(one, _VALUE), NUMBER, source=flat, alias="rows"), [NUMBER])
    return Derived(made, alias)


@record
class _Block:
    """One select to be flattened."""

    around: QueryFlattening
    select: Select
    values: Sequence[Derived]
    """Sources with a value for each trace."""

    def flattened(self, steps: tuple[CommonTable, ...]) -> Select:
        """Return the select over the rows of all traces."""
        select = self.select
        if select.group is None and self._aggregates():
            select, trace = self._of_all_rows()
        else:
            source, joins, trace = self._sources()
            select = replace(select, source=source, joins=(*joins, *self._joined_values(trace)))
            if select.group is not None:
                select = replace(select, group=self._with_keys(select.group, trace))
        items = (*self._items(select), Item(trace, NUMBER))
        select = replace(select, items=items, order_by=_by_number(select.order_by), steps=steps)
        return self._with_traces(select, trace)

    def together(self) -> Select:
        """Return the select over the rows of all traces; its groups are of any of them."""
        select = self.select
        keys = () if select.group is None else select.group.keys
        plain = all(one.value in keys or self._is_aggregate(one.value) for one in select.items)
        sets = any(isinstance(key, GroupingSets) for key in keys)
        windows = any(isinstance(node, Window) for node in walk(*select.items, *keys))
        if not plain or sets or windows or self.values or (select.group is None and not self._aggregates()):
            raise NotFlat
        source, joins, trace = self._sources()
        return self._with_traces(replace(select, source=source, joins=joins), trace)

    def _with_traces(self, select: Select, trace: Expression) -> Select:
        """Return a select whose windows keep traces apart, and which looks up what each trace has."""

        def change(node: Node) -> Node | None:
            match node:
                case Query() | FromItem():
                    return node if node is not select else None
                case Window():
                    return self._window(node, trace)
                case OfTrace(column, type_):
                    place = plus(trace, number(1))
                    values = List(tuple(self.around.traces.values(column)))
                    return Cast(call("list_extract", values, place), type_)
                case _:
                    return None

        return replaced(select, change)

    def _joined_values(self, trace: Expression) -> list[Join]:
        return [Join(one, "LEFT", equal(trace, Column(NUMBER, one.alias))) for one in self.values]

    def _with_keys(self, group: Group, trace: Expression) -> Group:
        """Return a GROUP BY with what is the same in all rows of a trace among its keys."""
        if any(isinstance(key, GroupingSets) for key in group.keys):
            raise NotFlat
        values = (Column(_VALUE, one.alias) for one in self.values)
        return group if group.all else replace(group, keys=(*group.keys, trace, *values))

    def _window(self, window: Window, trace: Expression) -> Window:
        if window != ROW_NUMBER:
            return replace(window, partition_by=(trace, *window.partition_by))
        # The engine does not number the rows of a partition in the order in which they come. Those that it counts on
        # from trace to trace tell this order, too, which is all that our own columns of numbers are for.
        own = any(item.value == window and item.output.startswith(_OWN) for item in self.select.items)
        if not own or not self.around.keeps_order(replace(self.select, order_by=())):
            raise NotFlat
        return window

    def _aggregates(self) -> bool:
        """Whether the select has aggregates."""
        select = self.select
        return any(map(self._is_aggregate, _outside_windows(*select.items, *clauses(replace(select, where=None)))))

    def _is_aggregate(self, node: Node) -> bool:
        if isinstance(node, State):
            return True
        kinds = self.around.traces.kinds
        return isinstance(node, Call) and kinds.get(node.function.lower()) == "aggregate"

    def _of_all_rows(self) -> tuple[Select, Expression]:
        """Return a select that aggregates the rows of each trace, also of those without rows, and the number."""
        select, around = self.select, self.around
        if around.serial or around.recursive or select.joins or select.source is None:
            raise NotFlat
        source, is_flat = around.source(select.source)
        if not is_flat:
            raise NotFlat
        own, trace = Column(NUMBER, source.called), Column(NUMBER, _TRACES)
        joined = Join(source, "LEFT", all_of([equal(trace, own), *_given(select.where)]))

        def of_rows(node: Node) -> Node | None:
            if isinstance(node, Query | FromItem):
                return node if node is not rows else None
            if isinstance(node, Window):
                raise NotFlat
            if isinstance(node, State):
                return replace(node, call=filtered(node.call))
            return filtered(node) if isinstance(node, Call) and self._is_aggregate(node) else None

        def filtered(aggregate: Call) -> Call:
            return replace(aggregate, filter=all_of([is_not_null(own), *_given(aggregate.filter)]))

        rows = replace(select, where=None)
        select = replaced(rows, of_rows)
        numbers = self.around.traces.numbers
        joins = (*self._joined_values(trace), joined)
        made = replace(select, source=numbers, joins=joins)
        return replace(made, group=self._with_keys(Group(), trace)), trace

    def _sources(self) -> tuple[FromItem, tuple[Join, ...], Expression]:
        """Return the sources with conditions that rows are of one trace, and the number of that."""
        select, around = self.select, self.around
        joins: list[Join] = []
        trace: Expression | None = None
        first: FromItem | None = None
        if select.source is not None:
            first, is_flat = around.source(select.source)
            trace = Column(NUMBER, first.called) if is_flat else None
        if trace is None and any(join.kind not in ("INNER", "CROSS") for join in select.joins):
            joins += [] if first is None else [Join(first, "CROSS")]
            first, trace = around.traces.numbers, Column(NUMBER, _TRACES)
        for join in select.joins:
            source, is_flat = around.source(join.source)
            joined = replace(join, source=source)
            if is_flat:
                if join.kind not in ("INNER", "CROSS", "SEMI") and around.reads_itself(join):
                    raise NotFlat
                joined, trace = _of_one_trace(joined, trace)
            elif join.kind in ("RIGHT", "FULL"):
                raise NotFlat
            joins.append(joined)
        if trace is None:
            numbers = around.traces.numbers
            of_all = () if first is None else (Join(first, "CROSS"),)
            return numbers, (*of_all, *joins), Column(NUMBER, _TRACES)
        assert first is not None
        return first, tuple(joins), trace

    def _items(self, select: Select) -> list[Item]:
        """Return the items of a select, with stars expanded."""
        made: list[Item] = []
        for item in select.items:
            if isinstance(item.value, Star):
                own = [one for one in self.select.sources if item.value.table in (None, one.called)]
                made += (Item(Column(name, one.alias or one.called)) for one in own for name in self.around.names(one))
            else:
                made.append(item)
        return made


def outputs(query: Query) -> list[str]:
    """Return the names of a query's columns.

    Raises:
        NotFlat: they are not written in it.
    """
    while isinstance(query, Compound):
        query = query.parts[0]
    assert isinstance(query, Select)
    names = [item.output for item in query.items]
    if not all(names):
        raise NotFlat
    return names


def _of_one_trace(join: Join, trace: Expression | None) -> tuple[Join, Expression]:
    """Return a join that brings rows of one trace together, and the number of that."""
    own = Column(NUMBER, join.source.called)
    if trace is None:
        if join.kind not in ("INNER", "CROSS"):
            raise NotFlat
        return join, own
    kind: JoinKind = "INNER" if join.kind == "CROSS" else join.kind
    joined = replace(join, kind=kind, on=all_of([equal(trace, own), *_given(join.on)]))
    if kind == "RIGHT":
        return joined, own
    return joined, call("coalesce", trace, own) if kind == "FULL" else trace


def _by_number(order: tuple[Ordered, ...]) -> tuple[Ordered, ...]:
    return (*ascending([Column(NUMBER)]), *order) if order else ()


def _given(test: Expression | None) -> list[Expression]:
    return [] if test is None else [test]


def _forbids(node: Node) -> bool:
    """Whether a select that has this node is not flattened."""
    if not isinstance(node, Call):
        return isinstance(node, StartOf)
    # Samples are drawn by the numbers of rows.
    drawn = node.function == "hash" and any(one.name.startswith(_OWN) for one in columns_in(node))
    return drawn or node.function.lower() in VOLATILE


def _outside_windows(*nodes: Node | None) -> list[Node]:
    """Return nodes and what is within them, but for windows."""
    calls = {id(node.call) for node in walk(*nodes) if isinstance(node, Window)}
    return [node for node in walk(*nodes) if id(node) not in calls]
