"""Build the SQL of frames, which are sums by stack, from a mounted trace and the options of `dctv flame`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.cli.call_trees.options import arguments, quoted
from dctv.cli.call_trees.queries import CallSource, calls_of, property_of, run_internal
from dctv.console.narration import warn
from dctv.errors import UsageError

if TYPE_CHECKING:
    from dctv.session import Session

SOURCES = ("calls", "slices", "samples")
"""Sources of frames; the default is the first one that the trace has."""
WEIGHTS = ("count", "period")
"""What a sample counts as."""
_WRITTEN = "COALESCE(NULLIF(REPLACE(COALESCE(name, '<0>'), ';', CHR(31)), ''), CHR(30))"
"""Names in stacks that are texts, separated by `;`; none is empty."""
_READ = "REPLACE(REPLACE(name, CHR(31), ';'), CHR(30), '')"
_BEFORE = "ORDER BY REPLACE(stack, ';', CHR(1)) ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""Sorts each stack after its prefixes, and before all others."""


def frames_of_calls(args: Namespace, source: CallSource) -> str:
    """Return the query of frames of calls, or slices, that pass: id, parent_id, depth, name, calls, total, self."""
    filters = ", ".join(arguments(args, source.start))
    renamed = "CASE WHEN state = 'inherited' THEN NULL ELSE name END" if source.recorded else "name"
    shown = (
        f"WITH calls AS ({calls_of(args, source)}), shown AS (SELECT _ts, unitless(dur) AS _duration, id, "
        f"parent AS parent_id, tid, {renamed} AS name FROM dctv.filter_calls(calls, {filters}))"
    )
    return _frames(shown, "dctv.flame_graph(shown, nesting=>'strict')", reverse=args.reverse)


def frames_of_samples(args: Namespace, source: CallSource) -> str:
    """Return the query of frames of samples; filters treat each stack as nested calls."""
    weight = f", weight=>{quoted(args.weight)}" if args.weight == "period" else ""
    where = " AND ".join(_chosen(args, source))
    sampled = f"SELECT * FROM {source.mount}.samples.samples{f' WHERE {where}' if where else ''}"
    found = f"WITH sampled AS ({sampled}), paths AS (SELECT * FROM dctv.flame_graph(sampled{weight}))"
    unfiltered = Namespace(**{**vars(args), "time_range": None, "tid": None})
    filters = ", ".join(arguments(unfiltered, 0))
    # Each stack becomes a call that first has its own share, then its callees: these nest like calls.
    shown = (
        f"{found}, placed AS (SELECT SUM(unitless(self)) OVER ({_BEFORE})::INT64 - unitless(self) AS _ts, "
        "unitless(total) AS _duration, id, parent_id, 0 AS tid, name FROM paths), "
        f"shown AS (SELECT * FROM dctv.filter_calls(placed, {filters}))"
    )
    return _frames(shown, "dctv.flame_graph(shown, nesting=>'strict')", reverse=args.reverse)


def _chosen(args: Namespace, source: CallSource) -> Iterator[str]:
    """Yield conditions on samples, and reject filters that apply only to calls."""
    for option, what in (("time_filter", "-t"), ("size_filter", "-Z"), ("location", "-L")):
        if getattr(args, option):
            raise UsageError(f"`{what}` applies to calls, not to samples")
    if args.trace == "off":
        raise UsageError("`--trace off` applies to calls, not to samples")
    if any("sample=" in word or "time=" in word for word in [*(args.filters or ()), *(args.triggers or ())]):
        raise UsageError("`sample` and `time` apply to calls, not to samples")
    if args.events:
        yield f"`event` IN ({', '.join(quoted(event) for event in args.events)})"
    if args.tid:
        yield f"tid IN ({', '.join(str(tid) for tid in args.tid)})"
    first, last = args.time_range or (None, None)
    for sign, end in ((">=", first), ("<=", last)):
        if end is not None:
            yield f"unitless(_ts) {sign} {end[0] - (0 if end[1] else source.start)}"


def _frames(shown: str, frames: str, *, reverse: bool) -> str:
    """Return the query of frames; `reverse` starts from the innermost function of each stack."""
    columns = "id, parent_id, depth, name, `count` AS calls, unitless(total) AS total, unitless(self) AS own"
    if not reverse:
        return f"{shown} SELECT {columns} FROM {frames}"
    renamed = f"SELECT _ts, _duration, id, parent_id, {_WRITTEN} AS name FROM shown"
    turned = "ARRAY_TO_STRING(LIST_REVERSE(STRING_SPLIT(stack, ';')), ';')"
    return (
        f"{shown}, renamed AS ({renamed}), leaves AS (SELECT {turned} AS stack, unitless(self) AS own "
        f"FROM dctv.flame_graph(renamed, nesting=>'strict') WHERE unitless(self) > 0) "
        f"SELECT {columns.replace('name,', f'{_READ} AS name,', 1)} "
        "FROM dctv.flame_graph(leaves, weight=>'own')"
    )


def has_rows(session: Session, table: str) -> bool:
    """Return whether a table has rows."""
    return bool(session.sql(f"SELECT 1 AS one FROM {table} LIMIT 1").fetchall())


def check_events(session: Session, args: Namespace, source: CallSource) -> None:
    """Refuse events that the chosen samples do not have, and warn if samples of several are added up.

    Raises:
        UsageError: an event has no samples.
    """
    where = " AND ".join(_chosen(Namespace(**{**vars(args), "events": None}), source))
    chosen = f"{source.mount}.samples.samples{f' WHERE {where}' if where else ''}"
    counts = f"SELECT `event`, COUNT(*) AS samples FROM {chosen} GROUP BY `event`"
    found = dict(run_internal(session, f"{counts} ORDER BY samples DESC, `event`").fetchall())
    shown = ", ".join(f"{event or 'without an event'} ({count:,})" for event, count in found.items())
    for event in args.events or ():
        if event not in found:
            raise UsageError(f"no sample is of the event `{event}`", hint=f"samples are of {shown}")
    if len(found) > 1 and not args.events:
        text = f"samples of several events are added up: {shown}; `--event` takes one"
        warn([(text, 1)])


def usual_weight(session: Session, mount: str) -> str:
    """Return the default weight of samples; samples without times that all have periods count by these."""
    if property_of(session, mount, "clock") != "none":
        return "count"
    return "count" if has_rows(session, f"{mount}.samples.samples WHERE period IS NULL") else "period"
