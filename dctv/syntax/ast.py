"""The syntax tree: a frozen dataclass for each form, which knows its place in the text; `place` is not compared."""

from __future__ import annotations

from typing import Literal as OneOf

from dctv.errors import Place
from dctv.record import field, record
from dctv.syntax import literals, logical, nearest, nested, node, pivots, stars

Node = node.Node
Name = node.Name
Path = node.Path
Expr = node.Expr
Number = literals.Number
String = literals.String
Constant = literals.Constant
Interval = literals.Interval
Bind = literals.Bind
Logical = logical.Logical
Row = nested.Row
List = nested.List
Struct = nested.Struct
Map = nested.Map
Lambda = nested.Lambda
Index = nested.Index
Slice = nested.Slice
Member = nested.Member
Star = stars.Star
Choice = stars.Choice
Columns = stars.Columns
LikeOp = stars.LikeOp
Percent = stars.Percent
Sample = stars.Sample
ResultColumn = stars.ResultColumn
Alias = node.Alias
Table = node.Table
PivotChoice = pivots.PivotChoice
Pivot = pivots.Pivot
Unpivot = pivots.Unpivot
Nearest = nearest.Nearest


@record(eq=False, text=False)
class Column(Expr):
    """A column, maybe qualified: `a.b.c` is not yet split into table and column."""

    path: Path


UnaryOp = OneOf["-", "+", "~", "NOT"]
BinaryOp = OneOf[
    "*", "/", "%", "//", "+", "-", "||", "<<", ">>", "&", "|",
    "=", "!=", "<", "<=", ">", ">=", "<=>", "<!=>", "->", "->>",
]  # fmt: skip


@record(eq=False, text=False)
class Unary(Expr):
    """A prefix operator."""

    op: UnaryOp
    operand: Expr


@record(eq=False, text=False)
class Binary(Expr):
    """An infix operator; synonyms are folded: `==` to `=`, `<>` to `!=`, `IS` to `<=>`, `IS NOT` to `<!=>`."""

    op: BinaryOp
    left: Expr
    right: Expr


@record(eq=False, text=False)
class Truth(Expr):
    """`x IS [NOT] TRUE` or `FALSE`: never NULL."""

    operand: Expr
    value: bool
    negated: bool = False


@record(eq=False, text=False)
class Like(Expr):
    """`x [NOT] LIKE|ILIKE|GLOB|REGEXP|SIMILAR TO pattern [ESCAPE e]`."""

    op: LikeOp
    operand: Expr
    pattern: Expr
    escape: Expr | None = None
    negated: bool = False


@record(eq=False, text=False)
class Between(Expr):
    """`x [NOT] BETWEEN low AND high`."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool = False


@record(eq=False, text=False)
class InList(Expr):
    """`x [NOT] IN (a, b)`."""

    operand: Expr
    items: tuple[Expr, ...]
    negated: bool = False


@record(eq=False, text=False)
class InSelect(Expr):
    """`x [NOT] IN (SELECT ...)`."""

    operand: Expr
    select: Select
    negated: bool = False


@record(eq=False, text=False)
class Quantified(Expr):
    """`x < ANY (SELECT ...)`, with `every` `x < ALL (SELECT ...)`, also of the elements of a list."""

    operand: Expr
    op: str
    select: Select
    every: bool


@record(eq=False, text=False)
class InUnit(Expr):
    """`x IN ms`: conversion to a unit, or attaching one to a bare number."""

    operand: Expr
    unit: str
    unit_place: Place | None = field(default=None, compare=False, repr=False)


@record(eq=False, text=False)
class Case(Expr):
    """`CASE [operand] WHEN a THEN b ... [ELSE c] END`."""

    operand: Expr | None
    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None = None


@record(eq=False, text=False)
class Cast(Expr):
    """`CAST(x AS type)`, `x::type`, `TRY_CAST(x AS type)`."""

    operand: Expr
    type: TypeName
    lenient: bool = False


@record(eq=False, text=False)
class TypeName(Node):
    """A type as written: `INT64`, `DECIMAL(18, 3)`, `VARCHAR[]`."""

    name: str
    """Upper case; several words joined by one blank (`DOUBLE PRECISION`)."""
    arguments: tuple[int, ...] = ()
    dimensions: tuple[int | None, ...] = ()
    """The lengths in the brackets that follow, None for those of a list."""
    members: tuple[tuple[Name | None, TypeName], ...] = ()
    """Members of a STRUCT or UNION, with names; key and value of a MAP, without."""
    labels: tuple[str, ...] = ()
    """Values of an ENUM, in order."""


@record(eq=False, text=False)
class Collate(Expr):
    """`x COLLATE name`: a text that is compared by a collation."""

    operand: Expr
    collation: Path


@record(eq=False, text=False)
class Exists(Expr):
    """`EXISTS (SELECT ...)`."""

    select: Select


@record(eq=False, text=False)
class ScalarSelect(Expr):
    """A subquery in parentheses used as one value."""

    select: Select


@record(eq=False, text=False)
class Call(Expr):
    """A call of a scalar, aggregate or window function."""

    function: Path
    arguments: tuple[Expr, ...] = ()
    keywords: tuple[tuple[Name, Expr], ...] = ()
    distinct: bool = False
    order_by: tuple[OrderTerm, ...] = ()
    filter: Expr | None = None
    nulls: OneOf["IGNORE", "RESPECT"] | None = None
    over: Window | Name | None = None
    exported: bool = False
    """Whether it is the state of an aggregate that is wanted, and not its value."""


@record(eq=False, text=False)
class Bound(Node):
    """One end of a window frame; `offset` is set for PRECEDING and FOLLOWING with a number."""

    kind: OneOf["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING", "CURRENT ROW", "PRECEDING", "FOLLOWING"]
    offset: Expr | None = None


@record(eq=False, text=False)
class Frame(Node):
    """`ROWS BETWEEN a AND b`; `stop` is None for the short form `ROWS a`."""

    unit: OneOf["ROWS", "RANGE", "GROUPS"]
    start: Bound
    stop: Bound | None = None
    exclude: OneOf["CURRENT ROW", "GROUP", "TIES"] | None = None


@record(eq=False, text=False)
class Window(Node):
    """The definition of a window; `base` names another window that it refines."""

    base: Name | None = None
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[OrderTerm, ...] = ()
    frame: Frame | None = None


@record(eq=False, text=False)
class OrderTerm(Node):
    """One term of ORDER BY; a star is `ALL`, all columns of the result."""

    expr: Expr
    descending: bool = False
    nulls: OneOf["FIRST", "LAST"] | None = None


@record(eq=False, text=False)
class ListArgument(Node):
    """`[a, b]`."""

    items: tuple[Argument, ...]


@record(eq=False, text=False)
class DictArgument(Node):
    """`{key=>value}`; keys in the order written."""

    items: tuple[tuple[Name, Argument], ...]


@record(eq=False, text=False)
class TableArgument(Node):
    """A table by name."""

    path: Path


@record(eq=False, text=False)
class CallArgument(Node):
    """A nested call of a table-valued function."""

    call: TableCall


@record(eq=False, text=False)
class SelectArgument(Node):
    """A subquery."""

    select: Select


@record(eq=False, text=False)
class ValueArgument(Node):
    """A literal, bind parameter, or arithmetic over them; `"cpu"` is a string here."""

    expr: Expr


Argument = ListArgument | DictArgument | TableArgument | CallArgument | SelectArgument | ValueArgument


@record(eq=False, text=False)
class TableName(Table):
    """A table or view by name."""

    path: Path
    alias: Alias | None = None


@record(eq=False, text=False)
class TableFile(Table):
    """A file in FROM."""

    file: String
    alias: Alias | None = None
    table: Path | None = None
    """The table of the file, None for its only one."""


@record(eq=False, text=False)
class TableCall(Table):
    """A call of a table-valued function."""

    path: Path
    arguments: tuple[Argument, ...] = ()
    keywords: tuple[tuple[Name, Argument], ...] = ()
    alias: Alias | None = None


@record(eq=False, text=False)
class TableSelect(Table):
    """A subquery in FROM."""

    select: Select
    alias: Alias | None = None
    lateral: bool = field(default=False, compare=False)
    """Whether the text has LATERAL; any subquery may read columns of the tables before it."""


@record(eq=False, text=False)
class TableSample(Table):
    """`table TABLESAMPLE sample`."""

    table: Table
    sample: Sample

    @property
    def alias(self) -> Alias | None:
        """The alias of the table."""
        alias: Alias | None = getattr(self.table, "alias", None)
        return alias


@record(eq=False, text=False)
class Join(Table):
    """A conventional join; a comma is `INNER` with neither `on` nor `using` and `comma` set."""

    kind: OneOf["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ASOF", "ASOF LEFT", "SEMI", "ANTI", "POSITIONAL"]
    left: Table
    right: Table
    on: Expr | None = None
    using: tuple[Name, ...] = ()
    comma: bool = field(default=False, compare=False)
    natural: bool = False
    """Whether columns of the same name are compared."""
    nearest: Nearest | None = None


@record(eq=False, text=False)
class SpanJoin(Table):
    """`left SPAN [INNER|OUTER|LEFT|RIGHT] JOIN right [PARTITION AS name]`."""

    kind: OneOf["INNER", "OUTER", "LEFT", "RIGHT"]
    left: Table
    right: Table
    partition_as: Name | None = None


@record(eq=False, text=False)
class SpanBroadcast(Table):
    """`left SPAN [INNER|OUTER] BROADCAST INTO|FROM right [PARTITION AS name]`."""

    kind: OneOf["INNER", "OUTER"]
    direction: OneOf["INTO", "FROM"]
    left: Table
    right: Table
    partition_as: Name | None = None


@record(eq=False, text=False)
class GroupBy(Node):
    """`GROUP BY a, b`; with `all`, `GROUP BY ALL`."""

    items: tuple[Expr | GroupingSets, ...] = ()
    all: bool = False


@record(eq=False, text=False)
class GroupingSets(Node):
    """`ROLLUP (...)`, `CUBE (...)` or `GROUPING SETS ((a), ())`; each set is a tuple of expressions, or has several."""

    kind: OneOf["ROLLUP", "CUBE", "GROUPING SETS"]
    sets: tuple[tuple[Expr, ...] | GroupingSets, ...]


@record(eq=False, text=False)
class GroupUsingPartition(Node):
    """`GROUP [AND UNION|INTERSECT] USING PARTITION [(names)]`."""

    intersect: bool = False
    names: tuple[Name, ...] = ()


@record(eq=False, text=False)
class GroupUsingSpans(Node):
    """`GROUP [AND UNION|INTERSECT] USING SPANS FROM table`."""

    table: Table
    intersect: bool = False


@record(eq=False, text=False)
class Core(Node):
    """A select core."""

    columns: tuple[ResultColumn, ...]
    kind: OneOf["REGULAR", "SPAN", "EVENT"] = "REGULAR"
    distinct: bool = False
    source: Table | None = None
    where: Expr | None = None
    group: GroupBy | GroupUsingPartition | GroupUsingSpans | None = None
    having: Expr | None = None
    qualify: Expr | None = None
    windows: tuple[tuple[Name, Window], ...] = ()
    distinct_on: tuple[Expr, ...] = ()
    """Keys of DISTINCT ON: of rows with equal keys, the first one is kept."""
    sample: Sample | None = None
    """The USING SAMPLE clause over the rows of `source`."""


@record(eq=False, text=False)
class Values(Node):
    """`VALUES (1, 'a'), (2, 'b')`."""

    rows: tuple[tuple[Expr, ...], ...]


@record(eq=False, text=False)
class Compound(Node):
    """`part UNION|INTERSECT|EXCEPT [ALL] [BY NAME] part ...`: one node for a chain, so that trees are not deep."""

    op: OneOf["UNION", "INTERSECT", "EXCEPT"]
    parts: tuple[Body, ...]
    """Two or more; the first is no Compound of the same operator with the same words."""
    all: bool = False
    by_name: bool = False
    """Whether columns are matched by their names, not by position."""


@record(eq=False, text=False)
class CommonTable(Node):
    """One `name (columns) AS (select)` of a WITH."""

    name: Name
    select: Select
    columns: tuple[Name, ...] = ()
    materialized: bool | None = None
    """Whether the text has [NOT] MATERIALIZED; a table that is read twice is computed once in any case."""
    keys: tuple[ResultColumn, ...] = ()
    """The items of USING KEY: columns, and aggregates of others."""


@record(eq=False, text=False)
class Select(Node):
    """A whole select: parentheses around a body become a Select of their own only where they hold more than a body."""

    body: Body
    ctes: tuple[CommonTable, ...] = ()
    recursive: bool = False
    order_by: tuple[OrderTerm, ...] = ()
    limit: Expr | None = None
    offset: Expr | None = None


Body = Core | Values | Compound | Select


@record(eq=False, text=False)
class SelectStatement(Node):
    """A query."""

    select: Select


@record(eq=False, text=False)
class CreateView(Node):
    """`CREATE [OR REPLACE] [RECURSIVE] VIEW [IF NOT EXISTS] path (columns) AS select`."""

    path: Path
    select: Select
    columns: tuple[Name, ...] = ()
    replace: bool = False
    recursive: bool = False
    """Whether the select may read the view's own rows."""
    if_not_exists: bool = False


@record(eq=False, text=False)
class DropView(Node):
    """`DROP VIEW [IF EXISTS] path`."""

    path: Path
    if_exists: bool = False


@record(eq=False, text=False)
class CreateStateSystem(Node):
    """`CREATE [OR REPLACE] STATE SYSTEM path [WITH (key => value)] AS select`."""

    path: Path
    select: Select
    replace: bool = False
    options: tuple[tuple[Name, Argument], ...] = ()


@record(eq=False, text=False)
class DropStateSystem(Node):
    """`DROP STATE SYSTEM [IF EXISTS] path`."""

    path: Path
    if_exists: bool = False


@record(eq=False, text=False)
class DropAll(Node):
    """`DROP ALL path`: unmounts a trace or drops a namespace."""

    path: Path


@record(eq=False, text=False)
class MountTrace(Node):
    """`MOUNT TRACE 'file' AS path [WITH (key => value)]`."""

    file: String
    path: Path
    options: tuple[tuple[Name, Argument], ...] = ()


@record(eq=False, text=False)
class MountTraces(Node):
    """`MOUNT TRACES 'pattern' AS path [WITH (key => value)]`."""

    file: String
    path: Path
    options: tuple[tuple[Name, Argument], ...] = ()


@record(eq=False, text=False)
class Set(Node):
    """`SET name = expr`."""

    path: Path
    value: Expr


@record(eq=False, text=False)
class Explain(Node):
    """`EXPLAIN [ANALYZE | (SQL)] select`."""

    select: Select
    manner: OneOf["PLAN", "ANALYZE", "SQL"] = "PLAN"


@record(eq=False, text=False)
class Describe(Node):
    """`DESCRIBE path` or `DESCRIBE select`; `SHOW COLUMNS FROM path` is the same."""

    subject: Path | Select


@record(eq=False, text=False)
class Summarize(Node):
    """`SUMMARIZE path` or `SUMMARIZE select`."""

    subject: Path | Select


@record(eq=False, text=False)
class ShowTables(Node):
    """`SHOW TABLES [FROM path]`."""

    path: Path | None = None


@record(eq=False, text=False)
class Assert(Node):
    """`ASSERT expr [, message]`; `ASSERT (select)` has a ScalarSelect and fails if that returns rows."""

    expr: Expr
    message: Expr | None = None


Change = MountTrace | MountTraces | CreateView | CreateStateSystem | DropView | DropStateSystem | DropAll | Set
Statement = SelectStatement | Change | Explain | Describe | Summarize | ShowTables | Assert
