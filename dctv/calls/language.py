"""Parse words of filters, `main`, `!free`, `a@sample=2;b@depth=1,backtrace`, into rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from dctv.calls.rules import COLORS, CallRule, Match, Trigger
from dctv.errors import Place, SourceText, UsageError, nearest
from dctv.patterns import pattern
from dctv.record import record, replace

Option = Literal["filter", "notrace", "trigger", "caller", "hide", "location"]
ARGUMENTS: Mapping[str, Option] = {
    "filters": "filter",
    "notrace": "notrace",
    "triggers": "trigger",
    "callers": "caller",
    "hide": "hide",
    "location": "location",
}
"""SQL names of the options that are lists of words."""

_UNITS = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_TIME = pattern(r"([0-9]+)([a-z]*)")
_CONDITION = pattern(r"arg([0-9]+)(?:/[a-z]+[0-9]*)?(==|!=|>=|<=|>|<|&)(-?(?:0x[0-9a-fA-F]+|[0-9]+))")
_LARGEST = 2**63 - 1


def time_of(text: str, place: Place | None = None) -> int:
    """Return the nanoseconds of `100us`; a number without a unit is in ns."""
    found = _TIME.fullmatch(text)
    if found is None or found[2] not in _UNITS:
        raise UsageError(f"expected a time such as `100us`, found `{text}`", place)
    return min(int(found[1]) * _UNITS[found[2]], _LARGEST)


def decimal_time_of(whole: str, decimals: str, unit: str) -> int:
    """Return the nanoseconds of the parts of `1.5s`, without fractions of one."""
    time: int = int(whole + decimals) * _UNITS[unit] // 10 ** len(decimals)
    return min(time, _LARGEST)


def _number(lowest: int) -> Callable[[str, Place], int]:
    def read(text: str, place: Place) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < lowest:
            raise UsageError(f"expected a number from {lowest}, found `{text}`", place)
        return int(text)

    return read


def _condition(text: str, place: Place) -> tuple[int, str, int]:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a condition such as `arg1==3`, found `{text}`", place)
    number, operand = int(found[1][:9]), int(found[3], 0 if "x" in found[3] else 10)
    if number < 1:
        raise UsageError("arguments are numbered from 1, found `arg0`", place)
    if abs(operand) > _LARGEST:
        raise UsageError(f"`{found[3]}` does not fit into 64 bits", place)
    return number, found[2], operand


def _color(text: str, place: Place) -> str:
    if text not in COLORS:
        near = nearest(text, list(COLORS))
        hint = f"did you mean `{near}`?" if near else f"colours: {', '.join(COLORS)}"
        raise UsageError(f"unknown colour `{text}`", place, hint=hint)
    return text


@record
class _Action:
    """A word after `@`: its field, and the parser of the value after `=` or `:`."""

    field: str
    value: Any = None
    read: Callable[[str, Place], Any] | None = None
    sign: str = "="


_ACTIONS = {
    "filter": _Action("filter", value=True),
    "notrace": _Action("filter", value=False),
    "depth": _Action("depth", read=_number(0)),
    "time": _Action("time", read=time_of),
    "size": _Action("size", read=_number(0)),
    "hide": _Action("hide", value=True),
    "caller": _Action("caller", value=True),
    "trace": _Action("trace", value=True),
    "trace_on": _Action("on", value=True),
    "trace_off": _Action("off", value=True),
    "finish": _Action("finish", value=True),
    "backtrace": _Action("backtrace", value=True),
    "sample": _Action("sample", read=_number(1)),
    "color": _Action("color", read=_color),
    "if": _Action("condition", read=_condition, sign=":"),
}
_SPELLINGS = {"trace-on": "trace_on", "traceon": "trace_on", "trace-off": "trace_off", "traceoff": "trace_off"}

_START: dict[Option, Trigger] = {
    "filter": Trigger(filter=True),
    "notrace": Trigger(filter=False),
    "trigger": Trigger(),
    "caller": Trigger(caller=True),
    "hide": Trigger(hide=True),
    "location": Trigger(location=True),
}
_ALLOWED: dict[Option, tuple[str, ...]] = {
    "filter": ("filter", "notrace", "depth", "time", "size", "caller", "hide", "if", "sample"),
    "notrace": ("if",),
    "trigger": tuple(_ACTIONS),
    "caller": (),
    "hide": (),
    "location": ("hide",),
}


def rules_of(option: Option, texts: Iterable[str], match: Match = "regex") -> Iterator[CallRule]:
    """Yield the rules of an option's values, each of them one or more words separated by `;`.

    Raises:
        UsageError: a word is invalid; the error shows where.
    """
    for text in texts:
        source, start = SourceText(f"<{option}>", text), 0
        for word in text.split(";"):
            yield _rule(option, Place(source, start, start + len(word)), match)
            start += len(word) + 1


def _rule(option: Option, place: Place, match: Match) -> CallRule:
    word = place.text
    refused = word.startswith("!") and option in ("filter", "location")
    if refused:
        option, place = "notrace" if option == "filter" else option, replace(place, start=place.start + 1)
    name, _, rest = place.text.partition("@")
    named = replace(place, stop=place.start + len(name))
    if not name:
        what = "a source file" if option == "location" else "a function"
        raise UsageError(f"expected the name of {what}, found `{word}`", place)
    _check(name, named, match)
    trigger, module, start = _START[option], None, named.stop + 1
    for part in re.split("[@,]", rest) if named.stop < place.stop else ():
        at = replace(place, start=start, stop=start + len(part))
        start = at.stop + 1
        found = _action(option, at, first=module is None)
        if found is None:
            module = part
        else:
            trigger = trigger.updated(found)
    if option == "location" and (refused or trigger.hide):
        trigger = Trigger(location=False)
    if trigger.sample is not None and (trigger.hide or trigger.filter is False):
        raise UsageError("`sample` counts only calls that are shown, and these are hidden", place)
    if option == "trigger" and trigger == Trigger():
        actions = ", ".join(_ACTIONS)
        raise UsageError(f"expected an action after `{word}`", place, hint=f"actions: {actions}")
    return CallRule(name, trigger, module, by_file=option == "location")


def _check(name: str, place: Place, match: Match) -> None:
    from dctv import _kernels  # compiled; only needed when there are filters

    fault = _kernels.call_pattern_fault(name, match)
    if fault is not None:
        hint = "with match `simple`, names are taken as they are"
        raise UsageError(f"`{name}` is not a valid pattern: {fault}", place, hint=hint)


def _action(option: Option, place: Place, *, first: bool) -> Trigger | None:
    """Parse an action; None if the word is the name of a module."""
    found = re.match(r"[^=:]*", place.text)
    word = found[0] if found else ""
    sign, value = place.text[len(word) : len(word) + 1], place.text[len(word) + 1 :]
    word = _SPELLINGS.get(word, word)
    action = _ACTIONS.get(word)
    if action is None:
        near = nearest(word, list(_ACTIONS))
        if first and near is None and not sign and word:
            return None
        hint = f"did you mean `{near}`?" if near else f"actions: {', '.join(_ACTIONS)}"
        raise UsageError(f"unknown action `{place.text}`", place, hint=hint)
    if word not in _ALLOWED[option]:
        allowed = ", ".join(f"`{one}`" for one in _ALLOWED[option]) or "none"
        kind = "a filter" if option == "filter" else f"a {option} filter"
        hint = f"a trigger takes it; {kind} takes {allowed}"
        raise UsageError(f"{kind} takes no action `{word}`", place, hint=hint)
    if action.read is None:
        if sign:
            raise UsageError(f"`{word}` takes no value, found `{place.text}`", place)
        return Trigger(**{action.field: action.value})
    if sign != action.sign:
        raise UsageError(f"expected `{word}{action.sign}` and a value, found `{place.text}`", place)
    behind = replace(place, start=place.stop - len(value))
    return Trigger(**{action.field: action.read(value, behind if value else place)})
