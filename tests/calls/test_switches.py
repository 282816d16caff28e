"""What turns the trace on and off, against a machine that follows begins and ends in order of time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from dctv.calls.rules import CallFilters
from tests.bounds import bounded
from tests.calls.trees import NAMES, Call, Walk, filtered, filters, traces

_WORD = st.builds(
    "{} {}".format,
    st.just("-T"),
    st.builds(
        "{}@{}".format,
        st.sampled_from(NAMES),
        st.sampled_from(["trace_on", "trace_off", "trace-on", "traceoff", "depth=1", "hide", "filter"]),
    ),
)
_OTHER = st.builds("{} {}".format, st.sampled_from(["-F", "-N", "-H"]), st.sampled_from(NAMES))


@dataclass
class Frame:
    """An open call, and what it changed."""

    call: Call
    recorded: bool = True
    entered: bool = False
    let_in: bool = False
    left_out: bool = False
    budget: int = 0


@dataclass
class Task:
    """What holds in a thread now."""

    budget: int
    placed: bool
    frames: list[Frame] = field(default_factory=list)
    let_in: int = 0
    left_out: int = 0
    level: int = 0


class Machine:
    """Counts up where a call begins and down where it ends."""

    def __init__(self, chosen: CallFilters) -> None:
        self.filters = chosen
        self.enabled = chosen.enabled
        self.tasks: defaultdict[int, Task] = defaultdict(lambda: Task(chosen.depth, chosen.enabled))
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def follow(self, calls: list[Call]) -> None:
        """Take all begins and ends."""
        events = [(call.ts, True, call) for call in calls]
        events += [(call.end, False, call) for call in calls if call.end is not None]
        for _, begins, call in sorted(events, key=lambda event: event[0]):
            task = self.tasks[call.tid]
            if begins:
                self.begin(task, Frame(call, budget=task.budget))
            else:
                self.end(task, task.frames.pop())

    def begin(self, task: Task, frame: Frame) -> None:
        """Decide on a call."""
        task.frames.append(frame)
        trigger = Walk(self.filters).said(frame.call)
        if task.left_out:
            frame.recorded = False
            return
        if trigger.filter is not None:
            frame.let_in, frame.left_out = trigger.filter, not trigger.filter
            task.let_in += frame.let_in
            task.left_out += frame.left_out
        if frame.let_in:
            task.budget = self.filters.depth
        if frame.left_out or (self.filters.opt_in and not task.let_in):
            frame.recorded = False
            return
        task.budget = task.budget if trigger.depth is None else trigger.depth
        if trigger.on or trigger.off:
            self.enabled = not trigger.off
            task.placed = task.placed and not trigger.off
        if self.enabled:
            frame.recorded = task.budget > 0 and not trigger.hide
        if self.enabled and frame.recorded:
            self.show(task, frame)

    def show(self, task: Task, frame: Frame) -> None:
        """Show the begin of a call."""
        task.budget -= 1
        if not task.placed:
            task.level, task.placed = len(task.frames) - 1, True
        self.begins[frame.call.id] = task.level
        task.level += 1

    def end(self, task: Task, frame: Frame) -> None:
        """Show the end of a call, and forget what it changed."""
        if frame.recorded and self.enabled:
            if not task.placed:
                task.level, task.placed = len(task.frames) + 1, True
            task.level = max(task.level - 1, 0)
            self.ends[frame.call.id] = task.level
        task.let_in -= frame.let_in
        task.left_out -= frame.left_out
        task.budget = frame.budget


@bounded(400)
@given(
    traces(60), st.lists(_WORD, min_size=1, max_size=3), st.lists(_OTHER, max_size=1), st.sampled_from(["on", "off"])
)
def test_a_machine_shows_the_same(calls: list[Call], words: list[str], others: list[str], trace: str) -> None:
    chosen = filters(*others, *words, depth=3, enabled=trace == "on")
    machine = Machine(chosen)
    machine.follow(calls)
    rows = filtered(calls, chosen)
    if chosen.enabled and not chosen.toggles:
        return
    assert {row[2]: row[6] for row in rows if row[5] & 1} == machine.begins
    assert {row[2]: row[7] for row in rows if row[5] & 2} == machine.ends


@bounded(200)
@given(traces(60), st.sampled_from(NAMES))
def test_nothing_is_shown_after_the_finish(calls: list[Call], name: str) -> None:
    last = next((call.id for call in calls if call.name == name), len(calls))
    rows = filtered(calls, filters(f"-T {name}@finish"))
    assert sorted(row[2] for row in rows) == list(range(1, last + 1))
