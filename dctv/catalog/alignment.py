"""Compute the offset of one mount's times that aligns them with those of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.catalog.mount import Mount
from dctv.catalog.shifting import NO_CLOCK, clock_of, shifted_trace, unix_start
from dctv.contracts.reader import LoadedTrace
from dctv.errors import TraceError
from dctv.record import replace

SCHEDULER = {"local", "global", "perf"}
"""The kernel's names for its scheduler's clock: they differ in how CPUs read it, not in its values."""
OFFSET = "give an offset: align=>5ms"
BY_CLOCK = "clock"
"""Requests alignment by the trace's own clock, if the mounted traces are known to share it."""
_LIMIT = 2**63


def aligned(mount: Mount, align: object, mounts: Mapping[tuple[str, ...], Mount], say: Callable[[str], None]) -> Mount:
    """Shift a mount by an offset in ns, by the offset to another mount, or by the clock of all mounts.

    Raises:
        TraceError: there is no such mount, they have no clock in common, or the times leave 64 bits.
    """
    if isinstance(align, int):
        return _moved(mount, align)
    other = mounts.get(tuple(str(align).split(".")))
    if other is None and align == BY_CLOCK:
        return _by_clock(mount, mounts, say)
    if other is None:
        mount_names = ", ".join(".".join(parts) for parts in mounts) or "none"
        raise TraceError(f"found no mount `{align}` to align with", hint=f"there are: {mount_names}")
    names = ".".join(mount.parts), ".".join(other.parts)
    return _moved(mount, _offset(mount.trace, other.trace, names))


def _moved(mount: Mount, offset: int) -> Mount:
    trace = shifted_trace(mount.trace, offset)
    # A span over the whole trace ends 1 ns after the last event.
    if not -_LIMIT < offset <= trace.last_ts + 1 < _LIMIT:
        raise TraceError(
            f"`align` shifts the trace by {offset:,} ns, to times that do not fit 64 bits: "
            f"it would begin at {offset:,} ns and end at {trace.last_ts:,} ns"
        )
    return replace(mount, trace=trace, offset=offset)


def _by_clock(mount: Mount, mounts: Mapping[tuple[str, ...], Mount], say: Callable[[str], None]) -> Mount:
    """Shift a mount to align it with the first one, if it and all other mounts have the same clock.

    Raises:
        TraceError: nothing else is mounted, or some clock is unknown or different.
    """
    own, name = mount.trace.properties, ".".join(mount.parts)
    if not mounts:
        raise TraceError("found no mount to align with by the clock", hint="mount the other trace first")
    for parts, other in mounts.items():
        its = other.trace.properties
        if _distance(own, its) is None:
            both = f"`{name}` has {clock_of(own)} and `{'.'.join(parts)}` has {clock_of(its)}"
            raise TraceError(
                f"found no clock that all mounts are known to share: {both}{_hosts(own, its)}", hint=OFFSET
            )
    first, base = next(iter(mounts.items()))
    offset = _distance(own, base.trace.properties) or 0
    clocks = dict.fromkeys((own["clock"], base.trace.properties["clock"]))
    say(f"aligned `{name}` with `{'.'.join(first)}` by the clock {' and '.join(clocks)}: it begins at {offset} ns")
    return _moved(mount, offset)


def _hosts(own: Mapping[str, str], its: Mapping[str, str]) -> str:
    hosts = [one["host"] for one in (own, its) if "host" in one]
    return f", recorded on {' and '.join(hosts)}" if len({*hosts}) > 1 else ""


def _offset(mounted: LoadedTrace, other: LoadedTrace, names: tuple[str, str]) -> int:
    """Return how many ns a trace begins after time 0 of the other trace.

    Two traces with the same clock on the same machine are aligned by it, others by Unix time if both know theirs.

    Raises:
        TraceError: they have no clock in common.
    """
    own, its = mounted.properties, other.properties
    distance = _distance(own, its)
    if distance is not None:
        return distance
    starts = unix_start(own), unix_start(its)
    if starts[0] is not None and starts[1] is not None:
        return starts[0] - starts[1]
    clocks = " and ".join(f"`{name}` has {clock_of(p)}" for name, p in zip(names, (own, its), strict=True))
    raise TraceError(f"found no clock to align by: {clocks}", hint=OFFSET)


def _distance(own: Mapping[str, str], its: Mapping[str, str]) -> int | None:
    """Return how many ns later a trace begins than another one with the same clock."""
    if not _one_clock(own, its):
        return None
    starts = [unix_start(one) if one["clock"] == "realtime" else one.get("start_ns") for one in (own, its)]
    return None if None in starts else int(starts[0] or 0) - int(starts[1] or 0)


def _one_clock(own: Mapping[str, str], its: Mapping[str, str]) -> bool:
    clock, other = own.get("clock", ""), its.get("clock", "")
    if clock in NO_CLOCK or not (clock == other or {clock, other} <= SCHEDULER):
        return False
    hosts = {one["host"] for one in (own, its) if "host" in one}
    return clock == "realtime" or len(hosts) < 2
