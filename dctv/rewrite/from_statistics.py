"""A query that only groups and aggregates a stored table -> the same over rows that the table's statistics tell.

Sound because a source answers exactly or not at all (but for approximate quantiles), and because nothing else of the
query can tell the difference: it reads one table, once, without a condition, and every column in it is a group key or
stands in an aggregate that the question names. Each group is one row of the answer, so aggregates become columns,
HAVING becomes WHERE, and GROUP BY goes; select list, ORDER BY and LIMIT stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sqlglot import exp

from dctv.contracts.engine import ZERO_DIVISION
from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.question import Aggregate, Question
from dctv.plan.rows import of_rows
from dctv.plan.source import Answered, Held
from dctv.plan.sql import column, table
from dctv.record import field, record, replace
from dctv.rewrite.graph import bottom_up
from dctv.rewrite.literals import Double, literal_of
from dctv.types.schema import ColumnType, Kind, Schema

_FUNCTIONS = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "variance": "var_samp",
    "var_samp": "var_samp",
    "var_pop": "var_pop",
    "stddev": "stddev_samp",
    "stddev_samp": "stddev_samp",
    "stddev_pop": "stddev_pop",
    "approx_quantile": "approx_quantile",
}
_TYPES = {"count": "BIGINT", "sum": "HUGEINT", "min": "BIGINT", "max": "BIGINT", "approx_quantile": "BIGINT"}
"""Of aggregates over 64-bit integers; others are doubles."""
_PLAIN = (
    exp.Alias,
    exp.Ordered,
    exp.Paren,
    exp.Cast,
    exp.Binary,
    exp.Unary,
    exp.Between,
    exp.Case,
    exp.If,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Identifier,
    exp.DataType,
    exp.Order,
    exp.Having,
)
"""What may stand around keys and aggregates: it looks at one row of the answer at a time."""
_CALLS = frozenset({ZERO_DIVISION.lower(), "coalesce", "round", "trunc", "abs", "greatest", "least"})
"""Functions that may, too."""
_CLAUSES = ("expressions", "from_", "group", "having", "order", "limit", "offset")


def from_statistics(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Answer what can be answered without reading rows."""
    return bottom_up(plan, lambda node: _answered(node) if isinstance(node, Relation) else node)


def _answered(relation: Relation) -> Relation:
    for name, leaf in relation.leaves:
        # Rows in memory answer nothing, so their queries need not be looked at.
        if isinstance(leaf, Scan) and not isinstance(leaf.source, Held):
            found = _from(relation, name, leaf)
            if found is not None:
                return found
    return relation


def _from(relation: Relation, name: str, scan: Scan) -> Relation | None:
    """Return a relation that reads an answer in place of a scan."""
    read = [t for t in relation.query.find_all(exp.Table) if t.name == name and not t.args.get("db")]
    select = read[0].find_ancestor(exp.Select) if len(read) == 1 else None
    if select is None or not _reads_only(select, read[0]):
        return None
    asking = _Asking(scan, read[0].alias_or_name)
    if not asking.about(select):
        return None
    rows = scan.source.answers(Question(tuple(asking.keys), tuple(asking.aggregates)))
    if rows is None:
        return None
    schema = Schema(Kind.REGULAR, tuple(ColumnType(n, t) for n, t in asking.columns().items()))
    known = Scan(schema, ordered=False, name=scan.name, source=Answered(of_rows(schema, rows).query))
    query = _replaced(relation.query, select, asking.query(select, name))
    leaves = tuple((one, known if one == name else leaf) for one, leaf in relation.leaves)
    return replace(relation, query=query, leaves=leaves)


def _reads_only(select: exp.Select, source: exp.Table) -> bool:
    """Whether a select reads one table and does no more than group, aggregate, sort and cut."""
    first = select.args.get("from_")
    alias = source.args.get("alias")
    plain = not any(v for k, v in source.args.items() if k not in ("this", "alias"))
    others = any(v for k, v in select.args.items() if k not in _CLAUSES)
    return first is not None and first.this is source and plain and not others and not (alias and alias.columns)


def _replaced(query: exp.Query, old: exp.Select, new: exp.Select) -> exp.Query:
    """Return a copy of a query in which another select stands for one of its selects."""
    if query is old:
        return new
    place = next(n for n, one in enumerate(query.find_all(exp.Select)) if one is old)
    made = query.copy()
    list(made.find_all(exp.Select))[place].replace(new)
    return made


@record(frozen=False)
class _Asking:
    """The question that a select asks of a table."""

    scan: Scan
    alias: str
    keys: list[str] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)

    def about(self, select: exp.Select) -> bool:
        """Read a select; whether it is such a question."""
        group = select.args.get("group")
        if group is not None:
            if any(v for k, v in group.args.items() if k != "expressions"):
                return False
            names = [self._column(one) for one in group.expressions]
            self.keys = list(dict.fromkeys(name for name in names if name is not None))
            if None in names:
                return False
        parts = [*select.expressions, select.args.get("having"), select.args.get("order")]
        fits = all(self._fits(part) for part in parts if part is not None)
        return fits and (group is not None or bool(self.aggregates))

    def _fits(self, node: exp.Expr) -> bool:
        """Note the aggregates in an expression; False if it needs anything else than these and keys."""
        if isinstance(node, exp.Column):
            return self._column(node) in self.keys
        one = self.aggregate(node)
        if one is not None:
            if one not in self.aggregates:
                self.aggregates.append(one)
            return True
        called = isinstance(node, exp.Anonymous) and str(node.this).lower() in _CALLS
        return (called or isinstance(node, _PLAIN)) and all(self._fits(child) for child in node.iter_expressions())

    def _column(self, node: exp.Expr) -> str | None:
        """Return the table's column that an expression is."""
        node = node.unnest()
        mine = isinstance(node, exp.Column) and node.table in ("", self.alias)
        return node.name if mine and node.name in column_names(self.scan) else None

    def aggregate(self, node: exp.Expr) -> Aggregate | None:
        """Read an aggregate."""
        if not isinstance(node, exp.Func):
            return None
        name = str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name()
        function = _FUNCTIONS.get(name.lower())
        arguments = node.expressions if isinstance(node, exp.Anonymous) else list(node.iter_expressions())
        if function is None or not arguments:
            return Aggregate("count") if function == "count" and not arguments else None
        if function == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
            return None if any(arguments[0].args.values()) else Aggregate("count")
        subject = self._column(arguments[0])
        if subject is None:
            return None
        if function == "approx_quantile":
            return Aggregate(function, subject, _share(arguments[1])) if len(arguments) == 2 else None
        return Aggregate(function, subject) if len(arguments) == 1 else None

    def columns(self) -> dict[str, str]:
        """Return names and types of the answer's columns."""
        types = dict(zip(column_names(self.scan), (c.type for c in self.scan.schema.columns), strict=True))
        found = {key: types[key] for key in self.keys}
        for number, one in enumerate(self.aggregates):
            found[self._name(number)] = _TYPES.get(one.function, "DOUBLE")
        return found

    def _name(self, number: int) -> str:
        one = self.aggregates[number]
        share = "" if one.quantile is None else f", {float(one.quantile)}"
        return f"{one.function}({one.column or '*'}{share})"

    def query(self, select: exp.Select, leaf: str) -> exp.Select:
        """Return the select over the answer."""

        def known(node: exp.Expr) -> exp.Expr:
            one = self.aggregate(node)
            return node if one is None else column(self._name(self.aggregates.index(one)), self.alias)

        made = exp.Select(expressions=[item.copy().transform(known) for item in select.expressions])
        made.set("from_", exp.From(this=table(leaf, self.alias)))
        having = select.args.get("having")
        if having is not None:
            made.set("where", exp.Where(this=having.this.copy().transform(known)))
        for clause in ("order", "limit", "offset"):
            if select.args.get(clause) is not None:
                made.set(clause, select.args[clause].copy().transform(known))
        return made


def _share(value: exp.Expr) -> Fraction | None:
    found = literal_of(value)
    return Fraction(found.value) if isinstance(found, Double) and 0 <= found.value <= 1 else None
