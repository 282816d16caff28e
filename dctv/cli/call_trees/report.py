"""Shown calls, added up by function or by thread, to the table of `dctv report`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from dctv.cli.call_trees.options import arguments
from dctv.cli.call_trees.queries import TRACE, Source, answered, calls_of, measures
from dctv.record import record

if TYPE_CHECKING:
    from dctv.session import Session

_UNITS = ((1000, "us"), (1000, "ms"), (1000, " s"), (60, " m"), (24, " h"))
_LAST = 999
_WIDTH = 20


def time_unit(nanoseconds: float) -> str:
    """Write three digits before and three after the point, and a unit; blanks for no time at all."""
    whole, part, unit = abs(int(nanoseconds)), 0, "us"
    if whole == 0:
        return " " * 10
    for number, (limit, name) in enumerate(_UNITS):
        whole, part, unit = whole // limit, whole % limit, name
        if number + 1 == len(_UNITS) or whole < _UNITS[number + 1][0]:
            break
    return f"{_LAST}.{_LAST} {unit}" if whole > _LAST else f"{whole:3}.{part:03} {unit}"


def _count(value: float) -> str:
    return f"{int(value):10}"


def _share(value: float) -> str:
    return f"{value:9.2f}%"


@record
class Column:
    """A column of the table, which is a column of the query too."""

    title: str
    text: Callable[[Any], str]
    width: int = 10


COLUMNS = {
    "total": Column("Total time", time_unit),
    "total-avg": Column("Total avg", time_unit),
    "total-min": Column("Total min", time_unit),
    "total-max": Column("Total max", time_unit),
    "total-stdv": Column("Total stdv", _share),
    "self": Column("Self time", time_unit),
    "self-avg": Column("Self avg", time_unit),
    "self-min": Column("Self min", time_unit),
    "self-max": Column("Self max", time_unit),
    "self-stdv": Column("Self stdv", _share),
    "call": Column("Calls", _count),
    "size": Column("Size", _count),
}
_TASK = {
    "total": COLUMNS["total"],
    "self": COLUMNS["self"],
    "tid": Column("TID", lambda value: f"{value:7}", 7),
    "call": Column("Num funcs", _count),
}


def write_functions(session: Session, args: Namespace, source: Source, fields: Sequence[str], out: BinaryIO) -> None:
    """Write a row for each function."""
    names = [name.replace("-", "_") for name in fields]
    average = "self" if args.avg_self else "total"
    keys = [f"{average}_{key}" if key in ("avg", "min", "max", "stdv") else key for key in args.sort]
    order = ", ".join("name" if key == "func" else f"{key} DESC" for key in keys)
    size = "size" in fields or "size" in args.sort
    query = f"{_sums(args, source, size=size)} SELECT {', '.join([*names, 'name'])} FROM sums ORDER BY {order}, name"
    rows = answered(session, query).fetchall()
    columns = [COLUMNS[name] for name in fields]
    _write(columns, [(row[:-1], "<0>" if row[-1] is None else row[-1]) for row in rows], "Function", out)


def write_threads(session: Session, args: Namespace, source: Source, out: BinaryIO) -> None:
    """Write a row for each thread."""
    names = f"{TRACE}.tasks" if source.recorded else f"{TRACE}.threads"
    name = "comm" if source.recorded else "name"
    query = (
        f"{_shown(args, source, size=False)} SELECT SUM(CASE WHEN c.depth = 0 THEN c._duration ELSE 0 END), "
        f"SUM(c.self), c.tid, COUNT(*), MAX(k.task) FROM shown AS c "
        f"LEFT JOIN (SELECT tid, MAX({name}) AS task FROM {names} GROUP BY tid) AS k ON k.tid = c.tid "
        "GROUP BY c.tid ORDER BY 1 DESC, c.tid"
    )
    rows = answered(session, query).fetchall()
    _write(list(_TASK.values()), [(row[:-1], f"{row[-1] or '':16}") for row in rows], "Task name", out)


def _write(columns: list[Column], rows: list[tuple[Sequence[Any], str]], last: str, out: BinaryIO) -> None:
    def lines() -> Iterator[str]:
        yield "".join(f"  {one.title:>{one.width}}" for one in columns) + f"  {last}"
        yield "".join(f"  {'=' * one.width}" for one in columns) + f"  {'=' * _WIDTH}"
        for values, name in rows:
            cells = (one.text(value or 0) for one, value in zip(columns, values, strict=True))
            yield "".join(f"  {cell}" for cell in cells) + f"  {name}"

    out.write("".join(f"{line}\n" for line in lines()).encode())


def _shown(args: Namespace, source: Source, *, size: bool) -> str:
    """Return a query's beginning: the shown calls, with their own time."""
    calls, filters = calls_of(args, source, size=size), ", ".join(arguments(args, source.start))
    renamed = "CASE WHEN state = 'inherited' THEN NULL ELSE name END" if source.recorded else "name"
    found = (
        f"WITH calls AS ({calls}), filtered AS (SELECT _ts, unitless(dur) AS _duration, id, parent AS parent_id, "
        f"depth, tid, {renamed} AS name{', self' if source.recorded else ''}{', size' if size else ''} "
        f"FROM dctv.filter_calls(calls, {filters}))"
    )
    if source.recorded and measures(args):
        return f"{found}, shown AS (SELECT * FROM filtered)"
    rest = "_ts, _duration, id, parent_id, depth, tid, name" + (", size" if size else "")
    return f"{found}, shown AS (SELECT {rest}, unitless(_self) AS self FROM dctv.self_time(filtered))"


def _sums(args: Namespace, source: Source, *, size: bool) -> str:
    """Return a query's beginning: sums by function; a call within one of the same function is in its total already."""

    def told(kind: str, column: str) -> str:
        # Whole ns, as the tool counts, so that the last digit is the same.
        mean = f"FLOOR(AVG({column}))"
        variance = f"FLOOR(SUM({column}::FLOAT64 * {column}) / COUNT(*)) - {mean} * {mean}"
        return (
            f"{mean} AS {kind}_avg, MIN({column}) AS {kind}_min, MAX({column}) AS {kind}_max, "
            f"COALESCE(SQRT(GREATEST({variance}, 0) / COUNT(*)) * 100 / NULLIF({mean}, 0), 0) AS {kind}_stdv"
        )

    sizes = ", MAX(size) AS size" if size else ""
    return (
        f"{_shown(args, source, size=size)}, paths AS (SELECT name, SUM(unitless(total)) FILTER (WHERE NOT recursive) "
        f"AS total FROM dctv.flame_graph(shown) GROUP BY name), each AS (SELECT name, SUM(self) AS self, COUNT(*) AS "
        f"call{sizes}, {told('total', '_duration')}, {told('self', 'self')} FROM shown GROUP BY name), sums AS "
        f"(SELECT each.*, total FROM each JOIN paths ON paths.name <=> each.name)"
    )
