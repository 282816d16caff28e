"""Mounts with clocks -> how far the times of one are shifted so that they stand beside those of another."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.catalog.mount import Mount
from dctv.catalog.shifting import told
from dctv.contracts.reader import LoadedTrace
from dctv.errors import TraceError
from dctv.record import replace

UNTOLD = ("", "trace", "unknown")
"""Clocks of which nothing is known."""


def aligned(mount: Mount, align: object, mounts: Mapping[tuple[str, ...], Mount]) -> Mount:
    """Shift a mount by an offset in ns, or so that it stands beside another mount.

    Raises:
        TraceError: there is no such mount, or they have no clock in common.
    """
    if isinstance(align, int):
        return replace(mount, trace=told(mount.trace, align), offset=align)
    other = mounts.get(tuple(str(align).split(".")))
    if other is None:
        known = ", ".join(".".join(parts) for parts in mounts) or "none"
        raise TraceError(f"found no mount `{align}` to align with", hint=f"there are: {known}")
    names = ".".join(mount.parts), ".".join(other.parts)
    return aligned(mount, _offset(mount.trace, other.trace, names), mounts)


def _offset(mounted: LoadedTrace, other: LoadedTrace, names: tuple[str, str]) -> int:
    """Return how many ns after the other trace's time 0 a trace begins.

    Two traces of one clock of one machine are aligned by it, others by Unix time, if both know theirs.

    Raises:
        TraceError: they have no clock in common.
    """
    own, its = mounted.properties, other.properties
    if _one_clock(own, its) and "start_ns" in own and "start_ns" in its:
        return int(own["start_ns"]) - int(its["start_ns"])
    starts = _unix(own), _unix(its)
    if starts[0] is not None and starts[1] is not None:
        return starts[0] - starts[1]
    clocks = " and ".join(f"`{name}` has {_told(p)}" for name, p in zip(names, (own, its), strict=True))
    raise TraceError(f"found no clock to align by: {clocks}", hint="give an offset: align=>5ms")


def _told(properties: Mapping[str, str]) -> str:
    clock = properties.get("clock", "")
    return "no known clock" if clock in UNTOLD else f"the clock {clock}"


def _one_clock(own: Mapping[str, str], its: Mapping[str, str]) -> bool:
    clock = own.get("clock", "")
    if clock in UNTOLD or clock != its.get("clock"):
        return False
    hosts = {one["host"] for one in (own, its) if "host" in one}
    return clock == "realtime" or len(hosts) < 2


def _unix(properties: Mapping[str, str]) -> int | None:
    if "start_unix_ns" in properties:
        return int(properties["start_unix_ns"])
    is_unix = properties.get("clock") == "realtime" and "start_ns" in properties
    return int(properties["start_ns"]) if is_unix else None
