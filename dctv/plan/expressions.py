"""Expressions of the plan: columns, literals, calls and compounds of these; each engine writes them in its SQL.

They are frozen and compared by value, so plans can share parts, and nothing is ever copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dctv.errors import Place
from dctv.plan.node import Node, Query
from dctv.record import field, record


class Expression(Node):
    """Something that has a value for each row, or for each group of rows."""

    __slots__ = ()


@record
class Column(Expression):
    """A column of a source of the query, or of one around it."""

    name: str
    table: str | None = None
    """The name of the source in the query; None where only one is possible."""


@record
class Star(Expression):
    """All columns, or those of one source; also the argument of `count(*)`."""

    table: str | None = None


@record
class Null(Expression):
    """The missing value."""


@record
class Boolean(Expression):
    """TRUE or FALSE."""

    value: bool


@record
class Number(Expression):
    """A number without a sign, as it is written: `12`, `0.5`, `5e-1`; one with an exponent is a double."""

    text: str


@record
class Text(Expression):
    """A string."""

    value: str
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where a user has written it, for errors of the run."""


@record
class Unary(Expression):
    """A prefix operator: `-`, `~` or `NOT`."""

    operator: str
    operand: Expression


@record
class Binary(Expression):
    """An infix operator: arithmetic, bits, `||`, and comparisons, `<=>` and `<!=>` being those that know NULL."""

    operator: str
    left: Expression
    right: Expression
    place: Place | None = field(default=None, compare=False, repr=False)
    """See `Text.place`."""


@record
class And(Expression):
    """All of two or more conditions."""

    parts: tuple[Expression, ...]


@record
class Or(Expression):
    """One of two or more conditions."""

    parts: tuple[Expression, ...]


@record
class IsNull(Expression):
    """Whether a value is missing."""

    operand: Expression


@record
class Like(Expression):
    """Whether a text matches a pattern, by LIKE, ILIKE or GLOB."""

    operator: str
    operand: Expression
    pattern: Expression
    escape: Expression | None = None


@record
class Between(Expression):
    """Whether a value lies within two bounds, both included."""

    operand: Expression
    low: Expression
    high: Expression


@record
class InList(Expression):
    """Whether a value is one of some."""

    operand: Expression
    items: tuple[Expression, ...]


@record
class InQuery(Expression):
    """Whether a comparison of a value holds for one row of a query, or for every row; `=` with one row is IN."""

    operand: Expression
    query: Query
    operator: str = "="
    every: bool = False

    @property
    def words(self) -> str:
        """What stands between the value and the query: `IN`, `< ANY`, `>= ALL`."""
        if (self.operator, self.every) == ("=", False):
            return "IN"
        return f"{self.operator} {'ALL' if self.every else 'ANY'}"


@record
class Exists(Expression):
    """Whether a query has rows."""

    query: Query


@record
class Subquery(Expression):
    """The one value of a query."""

    query: Query
    place: Place | None = field(default=None, compare=False, repr=False)
    """See `Text.place`."""


@record
class Case(Expression):
    """The value of the first branch whose test holds, or whose value equals the operand."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None
    operand: Expression | None = None


@record
class Cast(Expression):
    """A value as another type, as the engine names it; a lenient one is NULL where it cannot be."""

    operand: Expression
    type: str
    lenient: bool = False
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where a user has written it, for errors of the run."""


@record(eq=False)
class TraceStarts:
    """The wall-clock times of time 0 of traces, in ns since 1970, by trace; others are omitted."""

    of: Mapping[str, int]


@record
class StartOf(Expression):
    """The wall-clock time of time 0 of a trace, given its name; NULL if unknown."""

    trace: Expression
    starts: TraceStarts


@record
class OfTrace(Expression):
    """A value that a trace of a fleet has in all of its rows, not NULL: it stands for those of traces with one plan."""

    column: str
    type: str


@record
class Collate(Expression):
    """A text that is compared by a collation."""

    operand: Expression
    collation: str
    """With dots between several."""


@record
class Row(Expression):
    """Several values that are compared at once."""

    items: tuple[Expression, ...]


@record
class List(Expression):
    """A list of values."""

    items: tuple[Expression, ...]


@record
class Struct(Expression):
    """A struct of members, each with its name."""

    names: tuple[str, ...]
    members: tuple[Expression, ...]


@record
class Lambda(Expression):
    """A lambda, applied to each element of a list; in its body, the parameters are columns without a table."""

    parameters: tuple[str, ...]
    body: Expression


@record
class Keyword(Expression):
    """An argument that is given by name."""

    name: str
    value: Expression


@record
class Ordered(Expression):
    """A sort key and its direction; NULLs come last by default."""

    operand: Expression
    descending: bool = False
    nulls_first: bool = False


@record
class Percent(Expression):
    """A share of the rows that there are, as a limit."""

    operand: Expression


@record
class Call(Expression):
    """A call of a scalar, aggregate or window function."""

    function: str
    """In lower case, but for functions of our own."""
    arguments: tuple[Expression, ...] = ()
    distinct: bool = False
    order_by: tuple[Ordered, ...] = ()
    """In which order an aggregate meets its rows."""
    filter: Expression | None = None
    nulls: Literal["IGNORE", "RESPECT"] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)
    """See `Text.place`."""


@record
class State(Expression):
    """The state of an aggregate over its rows, which can be finalized, or merged with other states first."""

    call: Call


@record
class FrameEnd(Expression):
    """One end of a frame."""

    kind: Literal["UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"]
    offset: Expression | None = None


@record
class Frame(Expression):
    """The rows around a row that a window function looks at."""

    unit: Literal["ROWS", "RANGE", "GROUPS"]
    start: FrameEnd
    stop: FrameEnd
    exclude: Literal["CURRENT ROW", "GROUP", "TIES"] | None = None
    """Which of the rows around it are left out: the row itself, it and its equals, or only its equals."""


@record
class Window(Expression):
    """A call over a window."""

    call: Call
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[Ordered, ...] = ()
    frame: Frame | None = None


NULL, TRUE, FALSE = Null(), Boolean(value=True), Boolean(value=False)

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "<=>", "<!=>")
