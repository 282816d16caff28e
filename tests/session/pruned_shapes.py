"""Draw questions over a trace from its values, and ask them of the whole trace, its chunks and its column store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from dctv.errors import DctvError
from dctv.index.build import IndexSettings
from dctv.index.pruner import Pruned, Pruner
from dctv.index.request import IndexRequest
from dctv.plan.predicate import Predicate
from dctv.session import Session

COMPARED = ("BIGINT", "INTEGER", "UBIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "BOOLEAN")
MOST_VALUES = 24
MOST_ROWS = 20_000
"""Of larger tables than this, values and pairs are taken from the first rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with some of its values."""

    name: str
    type: str
    unit: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What can stand in FROM."""

    name: str
    view: str
    columns: tuple[Column, ...]

    def has(self, *names: str) -> bool:
        """Whether all of some columns are there."""
        return {*names} <= {column.name for column in self.columns}


@dataclass(slots=True)
class Asked:
    """One trace, mounted as `t` in sessions that read it in different ways, and what the pruner did."""

    sessions: dict[str, Session]
    chunks: int
    names: list[str]
    """Tables and views, some of them without rows."""
    views: set[str] = field(default_factory=set)
    """Those that were made: when they are first asked, since many never are."""
    out: Counter[str] = field(default_factory=Counter)
    """How many chunks each tier threw out, over all questions."""
    _tables: dict[str, Table | None] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        """Look at a table when it is first asked; return None if it has no rows."""
        if name not in self._tables:
            self._tables[name] = table_of(self.sessions["whole"], name, f"v{self.names.index(name)}")
        return self._tables[name]

    def window(self) -> int:
        """Return a twelfth of the length of the trace, in ns."""
        last: int = self.sessions["whole"].sql("SELECT _ts FROM t.last_ts").fetchall()[0][0]
        return max(1, last // 12)

    def fields(self) -> list[Column]:
        """Return what filters can name."""
        start = dict(self.sessions["whole"].sql("SELECT key, value FROM t.properties").fetchall())["start_ns"]
        found: dict[str, Column] = {}
        for name in self.names:
            if not is_raw(name) and name != EVENTS_TABLE:
                continue
            table = self.table(name)
            columns = table.columns if table is not None else ()
            if is_raw(name):
                found.update({one.name: one for one in columns if one.name != "_ts"})
                continue
            for one in columns:
                named = {"category": "cat"}.get(one.name, one.name)
                if named in ("name", "cat", "pid"):
                    found[named] = Column(named, one.type, "", one.values)
                elif named == "_ts":
                    found["ts"] = Column("ts", "BIGINT", "ns", tuple(value + int(start) for value in one.values))
        return [one for one in found.values() if one.name.isidentifier() and not one.name.startswith("_")]


EVENTS_TABLE = "t.events"


def is_raw(name: str) -> bool:
    """Whether a table is one that others are made of."""
    return ".raw_events." in name


@contextmanager
def asked(trace: Path, folder: Path, dimensions: Sequence[str] = (), chunks: int = 20) -> Iterator[Asked]:
    """Index a trace in about so many chunks, with a column store and without, and mount it."""
    with ExitStack() as stack:
        first = Session(index_dir=folder / "first")
        text = first.index(str(trace), IndexRequest(IndexSettings(store=False))).read_bytes
        first.close()
        made = {"whole": stack.enter_context(Session(index=False, threads=1))}
        number = 0
        for how in ("store", "chunks"):
            session = stack.enter_context(Session(index_dir=folder / how, threads=1))
            settings = IndexSettings(tuple(dimensions), store=how == "store", chunk_bytes=max(1, text // chunks))
            number = session.index(str(trace), IndexRequest(settings)).chunks
            made[how] = session
        for session in made.values():
            session.mount(str(trace), "t")
        # What is read without an index knows nothing of plans that leave something out.
        made["whole"].sql("SET rewrite = 'off'")
        known = made["whole"].tables("t")
        names = [one.name for one in known if one.kind in ("event", "view") and one.name != "t.last_ts"]
        found = Asked(made, number, names)
        with counted(found.out):
            yield found


@contextmanager
def counted(out: Counter[str]) -> Iterator[None]:
    """Count what each tier of the pruner throws out."""
    original = Pruner.candidates

    def candidates(self: Pruner, predicate: Predicate) -> Pruned:
        found = original(self, predicate)
        out.update(dictionary=found.by_dictionary, range=found.by_range, bloom=found.by_bloom)
        return found

    with patch.object(Pruner, "candidates", candidates):
        yield


def table_of(session: Session, name: str, view: str) -> Table | None:
    """Look at a table and its values; return None if it has no rows."""
    schema = session.columns(name)
    if schema is None:
        return None
    rows = session.sql(f"SELECT * FROM {quoted(name)} LIMIT {MOST_ROWS}").fetchall()
    columns = [
        Column(column.name, column.type, str(column.unit), _some([row[place] for row in rows]))
        for place, column in enumerate(schema.columns)
        if not column.type.endswith("[]")  # No condition here is about a list.
    ]
    return Table(name, view, tuple(columns)) if rows and columns else None


def _nan(value: object) -> bool:
    return isinstance(value, float) and isnan(value)


def _some(values: list[Any]) -> tuple[Any, ...]:
    """Return the ends, rare and common ones of some values, and some in between."""
    numbers = Counter(value for value in values if value is not None and not _nan(value))
    ordered = [value for value, _ in numbers.most_common()]
    ends = [min(numbers), max(numbers)] if numbers else []
    step = max(1, len(ordered) // 8)
    return tuple(dict.fromkeys([*ends, *ordered[:4], *ordered[-8:], *ordered[::step]]))[:MOST_VALUES]


def quoted(name: str) -> str:
    """Write a dotted name so that every part of it is one."""
    head, dot, last = name.partition("raw_events.")
    parts = [*head.rstrip(".").split("."), "raw_events", last] if dot else name.split(".")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _near(column: Column) -> st.SearchStrategy[Any]:
    """Draw a value of a column, or one beside it."""
    values = st.sampled_from(column.values) if column.values else st.nothing()
    match column.type:
        case "VARCHAR":
            cut = values.flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n]))
            return values | values | cut | values.map(lambda text: text + "0") | st.sampled_from(["", "nowhere", "zzz"])
        case "BOOLEAN":
            return st.booleans()
        case "DOUBLE":
            whole = values.filter(lambda value: abs(value) < 1e15)
            return whole | whole | st.sampled_from([0.5, -1.0, 1e6])
        case _:
            beside = st.tuples(values, st.sampled_from([-1, 1, 1000])).map(sum)
            return values | values | beside | st.sampled_from([0, -1, 10**6])


def _literal(column: Column) -> st.SearchStrategy[str]:
    def written(value: Any, *, coarse: bool) -> str:
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, bool):
            return str(value).upper()
        if column.unit == "ns" and isinstance(value, int) and coarse:
            sign, number = "-" if value < 0 else "", abs(value)
            return f"{sign}{number // 1000}.{number % 1000:03}us"
        return f"{value}{column.unit}" if column.unit.isalpha() else f"{value}"

    return st.builds(written, _near(column), coarse=st.booleans())


_OPERATORS = st.sampled_from(["=", "=", "!=", "<", "<=", ">", ">=", "<=>"])
_NOT = st.sampled_from(["", "", "NOT "])


def _leaf(column: Column, a: str) -> st.SearchStrategy[str]:
    name = f'{a}"{column.name}"'
    if column.unit and not column.unit.isalpha():  # `MB/s` cannot stand behind a number
        name = f"unitless({name})"
    if column.type not in COMPARED:
        return _NOT.map(lambda word: f"{name} IS {word}NULL")
    literal = _literal(column)
    forms = [
        st.builds(lambda how, one: f"{name} {how} {one}", _OPERATORS, literal),
        st.builds(lambda how, one: f"{name} {how} {one}", _OPERATORS, literal),
        st.builds(lambda how, one: f"{one} {how} {name}", _OPERATORS, literal),
        st.builds(
            lambda word, some: f"{name} {word}IN ({', '.join(some)})", _NOT, st.lists(literal, min_size=1, max_size=4)
        ),
        st.builds(lambda word, low, high: f"{name} {word}BETWEEN {low} AND {high}", _NOT, literal, literal),
        _NOT.map(lambda word: f"{name} IS {word}NULL"),
    ]
    if column.type == "VARCHAR":
        prefix = _near(column).map(lambda text: text[:12].replace("'", "''").replace("%", "").replace("_", ""))
        forms.append(st.builds(lambda word, text: f"{name} {word}LIKE '{text}%'", _NOT, prefix))
    return st.one_of(forms)


def conditions(columns: Sequence[Column], a: str = "") -> st.SearchStrategy[str]:
    """Draw conditions over some columns."""
    leaves = [_leaf(column, a) for column in columns]
    by_name = {column.name: column for column in columns}
    if {"_ts", "_duration"} <= {*by_name}:
        end = _literal(by_name["_ts"])
        leaves.append(st.builds(lambda how, one: f"{a}_ts + {a}_duration {how} {one}", _OPERATORS, end))
    one = st.sampled_from(range(len(leaves))).flatmap(lambda place: leaves[place])
    return _nested(one, "AND", "OR", "NOT")


def _nested(leaf: st.SearchStrategy[str], both: str, either: str, no: str) -> st.SearchStrategy[str]:
    found = leaf
    for _ in range(3):
        found = st.one_of(
            leaf,
            leaf,
            st.builds(lambda x, word, y: f"({x} {word} {y})", found, st.sampled_from([both, either]), found),
            found.map(lambda x: f"{no} ({x})"),
        )
    return found


PLAIN = [
    "SELECT * FROM {t} WHERE {w}",
    "SELECT * FROM {v} WHERE {w}",
    "SELECT * FROM (SELECT * FROM {t} WHERE {w}) AS x WHERE {u}",
    "WITH q AS (SELECT * FROM {t}) SELECT * FROM q WHERE {w}",
    "WITH q AS (SELECT * FROM {v} WHERE {u}) SELECT COUNT(*) AS n FROM q WHERE {w}",
    "SELECT * FROM {t} WHERE {w} ORDER BY {all} LIMIT 7",
    "SELECT * FROM (SELECT * FROM {t} ORDER BY {all} LIMIT 50) AS x WHERE {w}",
    'SELECT "{c}", COUNT(*) AS n FROM {t} WHERE {w} GROUP BY "{c}" HAVING {h} ORDER BY "{c}"',
    'SELECT "{c}", COUNT(*) AS n FROM {t} GROUP BY "{c}" HAVING {h} AND COUNT(*) > 1 ORDER BY "{c}"',
    'SELECT COUNT(*) AS n, MIN("{c}") AS low, MAX("{c}") AS high FROM {t} WHERE {w}',
    'SELECT COUNT(*) AS n FROM {t} WHERE "{c}" IN (SELECT "{c}" FROM {v} WHERE {w})',
    "SELECT COUNT(*) AS n FROM (SELECT * FROM {t} WHERE {w} EXCEPT SELECT * FROM {t} WHERE {u}) AS x",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM {t} WHERE {w} UNION ALL SELECT * FROM {t} WHERE {u}) AS x WHERE {w}",
]
TIMED = [
    "SELECT COUNT(*) AS n FROM {t} AS a JOIN {t} AS b ON a._ts = b._ts WHERE {a} AND {b}",
    "SELECT COUNT(*) AS n, COUNT(b._ts) AS m FROM {t} AS a LEFT JOIN {t} AS b ON a._ts = b._ts AND {b} WHERE {a}",
]
EVENTS = [
    'SELECT EVENT a."{c}" FROM {t} AS a SPAN JOIN t.quantize({q}ns) AS q WHERE {a}',
    'SELECT SPAN COUNT(*) AS n, MIN("{c}") AS low FROM {t} WHERE {w} GROUP USING SPANS FROM t.quantize({q}ns)',
]
SPANS = """WITH busy AS (SELECT SPAN * FROM dctv.as_spans((SELECT _ts, {d} AS _duration, "{c}", {p} FROM {t}
    WHERE {w} AND {d} > 0ns ORDER BY {all}), partition=>'{p}', on_overlap=>'truncate'))
"""
SPANNED = [
    'SELECT SPAN "{c}" FROM busy',
    'SELECT SPAN "{c}", {p} FROM busy SPAN BROADCAST FROM t.quantize({q}ns) WHERE {h}',
    "SELECT SPAN COUNT(*) AS n, SUM(_duration) AS d FROM busy GROUP USING SPANS FROM t.quantize({q}ns)",
    "SELECT SPAN COUNT(*) AS n FROM busy WHERE {h} GROUP USING PARTITION",
    'SELECT SPAN a."{c}" AS x, b."{c}" AS y FROM busy AS a SPAN OUTER JOIN busy AS b',
]


@st.composite
def questions(draw: st.DrawFn, found: Asked) -> str:
    """Draw a query over some table of a trace."""
    # `events` and the tables that it is made of are asked as often as all views.
    raw = [name for name in found.names if is_raw(name)]
    views = [name for name in found.names if name not in (EVENTS_TABLE, *raw)]
    names = draw(st.sampled_from([part for part in ([EVENTS_TABLE], raw, views) if part]))
    place = draw(st.integers(0, len(names) - 1))
    # Many views have no rows: the next one that has some is asked.
    table = next(filter(None, map(found.table, [*names[place:], *names[:place], *raw])))
    key = draw(st.sampled_from([column for column in table.columns if column.type in COMPARED]))
    own = [column for column in table.columns if column.name != "_duration" or table.has("_ts")]
    parts = {
        "t": quoted(table.name),
        "v": table.view,
        "w": draw(conditions(own)),
        "u": draw(conditions(own)),
        "a": draw(conditions(own, "a.")),
        "b": draw(conditions(own, "b.")),
        "h": draw(conditions([key])),
        "c": key.name,
        "q": str(found.window()),
        "all": ", ".join(f'"{column.name}"' for column in table.columns),
    }
    forms = list(PLAIN)
    if table.has("_ts"):
        forms += TIMED
    if table.name == EVENTS_TABLE or is_raw(table.name):
        forms += EVENTS if key.name not in ("_ts", "_duration") else []
        partition = next((one for one in ("tid", "pid", "cpu") if table.has(one) and one != key.name), None)
        length = next((one for one in ("dur", "_duration") if table.has(one)), None)
        if partition and length and key.name not in ("_ts", "_duration", length):
            parts |= {"p": partition, "d": length}
            forms += [SPANS + one for one in SPANNED]
    form = draw(st.sampled_from(forms))
    if "{v}" in form and table.view not in found.views:
        found.views.add(table.view)
        for session in found.sessions.values():
            session.sql(f"CREATE VIEW {table.view} AS SELECT * FROM {quoted(table.name)}")
    return form.format(**parts)


@st.composite
def filters(draw: st.DrawFn, found: Asked) -> str:
    """Draw a filter over fields of events."""

    def written(value: Any, unit: str) -> str:
        return json.dumps(value) if isinstance(value, str | bool) else f"{value}{unit}"

    def leaf(column: Column) -> st.SearchStrategy[str]:
        if column.type not in COMPARED:
            return st.just(f"{column.name} is null")
        unit = "ns" if column.name in ("ts", "dur") else ""
        literal = _near(column).map(lambda value: written(value, unit))
        how = st.sampled_from(["==", "==", "!="] + ([] if column.type == "BOOLEAN" else ["<", "<=", ">", ">="]))
        return st.one_of(
            st.builds(lambda op, one: f"{column.name} {op} {one}", how, literal),
            st.builds(
                lambda word, some: f"{column.name} {word}in [{', '.join(some)}]",
                st.sampled_from(["", "not "]),
                st.lists(literal, max_size=3),
            ),
            st.sampled_from(["", "not "]).map(lambda word: f"{column.name} is {word}null"),
        )

    leaves = [leaf(column) for column in found.fields()]
    one = st.sampled_from(range(len(leaves))).flatmap(lambda place: leaves[place])
    return draw(_nested(one, "and", "or", "not"))


def answer(session: Session, sql: str) -> tuple[object, ...]:
    """Return all that a query gives."""
    result = session.sql(sql)
    columns = [(c.name, c.type, str(c.unit)) for c in result.schema.columns]
    return result.schema.describe(), columns, [repr(row) for row in result.fetchall()], result.warnings


def filtered(session: Session, text: str) -> tuple[object, ...]:
    """Return all that a filter gives."""
    found = session.matches("t", text)
    warned = session.warnings()
    return found.records().fetchall(), found.count().fetchall(), warned


def outcome(session: Session, text: str, *, sql: bool) -> tuple[object, ...]:
    """Return what a query or a filter gives, errors included."""
    try:
        return answer(session, text) if sql else filtered(session, text)
    except DctvError as error:
        return (f"{type(error).__name__}: {error}",)


def check(found: Asked, text: str, *, sql: bool) -> tuple[object, ...]:
    """Ask all sessions the same; return the answer."""
    expected = outcome(found.sessions["whole"], text, sql=sql)
    for how in ("chunks", "store"):
        assert outcome(found.sessions[how], text, sql=sql) == expected, (how, text)
    return expected
