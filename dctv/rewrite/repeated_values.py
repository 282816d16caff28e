"""Find exact quantiles over many traces in one pass, where values repeat.

Each trace groups by the value, too, and counts how often it occurs. Equal values of all traces are merged, and their
numbers are summed up in the order of values: the value of a rank is the smallest one up to which more values are
counted. That moves few rows, and takes memory for different values only, where a value occurs often, as durations
measured in microseconds do. Whether that is so is found in a sample of the traces first (`repeat`).

Other aggregates of the select are those of the smaller groups, combined twice. Floats are left to two passes: equal
ones may be written differently (0 and -0), and their sums would depend on the order of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dctv.plan.build import STAR, call, columns, greater, grouped, number, over, select, times
from dctv.plan.expressions import Call, Cast, Column, Expression, State
from dctv.plan.node import Query
from dctv.plan.queries import Derived, Item, Select, TableName
from dctv.plan.walk import replaced
from dctv.record import record
from dctv.rewrite.ranked_values import Rank, RankedValues
from dctv.types.schema import TS, ColumnType, Schema
from dctv.types.values import is_float

VALUE = "ranked"
"""The column of each trace's rows with the value."""
_UP_TO, _TOTAL = "up to", "total"
"""The number of values of a group that are not greater than one of them, and of all."""
COMBINED = {
    **dict.fromkeys(("count", "count_star", "regr_count", "count_if", "countif", "sum"), "sum"),
    **{name: name for name in ("min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")},
}
"""By aggregate, the function that combines its partial results to one of more rows."""
_OFTEN = 8
"""Values repeat if each occurs this many times on average."""


@record
class RepeatedValues:
    """The values of which a select asks quantiles, counted by each trace."""

    ranked: RankedValues

    def found(self, node: Call, part: Callable[[Expression], Expression]) -> Expression:
        """Return quantiles over merged values, to which `part` adds a value of each trace."""

        def value(_: str, rank: Rank) -> Expression:
            counted = greater(Column(_UP_TO), Cast(rank(Column(_TOTAL)), "HUGEINT"))
            return Call("min", (Column(VALUE),), filter=counted)

        return self.ranked.quantile(node, call("sum", part(self.ranked.count)), value)

    def over_merged(
        self, query: Query, source: TableName, schema: Schema, keys: Sequence[str], values: Mapping[str, Expression]
    ) -> Query | None:
        """Let a query read merged values in place of the rows of all traces; None if other results do not combine.

        The traces' rows have a schema: the keys, the ranked value, and other values.
        """
        functions = {
            name: COMBINED.get(one.function) if isinstance(one, Call) else None for name, one in values.items()
        }
        types = {one.name: one.type for one in schema.columns}
        combine = [
            Item(call(function, Column(name)), name) for name, function in functions.items() if function is not None
        ]
        sums = (types[name] for name, function in functions.items() if function == "sum")
        if len(combine) < len(values) or any(map(is_float, sums)):
            return None
        by, count = columns(keys), next(name for name, one in values.items() if one == self.ranked.count)
        merged = grouped(select(*keys, VALUE, *combine, source=source), (*keys, VALUE))
        up_to = over(call("sum", Column(count)), by, [Column(VALUE)])
        ranked = select(STAR, Item(up_to, _UP_TO), Item(over(call("sum", Column(count)), by), _TOTAL), source=merged)
        return replaced(query, lambda node: Derived(ranked, source.called) if node == source else None)

    def sample(self, keys: Sequence[Expression]) -> Mapping[str, Expression]:
        """Return what the traces of a sample return: the number of values, and a state to estimate how many differ."""
        different = Call("approx_count_distinct", (call("hash", *keys, self.ranked.value),), filter=self.ranked.test)
        return {"values": self.ranked.count, "different": State(different)}

    def repeat(self, source: str) -> tuple[ColumnType, Select]:
        """Return a query of whether values repeat, with its column, over the rows of the sample."""
        different = call("finalize", call("combine_aggr", Column("different")))
        test = greater(call("sum", Column("values")), times(different, number(_OFTEN)))
        return ColumnType("repeat", "BOOLEAN"), select(Item(test, "repeat"), source=source)


def repeated(ranked: RankedValues) -> RepeatedValues | None:
    """Return the values as such that may repeat; None for floats, and for times, which hardly do."""
    is_time = isinstance(ranked.value, Column) and ranked.value.name == TS
    return None if is_time or is_float(ranked.kind) else RepeatedValues(ranked)
