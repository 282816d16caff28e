"""Settings of the prompt, and how to set them by name."""

from __future__ import annotations

from collections.abc import Callable

import dctv.writers
from dctv.console.wall_times import EXPECTED, TRACE, checked
from dctv.contracts.registry import scan
from dctv.contracts.writer import Writer
from dctv.errors import UsageError, nearest
from dctv.record import field, record
from dctv.writers.table import TABLE

AUTO, FULL = "auto", "full"


@record(frozen=False)
class DisplaySettings:
    """The display of results."""

    writer: Writer = TABLE
    timing: bool = False
    maxrows: int | None = None
    """The maximum number of rows shown per result."""
    width: int | None = 0
    """Maximum width of tables; 0: that of the terminal; None: unlimited."""
    time: str = TRACE
    """The form of times: as in the trace, or wall-clock times in a zone."""
    params: dict[str | int, object] = field(default_factory=dict)
    """Values of parameters in statements."""


@record
class Setting:
    """A setting under its name at the prompt and in the configuration file."""

    values: str
    about: str
    get: Callable[[DisplaySettings], str]
    set: Callable[[DisplaySettings, str], None]
    """Sets it, or raises a ValueError."""


def modes() -> dict[str, Writer]:
    """Return the formats of results by name, with those only for files last."""
    found = scan(dctv.writers, Writer).items()
    return dict(sorted(found, key=lambda one: (not one[1].many, one[0])))


def set_to(settings: DisplaySettings, name: str, value: str) -> None:
    """Set a setting by name.

    Raises:
        UsageError: there is no such setting, or the value is invalid.
    """
    setting = SETTINGS.get(name)
    if setting is None:
        near = nearest(name, list(SETTINGS))
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(SETTINGS)}"
        raise UsageError(f"unknown setting `{name}`", hint=hint)
    try:
        setting.set(settings, value)
    except ValueError:
        raise UsageError(f"found `{value}` for `{name}`, expected {setting.values}") from None


def _set_mode(settings: DisplaySettings, value: str) -> None:
    mode_names = modes()
    if value not in mode_names:
        near = nearest(value, list(mode_names))
        hint = f"did you mean `{near}`?" if near else None
        raise UsageError(f"unknown mode `{value}`, expected one of {', '.join(mode_names)}", hint=hint)
    settings.writer = mode_names[value]


def _set_timing(settings: DisplaySettings, value: str) -> None:
    if value not in {"on", "off"}:
        raise ValueError(value)
    settings.timing = value == "on"


def _set_maxrows(settings: DisplaySettings, value: str) -> None:
    settings.maxrows = None if value == "all" else _positive(value)


def _set_width(settings: DisplaySettings, value: str) -> None:
    settings.width = {AUTO: 0, FULL: None}[value] if value in {AUTO, FULL} else _positive(value)


def _set_time(settings: DisplaySettings, value: str) -> None:
    settings.time = checked(value)


def _positive(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(value)
    return int(value)


def _width(settings: DisplaySettings) -> str:
    return FULL if settings.width is None else str(settings.width or AUTO)


SETTINGS = {
    "mode": Setting("a format", "how results are shown", lambda s: s.writer.name, _set_mode),
    "timing": Setting(
        "on or off",
        "whether to show the rows, time, CPU time and bytes read of each statement",
        lambda s: "on" if s.timing else "off",
        _set_timing,
    ),
    "maxrows": Setting(
        "a number from 1, or all",
        "how many rows of a result are shown",
        lambda s: str(s.maxrows or "all"),
        _set_maxrows,
    ),
    "time": Setting(
        EXPECTED,
        "whether `_ts` and timestamps are shown by the wall clock, and in which zone",
        lambda s: s.time,
        _set_time,
    ),
    "width": Setting(
        "a number from 1, auto or full",
        "maximum width of tables on a terminal: that of the terminal, unlimited, or this many columns",
        _width,
        _set_width,
    ),
}
