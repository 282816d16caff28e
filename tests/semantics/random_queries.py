"""Random queries in the part of the dialect that is DuckDB's, with the same meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

Columns = Sequence[tuple[str, str]]
"""Names and types of columns."""

TABLES: Mapping[str, Mapping[str, str]] = {
    "a": {"i": "BIGINT", "j": "BIGINT", "s": "VARCHAR", "x": "DOUBLE", "b": "BOOLEAN", "l": "BIGINT[]"},
    "c": {"k": "BIGINT", "i": "BIGINT", "t": "TIMESTAMP", "s": "VARCHAR", "l": "BIGINT[]"},
}
VALUES: Mapping[str, Sequence[str]] = {
    "BIGINT": ("0", "1", "2", "3", "-1", "NULL::BIGINT"),
    "VARCHAR": ("'a'", "'b'", "'ab'", "''", "'B'", "'1'", "NULL::VARCHAR"),
    "DOUBLE": ("0.5::DOUBLE", "1.5::DOUBLE", "-2.25::DOUBLE", "NULL::DOUBLE"),
    "BOOLEAN": ("TRUE", "FALSE", "NULL::BOOLEAN"),
    "TIMESTAMP": ("TIMESTAMP '2024-02-29 12:30:15.5'", "TIMESTAMP '1969-12-31 23:59:59'", "NULL::TIMESTAMP"),
    "BIGINT[]": ("[1, 2, 3]", "[3, NULL, 1]", "[]::BIGINT[]", "NULL::BIGINT[]"),
}
_FORMS: Mapping[str, Sequence[str]] = {
    "BIGINT": (
        *("({BIGINT} + {BIGINT})", "({BIGINT} - {BIGINT})", "({BIGINT} * {BIGINT})", "-({BIGINT})", "abs({BIGINT})"),
        *("({BIGINT} // NULLIF({BIGINT}, 0))", "({BIGINT} % NULLIF({BIGINT}, 0))", "({BIGINT} & {BIGINT})"),
        *("CASE WHEN {BOOLEAN} THEN {BIGINT} ELSE {BIGINT} END", "CASE {BIGINT} WHEN {BIGINT} THEN {BIGINT} END"),
        *("coalesce({BIGINT}, {BIGINT})", "nullif({BIGINT}, {BIGINT})", "greatest({BIGINT}, {BIGINT})"),
        *("length({VARCHAR})", "instr({VARCHAR}, {VARCHAR})", "TRY_CAST({VARCHAR} AS BIGINT)", "({BOOLEAN})::BIGINT"),
        *("({BIGINT[]})[1]", "({BIGINT[]})[-1]", "length({BIGINT[]})", "list_max({BIGINT[]})"),
        *("extract('year' FROM {TIMESTAMP})::BIGINT", "date_diff('hour', {TIMESTAMP}, {TIMESTAMP})"),
        *("(SELECT max({inner BIGINT}) FROM {from})", "(SELECT count(*) FROM {from} WHERE {inner BOOLEAN})"),
    ),
    "VARCHAR": (
        *("({VARCHAR} || {VARCHAR})", "upper({VARCHAR})", "substr({VARCHAR}, {BIGINT}, 2)", "left({VARCHAR}, 1)"),
        *("CASE WHEN {BOOLEAN} THEN {VARCHAR} END", "coalesce({VARCHAR}, {VARCHAR})", "({BIGINT})::VARCHAR"),
        *(
            "replace({VARCHAR}, 'a', 'bb')",
            "regexp_replace({VARCHAR}, '[ab]', 'z', 'g')",
            "concat({VARCHAR}, {BIGINT})",
        ),
        *("({BIGINT[]})::VARCHAR", "({TIMESTAMP})::VARCHAR", "array_to_string({BIGINT[]}, '-')"),
    ),
    "DOUBLE": (
        *("({DOUBLE} + {BIGINT})", "({DOUBLE} * {DOUBLE})", "round({DOUBLE}, 1)", "({BIGINT})::DOUBLE"),
        *("({BIGINT} / NULLIF({BIGINT}, 0))", "({DOUBLE} / NULLIF({DOUBLE}, 0))", "floor({DOUBLE})"),
        *("CASE WHEN {BOOLEAN} THEN {DOUBLE} ELSE {DOUBLE} END", "list_avg({BIGINT[]})", "epoch({TIMESTAMP})"),
    ),
    "BOOLEAN": (
        *("({BIGINT} {op} {BIGINT})", "({VARCHAR} {op} {VARCHAR})", "({DOUBLE} {op} {DOUBLE})", "(NOT {BOOLEAN})"),
        *("({BOOLEAN} AND {BOOLEAN})", "({BOOLEAN} OR {BOOLEAN})", "({VARCHAR} IS NULL)", "({BOOLEAN} IS NOT TRUE)"),
        *("({BIGINT} IN ({BIGINT}, {BIGINT}))", "({BIGINT} NOT IN (1, NULL))", "({VARCHAR} LIKE 'a%')"),
        *("({BIGINT} BETWEEN {BIGINT} AND {BIGINT})", "({VARCHAR} IS DISTINCT FROM {VARCHAR})"),
        *("(({BIGINT}, {VARCHAR}) = ({BIGINT}, {VARCHAR}))", "list_contains({BIGINT[]}, {BIGINT})"),
        *("({BIGINT} IN (SELECT {inner BIGINT} FROM {from}))", "({BIGINT} <= ALL (SELECT {inner BIGINT} FROM {from}))"),
        *("EXISTS (SELECT 1 FROM {from} WHERE {inner BOOLEAN})", "({TIMESTAMP} {op} {TIMESTAMP})"),
    ),
    "TIMESTAMP": (
        *("date_trunc('month', {TIMESTAMP})", "({TIMESTAMP} - INTERVAL 2 hours)", "coalesce({TIMESTAMP}, {TIMESTAMP})"),
    ),
    "BIGINT[]": (
        *("list_filter({BIGINT[]}, LAMBDA v: v > {BIGINT})", "list_transform({BIGINT[]}, LAMBDA v: v + {BIGINT})"),
        *("list_concat({BIGINT[]}, {BIGINT[]})", "list_sort({BIGINT[]})", "[{BIGINT}, {BIGINT}]"),
    ),
}
_AGGREGATES: Mapping[str, Sequence[str]] = {
    "BIGINT": (
        *("count(*){filter}", "count({VARCHAR}){filter}", "count(DISTINCT {BIGINT}){filter}", "min({BIGINT}){filter}"),
        *("sum({BIGINT}){filter}::BIGINT", "quantile_disc({BIGINT}, 0.5){filter}", "bit_xor({BIGINT}){filter}"),
    ),
    "VARCHAR": ("min({VARCHAR}){filter}", "max({VARCHAR})"),
    "DOUBLE": ("avg({BIGINT}){filter}", "median({BIGINT})", "stddev_pop({BIGINT}){filter}", "max({DOUBLE})"),
    "BOOLEAN": ("bool_or({BOOLEAN}){filter}", "bool_and({BOOLEAN})"),
    "TIMESTAMP": ("min({TIMESTAMP}){filter}", "max({TIMESTAMP})"),
    "BIGINT[]": ("list_sort(list({BIGINT}){filter})", "list_sort(list(DISTINCT {BIGINT}))"),
}
_WINDOWS: Mapping[str, Sequence[str]] = {
    "BIGINT": (
        *("rank() OVER ({partition} ORDER BY {BIGINT} DESC)", "dense_rank() OVER (ORDER BY {DOUBLE}, {VARCHAR})"),
        *("sum({BIGINT}) OVER ({partition} ORDER BY {all} {frame})::BIGINT", "count({BIGINT}) OVER ({partition})"),
        "first_value({BIGINT} IGNORE NULLS) OVER ({partition} ORDER BY {all} {frame})",
        *("lead({BIGINT}, 1, {BIGINT}) OVER ({partition} ORDER BY {all})", "ntile(3) OVER (ORDER BY {all})"),
    ),
    "VARCHAR": (
        *("lag({VARCHAR}) OVER ({partition} ORDER BY {all})", "max({VARCHAR}) OVER ({partition} ORDER BY {BIGINT})"),
        "min({VARCHAR}) FILTER (WHERE {BOOLEAN}) OVER ({partition} ORDER BY {all} {frame})",
    ),
}
_PIECES: Mapping[str, Sequence[str]] = {
    "op": ("=", "<>", "<", "<=", ">", ">="),
    "filter": ("", "", " FILTER (WHERE {BOOLEAN})"),
    "partition": ("", "PARTITION BY {BIGINT}", "PARTITION BY {BOOLEAN}, {VARCHAR}", "PARTITION BY {DOUBLE}"),
    "frame": (
        *("ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", ""),
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    ),
}
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")
_SETS = ("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL")
_SLOT = re.compile(r"\{([^{}]+)\}")
_DEEP = 3
"""Expressions this deep are columns and literals."""


class RandomQueries:
    """Makes queries; their results do not depend on the order of rows."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def query(self, depth: int = 0) -> tuple[str, Columns]:
        """Return a query and its columns."""
        way = self._random.random()
        if depth < 2 and way < 0.12:
            return self._of_sets(depth)
        if depth < 2 and way < 0.24:
            return self._with_step(depth)
        source, columns = self._source(depth)
        where = f" WHERE {self._expression('BOOLEAN', columns, 0)}" if self._is(0.5) else ""
        if way > 0.7:
            return self._grouped(f"{source}{where}", columns)
        text, shown = self._select(columns, _WINDOWS if self._is(0.3) else _FORMS)
        limit = f" ORDER BY ALL LIMIT {self._random.randint(0, 4)}" if depth and self._is(0.1) else ""
        return f"SELECT {'DISTINCT ' if self._is(0.15) else ''}{text} FROM {source}{where}{limit}", shown

    def _of_sets(self, depth: int) -> tuple[str, Columns]:
        types = [self._type() for _ in range(self._random.randint(1, 3))]
        parts = []
        for _ in range(self._random.randint(2, 3)):
            source, columns = self._source(depth + 1)
            items = (f"({self._expression(one, columns, 1)})::{one} AS u{at}" for at, one in enumerate(types))
            parts.append(f"SELECT {', '.join(items)} FROM {source}")
        text = parts[0]
        for one in parts[1:]:
            text = f"{text} {self._random.choice(_SETS)} {one}"
        return text, [(f"u{at}", one) for at, one in enumerate(types)]

    def _with_step(self, depth: int) -> tuple[str, Columns]:
        """Return a query that may read a common table twice."""
        inner, shown = self.query(depth + 1)
        step, left, right = (self._name(one) for one in ("w", "d", "d"))
        columns = [(f"{left}.{name}", one) for name, one in shown]
        source = f"{step} AS {left}"
        if self._is(0.5):
            source += (
                f" {self._random.choice(_JOINS[:4])} {step} AS {right} ON {left}.{shown[0][0]} = {right}.{shown[0][0]}"
            )
            columns += [(f"{right}.{name}", one) for name, one in shown]
        text, outer = self._select(columns, _FORMS)
        return f"WITH {step} AS ({inner}) SELECT {text} FROM {source}", outer

    def _grouped(self, source: str, columns: Columns) -> tuple[str, Columns]:
        types = [self._type() for _ in range(self._random.randint(0, 2))]
        keys = [key for one in types if (key := self._of_column(one, columns)) is not None]
        items, shown = self._select(columns, _AGGREGATES, keys)
        form = self._random.choice(("{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"))
        group = f" GROUP BY {form.format(', '.join(key for key, _ in keys))}" if keys else ""
        having = f" HAVING count(*) > {self._random.randint(0, 2)}" if self._is(0.3) else ""
        return f"SELECT {items} FROM {source}{group}{having}", shown

    def _of_column(self, kind: str, columns: Columns) -> tuple[str, str] | None:
        """Return an expression that names a column, so that it is no position."""
        made = self._expression(kind, columns, 2)
        return (made, kind) if any(name in made for name, _ in columns) and "SELECT" not in made else None

    def _select(self, columns: Columns, forms: Mapping[str, Sequence[str]], more: Columns = ()) -> tuple[str, Columns]:
        """Return result columns of some forms, after some expressions of other forms."""
        found = list(more)
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.choice([*forms])
            form = self._random.choice(forms[kind])
            found.append((self._filled(form, columns, 1), kind))
        named = [(self._name("r"), text, kind) for text, kind in found]
        return ", ".join(f"{text} AS {name}" for name, text, _ in named), [(name, kind) for name, _, kind in named]

    def _source(self, depth: int) -> tuple[str, Columns]:
        """Return a FROM clause and its columns."""
        text, columns = self._table(depth)
        while self._is(0.35 if depth < 2 else 0.1):
            other, added = self._table(depth)
            join = self._random.choice(_JOINS)
            both = [*columns, *added]
            equal = f"{self._expression('BIGINT', columns, 3)} = {self._expression('BIGINT', added, 3)}"
            test = equal if self._is(0.7) else f"{equal} AND {self._expression('BOOLEAN', both, 2)}"
            text = f"{text} {join} {other} ON {test}"
            columns = columns if join in _JOINS[4:] else both
        return text, columns

    def _table(self, depth: int) -> tuple[str, Columns]:
        if depth < 2 and self._is(0.3):
            inner, columns = self.query(depth + 1)
            name, text = self._name("d"), f"({inner})"
        else:
            table = self._random.choice([*TABLES])
            name, text, columns = self._name(table), table, [*TABLES[table].items()]
        return f"{text} AS {name}", [(f"{name}.{column}", kind) for column, kind in columns]

    def _expression(self, kind: str, columns: Columns, depth: int) -> str:
        if depth < _DEEP and self._is(0.65):
            return self._filled(self._random.choice(_FORMS[kind]), columns, depth + 1)
        known = [name for name, one in columns if one == kind]
        return self._random.choice(known if known and self._is(0.75) else VALUES[kind])

    def _filled(self, form: str, columns: Columns, depth: int) -> str:
        """Fill the slots of a form; those of a subquery see its columns, and maybe those around it."""
        inner = columns
        if "{from}" in form:
            source, inner = self._source(2)
            form = form.replace("{from}", source)
            inner = [*inner, *columns] if self._is(0.4) else inner

        def filled(slot: re.Match[str]) -> str:
            name = slot[1]
            if name == "all":
                return ", ".join(column for column, _ in columns)
            if name in _PIECES:
                return self._filled(self._random.choice(_PIECES[name]), columns, depth + 1)
            own = name.removeprefix("inner ")
            return self._expression(own, columns if own == name else inner, depth)

        return _SLOT.sub(filled, form)

    def _type(self) -> str:
        return self._random.choice([*VALUES])

    def _name(self, start: str) -> str:
        self._names += 1
        return f"{start}{self._names}"

    def _is(self, share: float) -> bool:
        return self._random.random() < share
