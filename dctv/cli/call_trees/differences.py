"""Compare the sums by function of two traces in the table of `dctv report --diff`."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from dctv.cli.call_trees.queries import CallSource, property_of, resolved, run_internal
from dctv.cli.call_trees.report import COLUMNS, TIMES, keys_of, sums_of, time_unit
from dctv.console.paint import Colour, Paint
from dctv.errors import nearest
from dctv.record import record

if TYPE_CHECKING:
    from dctv.session import Session

POLICIES = ("abs", "no-abs", "percent", "no-percent", "full", "compact")
DIFFERENCE = 2
"""The number of the sort column: 0 is the trace, 1 the other one."""
_MOST = 999.99
_WIDTH = 20
_COUNTS = ("call", "size")
_BLANK = "   "


@record
class DifferencePolicy:
    """How to sort and show differences."""

    absolute: bool = True
    percent: bool = False
    full: bool = False


def policy_of(text: str) -> DifferencePolicy:
    """Parse words such as `full,percent`; later ones override earlier ones."""
    settings = {"absolute": True, "percent": False, "full": False}
    for word in text.split(","):
        if word not in POLICIES:
            near = nearest(word, list(POLICIES))
            hint = f"did you mean `{near}`?" if near else f"expected {', '.join(POLICIES)}"
            raise ArgumentTypeError(f"unknown policy `{word}`, {hint}")
        name = word.removeprefix("no-").replace("abs", "absolute").replace("compact", "full")
        settings[name] = not word.startswith("no-") and word != "compact"
    return DifferencePolicy(**settings)


Value = float
Pair = tuple[Value, Value]


@record
class _Row:
    """A function: its sums in both traces."""

    name: str
    base: dict[str, Value]
    other: dict[str, Value]

    def pair(self, field: str) -> Pair:
        return self.base.get(field, 0), self.other.get(field, 0)


def write_differences(
    session: Session, args: Namespace, sources: tuple[CallSource, CallSource], fields: Sequence[str], out: BinaryIO
) -> None:
    """Write a row for each function of either trace."""
    columns = list(dict.fromkeys([*fields, *(key for key in keys_of(args) if key != "func")]))
    base, other = (_sums(session, args, source, columns) for source in sources)
    # Sorting is stable: first rows of the first trace by name, then those that only the other one has.
    names = [*sorted(base), *sorted(name for name in other if name not in base)]
    rows = [_Row(name, base.get(name, {}), other.get(name, {})) for name in names]
    for key in reversed(keys_of(args)):
        if key == "func":
            rows.sort(key=lambda row: row.name)
        else:
            rows.sort(key=_sorting(key, args.diff_policy, args.sort_column), reverse=True)
    paint = Paint(args.coloured)
    table = [_Column(field, args.diff_policy, paint) for field in fields]
    text = "".join(f"{line}\n" for line in [*_head(session, args, sources), *_lines(table, rows)])
    out.write(text.encode())


def _sums(session: Session, args: Namespace, source: CallSource, fields: Sequence[str]) -> dict[str, dict[str, Value]]:
    columns = [name.replace("-", "_") for name in fields]
    query = sums_of(resolved(session, source, args), source, columns)
    found: dict[str, dict[str, Value]] = {}
    for *values, name in run_internal(session, query).fetchall():
        found["<0>" if name is None else name] = dict(zip(fields, (value or 0 for value in values), strict=True))
    return found


def _sorting(key: str, policy: DifferencePolicy, column: int) -> Callable[[_Row], Value]:
    def value(row: _Row) -> Value:
        pair = row.pair(key)
        if column != DIFFERENCE:
            return pair[column]
        base, other = pair
        change = other - base
        if policy.percent:
            change = 100.0 * change / base if base else 0
        return abs(change) if policy.absolute else change

    return value


def _head(session: Session, args: Namespace, sources: tuple[CallSource, CallSource]) -> Iterator[str]:
    yield "#"
    yield "# uftrace diff"
    for number, (what, trace, source) in enumerate(
        zip(("base", "diff"), (", ".join(args.traces), args.diff), sources, strict=True)
    ):
        made = property_of(session, source.mount, "command") if source.recorded else None
        origin = f"\t(from {made})" if made else ""
        yield f"#  [{number}] {what}: {trace}{origin}"
    yield "#"


@record
class _Column:
    """A column of the table: one value or three for each row."""

    field: str
    policy: DifferencePolicy
    paint: Paint

    @property
    def _is_time(self) -> bool:
        return self.field in TIMES

    @property
    def title(self) -> str:
        """The title of the column."""
        return f"{COLUMNS[self.field].title} (diff)" if self.policy.full else COLUMNS[self.field].title

    @property
    def width(self) -> int:
        """The width of the column."""
        if not self.policy.full:
            return 11
        return 35 if self._is_time and not self.policy.percent else 32

    def text(self, base: Value, other: Value) -> str:
        """Write the values of a row."""
        if self.field in _COUNTS:
            change = _count(base, other, self.paint)
            return f" {int(base):9}  {int(other):9}  {change}" if self.policy.full else f"  {change}"
        if not self._is_time:
            change = _points(base, other, self.paint)
            return f"{base:9.2f}% {other:9.2f}% {change}" if self.policy.full else f" {change}"
        change = (_percent if self.policy.percent else _time)(base, other, self.paint)
        if self.policy.full:
            return "".join(f"{_or_dash(one, self.paint)}  " for one in (base, other)) + change
        return f"{'   ' if self.policy.percent else ''}{change}"


def _lines(columns: Sequence[_Column], rows: Sequence[_Row]) -> Iterator[str]:
    yield "".join(f"{_BLANK}{one.title:>{one.width}}" for one in columns) + f"{_BLANK}Function"
    yield "".join(f"{_BLANK}{'=' * one.width}" for one in columns) + f"{_BLANK}{'=' * _WIDTH}"
    for row in rows:
        yield "".join(f"{_BLANK}{one.text(*row.pair(one.field))}" for one in columns) + f"{_BLANK}{row.name}"


def _or_dash(nanoseconds: Value, paint: Paint) -> str:
    return time_unit(nanoseconds, paint) if int(nanoseconds) else f"{'-':>10}"


def _time(base: Value, other: Value, paint: Paint) -> str:
    change = int(other) - int(base)
    if not change:
        return f"{'0 us':>11}"
    number, unit = time_unit(change, paint)[:7], time_unit(change, paint)[8:]
    digits = number.lstrip()
    sign = "+" if change > 0 else "-"
    return " " * (7 - len(digits)) + paint(_tone(change, 5_000, 100_000), sign + digits) + f" {unit}"


def _percent(base: Value, other: Value, paint: Paint) -> str:
    if not int(base) or not int(other):
        return paint("blue" if int(base) else "red", f"{'N/A':>7}") + " "
    change = max(-_MOST, min(_MOST, 100.0 * (int(other) - int(base)) / int(base)))
    return paint(_tone(change, 3, 30), f"{change:+7.2f}") + "%"


def _points(base: Value, other: Value, paint: Paint) -> str:
    change = max(-_MOST, min(_MOST, other - base))
    return paint(_tone(change, 3, 30), f"{change:+7.2f}%pt")


def _count(base: Value, other: Value, paint: Paint) -> str:
    change = int(other) - int(base)
    colour: Colour | None = None if not change else "red" if change > 0 else "blue"
    return paint(colour, f"{change:+9}")


def _tone(change: Value, some: Value, much: Value) -> Colour | None:
    """Return the colour of a change: more is red, less is blue."""
    if abs(change) <= some:
        return None
    if change > 0:
        return "red" if change > much else "magenta"
    return "blue" if change < -much else "cyan"
