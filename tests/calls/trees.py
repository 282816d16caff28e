"""Random calls of several threads, and filters of them decided by walking each tree from its root."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from dctv import _kernels
from dctv.calls.language import rules_of
from dctv.calls.rules import CallFilters, CallRule, Trigger
from tests.kernels.tables import rows

NAMES = "abcde"
SIZES = {"a": 10, "b": 20, "c": 30, "d": 40, "e": None}
SHOWN = ["_ts", "tid", "id", "parent_id", "depth", "marks", "indent", "outdent", "stack"]
COLUMNS = {
    "_ts": pa.int64(),
    "tid": pa.int64(),
    "id": pa.int64(),
    "parent": pa.int64(),
    "dur": pa.int64(),
    "name": pa.string(),
    "module": pa.string(),
    "size": pa.int64(),
    "file": pa.string(),
    "args": pa.string(),
    "marks": pa.int8(),
}


@dataclass
class Call:
    """A call and those that it makes."""

    id: int
    tid: int
    ts: int
    name: str
    args: int
    end: int | None = None
    parent: Call | None = None
    inner: list[Call] = field(default_factory=list)


@st.composite
def traces(draw: st.DrawFn, most: int = 40, least: int = 0, gaps: tuple[int, ...] = (1, 2, 3)) -> list[Call]:
    """Draw calls of up to three threads by their begins and ends, in order of time, with such gaps between them."""
    stacks: dict[int, list[Call]] = {1: [], 2: [], 3: []}
    calls: list[Call] = []
    now = 0
    step = st.tuples(st.sampled_from([1, 1, 2, 3]), st.sampled_from([*NAMES, "", "", ""]), st.sampled_from(gaps))
    for tid, name, gap in draw(st.lists(step, min_size=least, max_size=most)):
        now += gap
        stack = stacks[tid]
        if name:
            call = Call(len(calls) + 1, tid, now, name, now % 4, parent=stack[-1] if stack else None)
            calls.append(call)
            if stack:
                stack[-1].inner.append(call)
            stack.append(call)
        elif stack:
            stack.pop().end = now
    if draw(st.booleans()):
        for stack in stacks.values():
            while stack:
                now += 1
                stack.pop().end = now
    return calls


def table(calls: list[Call], cut: int = 0) -> pa.Table:
    """Return calls as the kernel takes them, in two batches."""
    found = [
        {
            "_ts": call.ts,
            "tid": call.tid,
            "id": call.id,
            "parent": call.parent and call.parent.id,
            "dur": None if call.end is None else call.end - call.ts,
            "name": call.name,
            "module": None,
            "size": SIZES[call.name],
            "file": f"{call.name}.c",
            "args": f"({call.args})",
            "marks": 3,
        }
        for call in calls
    ]
    whole = pa.Table.from_pylist(found, pa.schema(list(COLUMNS.items())))
    return pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])


def filtered(calls: list[Call], filters: CallFilters, cut: int = 0) -> list[tuple[Any, ...]]:
    """Return what the kernel shows: time, thread, id, parent, depth, marks, indents."""
    stream = _kernels.filter_calls(table(calls, cut), rules=filters, names=SHOWN)
    return rows(stream)


def filters(*words: str, **options: Any) -> CallFilters:
    """Return filters of words such as `-F a@sample=2`."""
    flags: dict[str, Any] = {
        "-F": "filter",
        "-N": "notrace",
        "-T": "trigger",
        "-C": "caller",
        "-H": "hide",
        "-L": "location",
    }
    rules: list[CallRule] = []
    for word in words:
        flag, _, text = word.partition(" ")
        rules += rules_of(flags[flag], [text])
    return CallFilters(tuple(rules), **options)


@dataclass
class Walk:
    """Shows calls by walking trees; what turns the trace on or off is not known to it."""

    filters: CallFilters
    counts: Counter[tuple[int, str]] = field(default_factory=Counter)
    shown: list[tuple[int, int | None, int]] = field(default_factory=list)

    def said(self, call: Call) -> Trigger:
        """Return what the filters say of a call's function."""
        found = Trigger()
        for rule in self.filters.rules:
            text = f"{call.name}.c" if rule.by_file else call.name
            if re.search(rule.name, text) if set(rule.name) & set(".|^[") else rule.name == text:
                found = found.updated(rule.trigger)
        return found

    def kept(self, call: Call, time: int, size: int) -> bool:
        """Say whether a call, or one that it leads to, is long enough and marked."""
        trigger = self.said(call)
        time = time if trigger.time is None else trigger.time
        size = size if trigger.size is None else trigger.size
        small = size > 0 and (SIZES[call.name] or 0) < size
        own = call.end is None or (call.end - call.ts >= time and (trigger.caller or not self.filters.callers))
        return ((own or trigger.trace) and not small) or any(self.kept(one, time, size) for one in call.inner)

    def walk(self, call: Call, above: list[int], within: dict[str, Any]) -> None:
        """Show a call and those that it leads to."""
        trigger = self.said(call)
        time = within["time"] if trigger.time is None else trigger.time
        size = within["size"] if trigger.size is None else trigger.size
        own = {**within, "time": time, "size": size}
        if size > 0 and (SIZES[call.name] or 0) < size:
            for one in call.inner:
                self.walk(one, above, own)
            return
        shown = self.decide(call, trigger, own)
        if shown and self.kept(call, within["time"], within["size"]):
            self.shown.append((call.id, above[-1] if above else None, len(above)))
            above = [*above, call.id]
        for one in call.inner:
            self.walk(one, above, own)

    def decide(self, call: Call, trigger: Trigger, own: dict[str, Any]) -> bool:
        """Say whether filters show a call, and note what holds for those that it makes."""
        if own["out"]:
            return False
        mode = trigger.filter
        if mode is not None and trigger.condition is not None and call.args != trigger.condition[2]:
            mode = None
        if mode is False:
            own["out"] = True
        elif mode:
            own.update(inside=True, left=self.filters.depth)
        elsewhere = self.filters.opt_in and not own["inside"]
        other_file = trigger.location is False or (self.filters.located and not trigger.location)
        if own["out"] or elsewhere or other_file:
            return False
        if trigger.depth is not None:
            own["left"] = trigger.depth
        return self.has_its_turn(call, trigger, own, lets_in=mode is True)

    def has_its_turn(self, call: Call, trigger: Trigger, own: dict[str, Any], *, lets_in: bool) -> bool:
        """Count a call if it would be shown, and say whether it is."""
        if own["left"] <= 0 or trigger.hide:
            return False
        if trigger.sample is not None:
            self.counts[call.tid, call.name] += 1
            if self.counts[call.tid, call.name] % trigger.sample:
                own["out"] = lets_in
                return False
        own["left"] -= 1
        return True


def walked(calls: list[Call], filters: CallFilters) -> list[tuple[int, int | None, int]]:
    """Return id, parent and depth of the calls that a walk shows, in order of id."""
    walk = Walk(filters)
    for call in calls:
        if call.parent is None:
            start = {"inside": False, "out": False, "left": filters.depth, "time": filters.time, "size": filters.size}
            walk.walk(call, [], start)
    return sorted(walk.shown)
