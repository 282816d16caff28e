"""Rules of filters: which functions they name, and what they say of them."""

from __future__ import annotations

from typing import Literal

from dctv.record import fields, record, replace

Match = Literal["regex", "glob", "simple"]
MATCHES: tuple[Match, ...] = ("regex", "glob", "simple")
COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan", "gray", "bold")
DEPTH = 1024
"""Levels that are shown unless fewer are asked for."""
Condition = tuple[int, str, int]


@record
class Trigger:
    """What the rules say of one function."""

    filter: bool | None = None
    """Whether it is let in or left out, with all that it calls."""
    location: bool | None = None
    """Likewise by its source file, without what it calls."""
    depth: int | None = None
    time: int | None = None
    """In ns."""
    size: int | None = None
    """In bytes."""
    hide: bool = False
    caller: bool = False
    trace: bool = False
    on: bool = False
    off: bool = False
    finish: bool = False
    sample: int | None = None
    condition: Condition | None = None
    """Number of an argument (from 1), comparison and operand."""
    backtrace: bool = False
    color: str | None = None
    """How a terminal shows its name."""

    def updated(self, other: Trigger) -> Trigger:
        """Return what both say; where they differ the other one's word counts."""
        said = {one.name: getattr(other, one.name) for one in fields(other) if getattr(other, one.name) != one.default}
        return replace(self, **said)


@record
class CallRule:
    """The functions that a word of a filter names, and what it says of them."""

    name: str
    trigger: Trigger
    module: str | None = None
    by_file: bool = False


@record
class CallFilters:
    """All filters of a run; what they say of a function depends on what it is alone, so each is looked at once."""

    rules: tuple[CallRule, ...] = ()
    match: Match = "regex"
    depth: int = DEPTH
    time: int = 0
    """Shorter calls are left out, in ns."""
    size: int = 0
    """Calls of smaller functions are left out, in bytes."""
    start: int | None = None
    stop: int | None = None
    """What was before or after is not read, in ns."""
    enabled: bool = True
    """Whether the trace is on at its begin."""

    @property
    def opt_in(self) -> bool:
        """Whether only what a function was let in for is shown."""
        return any(rule.trigger.filter for rule in self.rules)

    @property
    def located(self) -> bool:
        """Whether only functions of some files are shown."""
        return any(rule.trigger.location for rule in self.rules)

    @property
    def callers(self) -> bool:
        """Whether only calls that lead to a marked one are shown."""
        return any(rule.trigger.caller for rule in self.rules)

    @property
    def toggles(self) -> bool:
        """Whether a function turns the trace on or off, or ends it."""
        return any(rule.trigger.on or rule.trigger.off or rule.trigger.finish for rule in self.rules)

    @property
    def in_order(self) -> bool:
        """Whether it is known where a call begins if it is shown, so that what is shown comes in order of time."""
        late = self.callers or any(rule.trigger.trace or rule.trigger.time is not None for rule in self.rules)
        return self.at_begin and not late

    @property
    def at_begin(self) -> bool:
        """Whether it is known when a call begins, or when one in it does, whether it is shown."""
        return not self.toggles and self.start is None and self.enabled

    @property
    def by_size(self) -> bool:
        """Whether sizes of functions must be known."""
        return self.size > 0 or any(rule.trigger.size for rule in self.rules)

    @property
    def by_module(self) -> bool:
        """Whether modules of functions must be known."""
        return any(rule.module is not None for rule in self.rules)

    @property
    def counts(self) -> bool:
        """Whether calls are counted, which is by function, in whatever module."""
        return any(rule.trigger.sample is not None for rule in self.rules)

    @property
    def by_file(self) -> bool:
        """Whether source files of functions must be known."""
        return any(rule.by_file for rule in self.rules)

    @property
    def by_arguments(self) -> bool:
        """Whether arguments of calls must be known."""
        return any(rule.trigger.condition is not None for rule in self.rules)

    @property
    def backtraces(self) -> bool:
        """Whether the calls that one is in are wanted too, which is for texts."""
        return any(rule.trigger.backtrace for rule in self.rules)
