"""Turn switches and wakeups into thread states, and those into the critical path of one thread, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, values
from dctv.functions.span.forms.steps import LAST
from dctv.plan import build as w
from dctv.plan.expressions import FALSE, NULL, TRUE, And, Binary, Call, Cast, Column, Expression, InList, IsNull, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema

OWN = 7
"""The number of input columns that are read: kind, cpu, target_cpu, tid, other_tid, code, line."""
MADE = 15
"""The number of columns before those that are passed through."""

_KIND, _CPU, _TARGET, _TID, _OTHER, _CODE, _LINE = (f"a{at}" for at in range(OWN))
_MADE = ("ts", "m1", "tid", "m3", "cpu", "line", "woken", "waker", "m8", "m9", "m10", "m11", "m12", "m13", "m14")
_PIECE = ("ts", "m1", "tid", "m3", "cpu", "depth", "m6")


def states(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> Query:
    """Return each state of each thread with the event that ended it."""
    (source,) = inputs
    steps: list[tuple[str, Query]] = [
        ("rows", events(source, 0, "event", "a")),
        ("switches", _switches()),
        ("sides", _sides()),
        ("followed", w.select(w.STAR, Item(_after("row"), "next_row"), source="sides")),
        ("before", _last_switches()),
        ("wakeups", _wakeups()),
        ("changes", _changes()),
        ("judged", w.select(w.STAR, Item(_along("lag", "state"), "before"), source="changes")),
        ("kept", _without_repeated_wakeups()),
    ]
    payload = values(source, 1, "a")[OWN:]
    items = [*w.columns(_MADE, "s"), *w.columns(payload, "r")]
    query = w.select(*w.named(items, options["names"]), source=_ended(), alias="s")
    query = w.join(query, "rows", "r", [w.equal(Column("row", "r"), Column("shown", "s"))])
    return w.with_steps(query, steps)


def critical_path(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> Query:
    """Return the pieces of one thread's time, with the thread responsible for each."""
    (source,) = inputs
    tid, start, end = (w.number(options[name]) for name in ("tid", "start", "end"))
    steps: list[tuple[str, Query]] = [
        ("rows", events(source, 0, "state", "a")),
        ("known", _lasting()),
        ("stretches", w.union_all(_requested_range(tid, start, end), _waited_for())),
        ("met", _within_stretches()),
        ("edges", _edges()),
        ("gaps", _gaps()),
        ("pieces", _pieces()),
    ]
    found = [Column("ts"), w.minus(Column("until"), Column("ts")), Column("tid"), _tiny(Column("state"))]
    found += [Column("cpu"), Column("depth"), _tiny(Column("reason"))]
    made = w.select(*w.named(found, _PIECE), source="pieces")
    query = w.select(*w.named(w.columns(_PIECE, "p"), options["names"]), source=made, alias="p")
    return w.with_steps(w.sorted_by(query, Column("ts", "p")), steps, recursive="stretches")


def _is(value: Expression, number: int) -> Expression:
    return w.equal(value, w.number(number))


def _is_thread(tid: Expression) -> Expression:
    """Test that a thread is not an idle thread."""
    return w.unequal(tid, w.number(0))


def _less(a: Expression, b: Expression) -> Expression:
    return Binary("<", a, b)


def _coalesced(value: Expression, other: Expression) -> Expression:
    return w.call("coalesce", value, other)


def _tiny(value: Expression) -> Expression:
    return Cast(value, "TINYINT")


def _along(function: str, what: str) -> Expression:
    """Apply a window function over the changes of each thread."""
    return w.over(w.call(function, Column(what)), w.columns(["tid"]), w.columns(["row", "step"]))


def _after(what: str) -> Expression:
    return _along("lead", what)


def _switches() -> Select:
    """Return switches, each with the next one of the CPU."""
    until = w.over(w.call("lead", Column("row")), w.columns([_CPU]), w.columns(["row"]))
    return w.where(w.select(w.STAR, Item(until, "until"), source="rows"), _is(Column(_KIND), 0))


def _sides() -> Query:
    """Return the previous and next thread of each switch."""
    comes = [w.number(1), Column(_TID), w.number(5), w.number(0), Column(_CPU)]
    coming = w.select("row", *w.named(comes, ["step", "tid", "state", "side", "cpu"]), "until", source="switches")
    state = _coalesced(Column(_CODE), w.number(4))
    going = w.select("row", w.number(0), _OTHER, state, w.number(1), _CPU, NULL, source="switches")
    return w.union_all(w.where(coming, _is_thread(Column(_TID))), w.where(going, _is_thread(Column(_OTHER))))


def _last_switches() -> Select:
    """Return the last switch of the CPU up to each row."""
    switch = w.case((_is(Column(_KIND), 0), Column("row")))
    last = w.over(Call("last_value", (switch,), nulls="IGNORE"), w.columns([_CPU]), w.columns(["row"]))
    return w.select(w.STAR, Item(last, "last"), source="rows")


def _wakeups() -> Select:
    """Return wakeups, with the waker they record or else the thread on the CPU."""
    waker = _coalesced(Column(_OTHER, "w"), Column(_TID, "s"))
    found = [*w.columns([_TID, _TARGET, _CODE], "w"), waker]
    items = w.named(found, ["tid", "cpu", "context", "waker"])
    query = w.select(Column("row", "w"), *items, source="before", alias="w")
    query = w.join(query, "rows", "s", [w.equal(Column("row", "s"), Column("last", "w"))], "LEFT")
    return w.where(query, _is(Column(_KIND, "w"), 1), _is_thread(Column(_TID, "w")))


def _changes() -> Query:
    """Return changes of state: from switches, threads that never come back, and wakeups."""
    rest = w.named([Column("row"), NULL, NULL, FALSE], ["shown", "waker", "context", "woken"])
    switched = w.select("row", "step", "tid", "state", "side", "cpu", *rest, source="followed")
    lost = w.select(
        "until", w.number(0), "tid", w.number(4), "side", "cpu", "row", NULL, NULL, FALSE, source="followed"
    )
    until, following = Column("until"), Column("next_row")
    lost = w.where(lost, w.is_not_null(until), w.any_of([IsNull(following), _less(until, following)]))
    zero = w.number(0)
    woken = w.select("row", zero, "tid", zero, zero, "cpu", "row", "waker", "context", TRUE, source="wakeups")
    return w.union_all(switched, lost, woken)


def _without_repeated_wakeups() -> Select:
    """Drop wakeups of threads that are running or runnable, and add times to changes."""
    query = w.select(Star("c"), Column("ts", "r"), Item(Column(_LINE, "r"), "line"), source="judged", alias="c")
    query = w.join(query, "rows", "r", [w.equal(Column("row", "r"), Column("row", "c"))])
    before = Column("before", "c")
    asleep = w.negated(InList(before, (w.number(0), w.number(5))))
    return w.where(query, w.any_of([w.negated(Column("woken", "c")), IsNull(before), asleep]))


def _ended() -> Select:
    """Return states, each with the change that ends it."""
    following = [_tiny(_after("state")), *map(_after, ("cpu", "line", "waker")), _tiny(_after("context"))]
    own = [Column("tid"), _tiny(Column("state")), *w.columns(["cpu", "line", "woken", "waker"])]
    own += [_tiny(Column("context")), _tiny(Column("side"))]
    made = w.named([Column("ts"), _after("ts"), *own, *following], _MADE)
    return w.select(*made, "shown", source="kept")


def _lasting() -> Select:
    """Return states with a positive length; one without an end extends to the last time."""
    until = _coalesced(Column("a0"), LAST)
    found = {
        "until": until,
        "tid": Column("a1"),
        "state": _coalesced(Column("a2"), w.number(4)),
        "cpu": Column("a3"),
        "line": _coalesced(Column("a4"), w.number(0)),
        "waker": Column("a5"),
        "context": Column("a6"),
    }
    query = w.select("ts", *w.named(found.values(), found), source="rows")
    return w.where(query, w.is_not_null(Column("a1")), w.greater(until, Column("ts")))


def _requested_range(tid: Expression, start: Expression, end: Expression) -> Select:
    """Return the requested time range of the thread."""
    found = [*(Cast(value, "BIGINT") for value in (w.number(0), tid, start, end)), LAST, LAST]
    names = ["depth", "tid", "lo", "hi", "limit_ts", "limit_line"]
    return w.where(Select(tuple(w.named(found, names))), _less(start, end))


def _in_states(*items: Expression | Item | str) -> Select:
    """Join stretches, `g`, with the states of their threads, `k`."""
    on = [
        w.equal(Column("tid", "k"), Column("tid", "g")),
        _less(Column("ts", "k"), Column("hi", "g")),
        w.greater(Column("until", "k"), Column("lo", "g")),
    ]
    return w.join(w.select(*items, source="stretches", alias="g"), "known", "k", on)


def _piece() -> list[Expression]:
    """Return begin and end of the intersection of a stretch and a state."""
    begin = w.call("greatest", Column("ts", "k"), Column("lo", "g"))
    return [begin, w.least(Column("until", "k"), Column("hi", "g"))]


def _limited(operator: str, at_once: str) -> Expression:
    """Compare the end of a state with the limit of its stretch: by time, or by line if the times are equal."""
    until, line = Column("until", "k"), Column("line", "k")
    limit = Column("limit_ts", "g")
    by_line = And((w.equal(until, limit), Binary(at_once, line, Column("limit_line", "g"))))
    return w.any_of([Binary(operator, until, limit), by_line])


def _waits() -> Expression:
    """Test whether a state is one that other threads end."""
    return InList(Column("state", "k"), (w.number(1), w.number(2)))


def _waited_for() -> Select:
    """Return the times in which the waker of a waiting thread is responsible."""
    until, waker = Column("until", "k"), Column("waker", "k")
    depth = w.plus(Column("depth", "g"), w.number(1))
    query = _in_states(depth, waker, *_piece(), until, Column("line", "k"))
    by_thread = Binary("<!=>", Column("context", "k"), w.number(1))
    return w.where(query, _waits(), _less(until, LAST), by_thread, _is_thread(waker), _limited("<", "<"))


def _within_stretches() -> Select:
    """Return the states within stretches; `reason` says why no other thread is responsible, 9 that one is."""
    waker = Column("waker", "k")
    reason = w.case(
        (w.negated(_waits()), w.number(0)),
        (w.equal(Column("until", "k"), LAST), w.number(3)),
        (w.any_of([_is(Column("context", "k"), 1), _is(waker, 0)]), w.number(1)),
        (IsNull(waker), w.number(2)),
        (_limited(">", ">="), w.number(4)),
        default=w.number(9),
    )
    state, cpu = Column("state", "k"), Column("cpu", "k")
    return _in_states(Star("g"), *w.named(_piece(), ["ts", "until"]), state, cpu, Item(reason, "reason"))


def _edges() -> Query:
    own = ["depth", "tid", "lo", "hi"]
    found = w.select(*own, "ts", "until", source="met")
    return w.union_all(found, *(w.select(*own, edge, edge, source="stretches") for edge in ("lo", "hi")))


def _gaps() -> Select:
    """Return the times between the states of a stretch."""
    following = w.over(
        w.call("lead", Column("ts")), w.columns(["depth", "tid", "lo", "hi"]), w.columns(["ts", "until"])
    )
    return w.select("depth", "tid", Item(Column("until"), "ts"), Item(following, "until"), source="edges")


def _pieces() -> Query:
    """Return the pieces that no other thread is responsible for, with gaps as unknown states."""
    found = w.select("ts", "until", "tid", "state", "cpu", "depth", "reason", source="met")
    unknown = w.select("ts", "until", "tid", w.number(4), NULL, "depth", w.number(5), source="gaps")
    return w.union_all(
        w.where(found, w.unequal(Column("reason"), w.number(9))),
        w.where(unknown, w.greater(Column("until"), Column("ts"))),
    )
