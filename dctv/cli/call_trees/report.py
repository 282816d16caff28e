"""Sum the calls that pass the filters by function or by thread, for the table of `dctv report`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, BinaryIO

from dctv.cli.call_trees.options import arguments
from dctv.cli.call_trees.queries import CallSource, calls_of, measures, off_cpu, run_internal, scheduled, tasks_of
from dctv.cli.call_trees.stored import stored_calls
from dctv.console.paint import Colour, Paint
from dctv.record import record

if TYPE_CHECKING:
    from argparse import Namespace

    from dctv._kernels import CallSums, FunctionSums
    from dctv.session import Session

_UNITS = ((1000, "us"), (1000, "ms"), (1000, " s"), (60, " m"), (24, " h"))
_COLOURS: dict[str, Colour] = {"ms": "green", " s": "yellow", " m": "red", " h": "red"}
_PLAIN = Paint()
_LAST = 999
_WIDTH = 20


def time_unit(nanoseconds: float, paint: Paint = _PLAIN) -> str:
    """Write three digits before and three after the point, and a unit; blanks for zero."""
    whole, part, unit = abs(int(nanoseconds)), 0, "us"
    if whole == 0:
        return " " * 10
    for number, (limit, name) in enumerate(_UNITS):
        whole, part, unit = whole // limit, whole % limit, name
        if number + 1 == len(_UNITS) or whole < _UNITS[number + 1][0]:
            break
    whole, part = (_LAST, _LAST) if whole > _LAST else (whole, part)
    return f"{whole:3}.{part:03} {paint(_COLOURS.get(unit), unit)}"


def _count(value: float, _: Paint) -> str:
    return f"{int(value):10}"


def _share(value: float, _: Paint) -> str:
    return f"{value:9.2f}%"


@record
class ReportColumn:
    """A column of the table and of the query."""

    title: str
    text: Callable[[Any, Paint], str]
    width: int = 10


COLUMNS = {
    "total": ReportColumn("Total time", time_unit),
    "total-avg": ReportColumn("Total avg", time_unit),
    "total-min": ReportColumn("Total min", time_unit),
    "total-max": ReportColumn("Total max", time_unit),
    "total-stdv": ReportColumn("Total stdv", _share),
    "self": ReportColumn("Self time", time_unit),
    "self-avg": ReportColumn("Self avg", time_unit),
    "self-min": ReportColumn("Self min", time_unit),
    "self-max": ReportColumn("Self max", time_unit),
    "self-stdv": ReportColumn("Self stdv", _share),
    "call": ReportColumn("Calls", _count),
    "size": ReportColumn("Size", _count),
}
TIMES = tuple(name for name, column in COLUMNS.items() if column.text is time_unit)
"""Columns of times."""
_TASK = {
    "total": COLUMNS["total"],
    "self": COLUMNS["self"],
    "tid": ReportColumn("TID", lambda value, _: f"{value:7}", 7),
    "call": ReportColumn("Num funcs", _count),
}


def write_functions(
    session: Session, args: Namespace, source: CallSource, fields: Sequence[str], out: BinaryIO
) -> None:
    """Write a row for each function."""
    if source.recorded and not scheduled(args, source):
        write_sums(summed(session, args, source, size=shows_sizes(args, fields)), args, fields, out)
        return
    names = [name.replace("-", "_") for name in fields]
    order = ", ".join("name" if key == "func" else f"{key.replace('-', '_')} DESC" for key in keys_of(args))
    rows = run_internal(session, f"{sums_of(args, source, names)} ORDER BY {order}, name").fetchall()
    _write_functions(rows, args, fields, out)


def write_sums(sums: CallSums, args: Namespace, fields: Sequence[str], out: BinaryIO) -> None:
    """Write a row for each function from sums."""
    names = [*(name.replace("-", "_") for name in fields), "name"]
    keys = [key.replace("-", "_") for key in keys_of(args)]
    found = sorted(map(_of_function, sums.functions()), key=_order(keys))
    _write_functions([tuple(row[name] for name in names) for row in found], args, fields, out)


def shows_sizes(args: Namespace, fields: Sequence[str]) -> bool:
    """Return whether sizes of functions are needed."""
    return "size" in fields or "size" in args.sort


def _write_functions(rows: Sequence[Sequence[Any]], args: Namespace, fields: Sequence[str], out: BinaryIO) -> None:
    columns = [COLUMNS[name] for name in fields]
    named = [(row[:-1], "<0>" if row[-1] is None else row[-1]) for row in rows]
    _write(columns, named, "Function", Paint(args.coloured), out)


def keys_of(args: Namespace) -> list[str]:
    """Return the sort keys: names of columns, or `func`."""
    average = "self" if args.avg_self else "total"
    return [f"{average}-{key}" if key in ("avg", "min", "max", "stdv") else key for key in args.sort]


def sums_of(args: Namespace, source: CallSource, columns: Sequence[str]) -> str:
    """Return the query of some sums of each function, and its name."""
    size = "size" in columns or "size" in args.sort
    return f"{_sums(args, source, size=size)} SELECT {', '.join([*columns, 'name'])} FROM sums"


def write_threads(session: Session, args: Namespace, source: CallSource, out: BinaryIO) -> None:
    """Write a row for each thread."""
    if source.recorded and not scheduled(args, source):
        sums = summed(session, args, source, size=False).threads()
        tasks = dict(session.sql(tasks_of(source)).fetchall())
        found = [(one.total, one.own, one.tid, one.calls, tasks.get(one.tid)) for one in sums]
        rows = sorted(found, key=lambda row: (-row[0], row[2]))
    else:
        query = (
            f"{_shown(args, source, size=False)}, rows AS (SELECT tid, CASE WHEN depth = 0 THEN _duration ELSE 0 END "
            "AS total, self FROM shown UNION ALL SELECT tid, 0, 0 FROM told) "
            "SELECT SUM(c.total), SUM(c.self), c.tid, COUNT(*), MAX(k.task) FROM rows AS c "
            f"LEFT JOIN ({tasks_of(source)}) AS k ON k.tid = c.tid GROUP BY c.tid ORDER BY 1 DESC, c.tid"
        )
        rows = run_internal(session, query).fetchall()
    named = [(row[:-1], f"{row[-1] or '':16}") for row in rows]
    _write(list(_TASK.values()), named, "Task name", Paint(args.coloured), out)


def summed(session: Session, args: Namespace, source: CallSource, *, size: bool) -> CallSums:
    """Sum the calls of a recording that pass: in one pass over the stored table if there is one."""
    from dctv import _kernels  # compiled; only needed when a trace is read

    sums = _kernels.CallSums(measured=measures(args))
    stored = stored_calls(session, args, source, size=size)
    if stored is not None and not stored.rules.backtraces:
        with session.kernel() as cancel:
            sums.read(str(stored.path), stored, cancel=cancel)
        stored.warn_unmatched()
        return sums
    query = (
        f"WITH calls AS ({calls_of(args, source, size=size)}) SELECT _ts, unitless(dur) AS _duration, id, "
        "parent AS parent_id, depth, tid, CASE WHEN state = 'inherited' THEN NULL ELSE name END AS name, "
        f"unitless(self) AS self{', size' if size else ''} "
        f"FROM dctv.filter_calls(calls, {', '.join(arguments(args, source.start))})"
    )
    for batch in run_internal(session, query).reader():
        sums.push(batch)
    return sums


def _of_function(of: FunctionSums) -> dict[str, Any]:
    """Return the columns of a function's row; in whole ns, as the tool counts, so that the last digit agrees."""
    sums: dict[str, Any] = {"name": of.name, "call": of.calls, "size": of.size, "total": of.total, "self": of.own.sum}
    for kind, times in (("total", of.lengths), ("self", of.own)):
        count = times.count
        mean = times.sum // count if count else 0
        variance = max(times.squares // count - mean * mean, 0) if count else 0
        sums[f"{kind}_avg"], sums[f"{kind}_min"], sums[f"{kind}_max"] = mean, times.least, times.most
        sums[f"{kind}_stdv"] = sqrt(variance / count) * 100 / mean if mean else 0.0
    return sums


def _order(keys: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Return a sort function: ascending by name, descending by all other keys; unknown values come last."""

    def named(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["name"] is None, row["name"] or ""

    def placed(row: dict[str, Any]) -> tuple[Any, ...]:
        found = [named(row) if key == "func" else (row[key] is None, -(row[key] or 0)) for key in keys]
        return (*found, named(row))

    return placed


def _write(
    columns: list[ReportColumn], rows: Sequence[tuple[Sequence[Any], str]], last: str, paint: Paint, out: BinaryIO
) -> None:
    def lines() -> Iterator[str]:
        yield "".join(f"  {one.title:>{one.width}}" for one in columns) + f"  {last}"
        yield "".join(f"  {'=' * one.width}" for one in columns) + f"  {'=' * _WIDTH}"
        for values, name in rows:
            cells = (one.text(value or 0, paint) for one, value in zip(columns, values, strict=True))
            yield "".join(f"  {cell}" for cell in cells) + f"  {name}"

    out.write("".join(f"{line}\n" for line in lines()).encode())


def _shown(args: Namespace, source: CallSource, *, size: bool) -> str:
    """Return the beginning of a query: the calls that pass, with their self time."""
    calls, filters = calls_of(args, source, size=size), ", ".join(arguments(args, source.start))
    renamed = "CASE WHEN state = 'inherited' THEN NULL ELSE name END" if source.recorded else "name"
    more = (", unitless(self) AS self" if source.recorded else "") + (", size" if size else "")
    found = (
        f"WITH calls AS ({calls}), filtered AS (SELECT _ts, unitless(dur) AS _duration, id, parent AS parent_id, "
        f"depth, tid, {renamed} AS name{more} FROM dctv.filter_calls(calls, {filters}))"
    )
    if source.recorded and measures(args):
        return f"{found}, shown AS (SELECT * FROM filtered), {off_cpu(args, source)}"
    rest = "".join(f"s.{one}, " for one in ("_ts", "_duration", "id", "parent_id", "depth", "tid", "name"))
    return (
        f"{found}, {off_cpu(args, source, 'filtered')}, gone AS (SELECT call, SUM(_duration) AS _duration FROM off "
        f"GROUP BY call), shown AS (SELECT {rest}{'s.size, ' if size else ''}unitless(s._self) - "
        "COALESCE(g._duration, 0) AS self FROM dctv.self_time(filtered) AS s LEFT JOIN gone AS g ON g.call = s.id)"
    )


def _sums(args: Namespace, source: CallSource, *, size: bool) -> str:
    """Return the beginning of a query: sums by function; the total of a function excludes recursive calls."""

    def figures(kind: str, column: str) -> str:
        mean = f"FLOOR(AVG({column}))"
        variance = f"FLOOR(SUM({column}::FLOAT64 * {column}) / COUNT(*)) - {mean} * {mean}"
        return (
            f"{mean} AS {kind}_avg, MIN({column}) AS {kind}_min, MAX({column}) AS {kind}_max, "
            f"COALESCE(SQRT(GREATEST({variance}, 0) / COUNT(*)) * 100 / NULLIF({mean}, 0), 0) AS {kind}_stdv"
        )

    sizes, own, none = (", MAX(size) AS size", ", size", ", NULL") if size else ("", "", "")
    return (
        f"{_shown(args, source, size=size)}, paths AS (SELECT name, SUM(unitless(total)) FILTER (WHERE NOT recursive) "
        "AS total FROM dctv.flame_graph(shown, nesting=>'strict') GROUP BY name "
        f"UNION ALL SELECT name, SUM(_duration) FROM told GROUP BY name), rows AS (SELECT name, _duration, self{own} "
        f"FROM shown UNION ALL SELECT name, _duration, _duration{none} FROM told), each AS (SELECT name, SUM(self) AS "
        f"self, COUNT(*) AS call{sizes}, {figures('total', '_duration')}, "
        f"{figures('self', 'self')} FROM rows GROUP BY name)"
        ", sums AS (SELECT each.*, total FROM each JOIN paths ON paths.name <=> each.name)"
    )
