"""Rules of filters: the functions that they match, and their effects on these."""

from __future__ import annotations

from typing import Literal

from dctv.record import fields, record, replace

Match = Literal["regex", "glob", "simple"]
MATCHES: tuple[Match, ...] = ("regex", "glob", "simple")
COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan", "gray", "bold")
DEPTH = 1024
"""The default number of levels that are shown."""
Condition = tuple[int, str, int]


@record
class Trigger:
    """The combined effect of rules on one function."""

    filter: bool | None = None
    """Whether it is included or excluded, with all its callees."""
    location: bool | None = None
    """Likewise by its source file, without callees."""
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
    """Index of an argument (from 1), comparison and operand."""
    backtrace: bool = False
    color: str | None = None
    """The colour of its name on a terminal."""

    def updated(self, other: Trigger) -> Trigger:
        """Return the combined effects; where both set one, the other's applies."""
        changed = {
            one.name: getattr(other, one.name) for one in fields(other) if getattr(other, one.name) != one.default
        }
        return replace(self, **changed)


@record
class CallRule:
    """The functions that a word of a filter matches, and its effect on them."""

    name: str
    trigger: Trigger
    module: str | None = None
    by_file: bool = False


@record
class CallFilters:
    """All filters of a run; their effect depends only on the function, so each function is evaluated once."""

    rules: tuple[CallRule, ...] = ()
    match: Match = "regex"
    depth: int = DEPTH
    time: int = 0
    """Shorter calls are excluded, in ns."""
    size: int = 0
    """Calls of smaller functions are excluded, in bytes."""
    start: int | None = None
    stop: int | None = None
    """Calls before `start` or after `stop` are not read, in ns."""
    enabled: bool = True
    """Whether tracing is on at the beginning."""

    @property
    def opt_in(self) -> bool:
        """Whether only included functions and their callees are shown."""
        return any(rule.trigger.filter for rule in self.rules)

    @property
    def located(self) -> bool:
        """Whether only functions of certain source files are shown."""
        return any(rule.trigger.location for rule in self.rules)

    @property
    def callers(self) -> bool:
        """Whether only calls that lead to a marked one are shown."""
        return any(rule.trigger.caller for rule in self.rules)

    @property
    def toggles(self) -> bool:
        """Whether a function turns tracing on or off, or ends it."""
        return any(rule.trigger.on or rule.trigger.off or rule.trigger.finish for rule in self.rules)

    @property
    def in_order(self) -> bool:
        """Whether a call's begin decides whether it is shown, so that shown calls come in order of time."""
        late = self.callers or any(rule.trigger.trace or rule.trigger.time is not None for rule in self.rules)
        return self.at_begin and not late

    @property
    def at_begin(self) -> bool:
        """Whether a call's begin, or that of a call within it, decides whether it is shown."""
        return not self.toggles and self.start is None and self.enabled

    @property
    def by_size(self) -> bool:
        """Whether sizes of functions are needed."""
        return self.size > 0 or any(rule.trigger.size for rule in self.rules)

    @property
    def by_module(self) -> bool:
        """Whether modules of functions are needed."""
        return any(rule.module is not None for rule in self.rules)

    @property
    def counts(self) -> bool:
        """Whether calls are counted, by function in any module."""
        return any(rule.trigger.sample is not None for rule in self.rules)

    @property
    def by_file(self) -> bool:
        """Whether source files of functions are needed."""
        return any(rule.by_file for rule in self.rules)

    @property
    def by_arguments(self) -> bool:
        """Whether arguments of calls are needed."""
        return any(rule.trigger.condition is not None for rule in self.rules)

    @property
    def backtraces(self) -> bool:
        """Whether the callers of a call are also shown, as text."""
        return any(rule.trigger.backtrace for rule in self.rules)
