"""Find exact quantiles over many traces in two passes, each of which moves few values.

First each trace returns, for each group, the number of its values and some of them by rank: denser near the wanted
ranks. Together these bound how many values of all traces are below or above a value, so the **bounds** of a wanted
rank, two of the values, are certain: the value of that rank lies between them. In the second pass each trace counts
its values below the lower bound, and returns those between the bounds; the value of a rank is among them.

Sound because the bounds are never too tight. If a value lies between two neighbours of those that a trace returned,
which have ranks `i` and `j`, then `i` to `j` values of that trace are less. For the lower bound each trace counts with
the greater number, for the upper one with the smaller; rounding may be off by one in each trace, and by two in the
wanted rank itself. A trace with few values of a group returns none, and any number of them may be less. Where bounds
are not known, as in groups that no trace has many values of, all values are returned. If there are so many groups that
most are such, no bounds are given at all, and all rows are moved instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from dctv.plan.build import (
    STAR,
    all_of,
    any_of,
    at_least,
    call,
    columns,
    greater,
    grouped,
    is_not_null,
    join,
    minus,
    named,
    not_distinct,
    number,
    over,
    plus,
    select,
    times,
)
from dctv.plan.expressions import NULL, TRUE, Call, Case, Cast, Column, Expression, IsNull, List, Number, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.record import record, replace
from dctv.rewrite.ranked_values import Rank, RankedValues
from dctv.types.schema import ColumnType

_STEPS = tuple(Decimal(1) / 4**power for power in range(1, 6))
"""Distances from a wanted share at which the first pass returns values."""
_EVEN = tuple(Decimal(place) / 8 for place in range(9))
"""More of these shares, since a value may have another rank in each trace."""
_FEW = 1_000
"""With fewer values of a group, a trace returns none of them in the first pass."""
_MOST_GROUPS = 10_000
"""With more groups, there are no bounds: a second pass would not pay."""


@record
class BoundedValues:
    """The values of which a select asks quantiles, found between bounds."""

    ranked: RankedValues

    @property
    def table(self) -> str:
        """The name of the table of bounds in the second pass."""
        return f"bounds of {self.ranked.source}"

    def first(self) -> Mapping[str, Expression]:
        """Return what each trace returns of a group in the first pass: how many values, and some of them by rank."""
        count, value = self.ranked.count, self.ranked.value
        ranks = List(tuple(Number(f"{share:f}") for share in self._grid()))
        some = Call("quantile_disc", (value, ranks), filter=self.ranked.test)
        return {"count": count, "some": Cast(Case(((at_least(count, number(_FEW)), some),)), f"{self.ranked.kind}[]")}

    def of_some_groups(self, each: Query) -> Select:
        """Return the first pass of a trace with one group more than there may be, if it has so many."""
        assert isinstance(each, Select)
        return replace(each, limit=number(_MOST_GROUPS + 1))

    def _grid(self) -> list[Decimal]:
        wanted = [Decimal(share) for share in self.ranked.shares]
        near = (one + step * sign for one in wanted for step in _STEPS for sign in (1, -1))
        return sorted({*wanted, *_EVEN, *(one for one in near if 0 < one < 1)})

    def bounds(self, keys: Sequence[ColumnType], source: str) -> tuple[Sequence[ColumnType], Select]:
        """Return a query of the bounds of each group, with its columns, over the rows of the first pass."""
        by = columns(one.name for one in keys)
        schema = [replace(one, name=_own(one.name)) for one in keys]
        items = named(by, (one.name for one in schema))
        for place, share in enumerate(self.ranked.shares):
            rank = call("floor", times(Cast(Number(share), "DOUBLE"), Column("total")))
            is_low = greater(minus(rank, plus(Column("slack"), number(1))), Column("most"))
            is_high = greater(Column("least"), plus(rank, plus(Column("slack"), number(2))))
            ends = (("max", is_low, _low(place)), ("min", is_high, _high(place)))
            items += [Item(Call(function, (Column("value"),), filter=test), name) for function, test, name in ends]
            schema += [ColumnType(name, self.ranked.kind) for _, _, name in ends]
        found = grouped(select(*items, source=self._ranks(by, source)), by)
        few = at_least(number(_MOST_GROUPS), over(call("count", Star())))
        return schema, replace(found, qualify=few)

    def _ranks(self, by: Sequence[Expression], source: str) -> Select:
        """Return the values of the first pass, each with how many of all are less at most, and not more at least."""
        shares: list[Expression] = [Number(f"{share:f}") for share in self._grid()]
        few = Case(((IsNull(Column("some")), Column("count")),), number(0))
        traces = select(
            STAR,
            Item(over(call("sum", Column("count")), by), "total"),
            Item(over(call("sum", plus(few, number(1))), by), "slack"),
            source=source,
        )
        lists: Mapping[str, Sequence[Expression]] = {
            "share": shares,
            "before": [NULL, *shares[:-1]],
            "after": [*shares[1:], NULL],
        }
        values = select(
            *map(Item, (*by, *columns(("count", "total", "slack")))),
            Item(call("unnest", Column("some")), "value"),
            *(Item(call("unnest", List(tuple(of))), name) for name, of in lists.items()),
            source=traces,
        )
        rank, last, following = map(_rank, lists)
        up = call("sum", minus(call("coalesce", following, Column("count")), rank))
        down = call("sum", minus(rank, call("coalesce", last, number(-1))))
        order = [Column("value")]
        return select(
            *map(Item, (*by, *columns(("total", "slack", "value")))),
            Item(call("coalesce", over(up, by, order, before=True), number(0)), "most"),
            Item(over(down, by, order), "least"),
            source=values,
        )

    def bounded(self, each: Query, keys: Sequence[tuple[str, Expression]]) -> Select:
        """Return the second pass of each trace: its rows know the bounds of their groups."""
        assert isinstance(each, Select)
        tests = [not_distinct(value, Column(_own(name), self.table)) for name, value in keys]
        return join(each, self.table, self.table, tests or [TRUE], "LEFT")

    def found(self, node: Call, part: Callable[[Expression], Expression]) -> Expression:
        """Return quantiles over the rows of the second pass, to which `part` adds a value of each trace."""
        known = self.ranked
        count = call("sum", part(known.count))

        def value(share: str, rank: Rank) -> Expression:
            low, high = (Column(end(known.shares.index(share)), self.table) for end in (_low, _high))
            less, within = greater(low, known.value), [any_of([IsNull(low), at_least(known.value, low)])]
            within += [any_of([IsNull(high), at_least(high, known.value)]), is_not_null(known.value)]
            own = [] if known.test is None else [known.test]
            below = call("sum", part(Call("count", (known.value,), filter=all_of([*own, less]))))
            values = call("list", part(Call("list", (known.value,), filter=all_of([*own, *within]))))
            place = minus(plus(Cast(rank(count), "HUGEINT"), number(1)), below)
            return call("list_extract", call("list_sort", call("flatten", values)), Cast(place, "BIGINT"))

        return known.quantile(node, count, value)


def _rank(share: str) -> Expression:
    """Return the rank of the value of a share in its trace, from 0; that of share 0 is -1, which is off by one."""
    before = call("ceil", times(Cast(Column(share), "DOUBLE"), Column("count")))
    return Cast(minus(before, number(1)), "BIGINT")


def _own(name: str) -> str:
    """Return the name of a column of the bounds, which no table has."""
    return f"bounds: {name}"


def _low(place: int) -> str:
    return _own(f"low{place}")


def _high(place: int) -> str:
    return _own(f"high{place}")
