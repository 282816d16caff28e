"""Meter the streams of a running plan: rows, CPU time and memory of each operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import process_time
from typing import Any

from dctv.contracts.engine import EngineQuery, Profile
from dctv.plan.nodes import ArrowStream, Plan, Relation, Scan
from dctv.plan.source import RunCost
from dctv.record import field, record


class _Metered:
    """A stream that is counted while it is read."""

    def __init__(self, stream: ArrowStream, meter: Any) -> None:
        self._stream = stream
        self._meter = meter

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from dctv import _kernels  # compiled; only wanted when a query runs

        capsule: object = _kernels.metered(self._stream, self._meter).__arrow_c_stream__(requested_schema)
        return capsule


@record(frozen=False)
class Metering:
    """The meters of one run, by the identity of the plans."""

    meters: dict[int, Any] = field(default_factory=dict)
    buffers: dict[int, Any] = field(default_factory=dict)
    """Buffers of shared plans."""
    _queries: dict[int, tuple[EngineQuery, list[Plan]]] = field(default_factory=dict)
    _scans: dict[int, Scan] = field(default_factory=dict)
    _profiles: Mapping[int, list[Profile]] = field(default_factory=dict)
    _began: float = field(default_factory=process_time)
    _cpu: float = 0
    """The CPU seconds of this process until all rows were read."""

    def metered(
        self, plan: Plan, stream: ArrowStream, *, query: EngineQuery | None = None, sources: list[Plan] | None = None
    ) -> ArrowStream:
        """Return a stream that counts; `sources` are the inputs of a query."""
        from dctv import _kernels

        meter = self.meters.setdefault(id(plan), _kernels.Meter())
        if isinstance(plan, Scan):
            self._scans[id(plan)] = plan
        if query is not None:
            self._queries[id(plan)] = (query, sources or [])
        return _Metered(stream, meter)

    def collect(self) -> None:
        """Ask the engine for the costs of its queries before it forgets them."""
        self._profiles = {key: query.profiles() for key, (query, _) in self._queries.items()}
        self._cpu = process_time() - self._began

    def spent(self, beside: Sequence[RunCost]) -> RunCost:
        """Return the total cost, after `collect`; `beside` are the costs of the sources' own queries."""
        counts = [one.read for one in beside]
        for profiles in self._profiles.values():
            counts += [profile.read for profile in profiles] or [None]
        counts += [plan.source.bytes_read() or 0 for plan in self._scans.values()]
        read = None if None in counts else sum(count for count in counts if count is not None)
        return RunCost(read, sum(one.cpu for one in beside))

    def lines(self, plan: Plan) -> list[str]:
        """Return the statistics of a plan, one after another."""
        meter = self.meters.get(id(plan))
        if meter is None:
            return []
        parts = [f"{meter.rows:,} rows in {meter.batches:,} batches"]
        if isinstance(plan, Relation):
            parts += self._of_engine(plan)
        else:
            parts += [f"{meter.cpu / 1e9:.2f} s CPU", f"peak {size(meter.peak)}"]
        if isinstance(plan, Scan) and (read := plan.source.bytes_read()) is not None:
            parts.append(f"{size(read)} read from files")
        lines = [f"ran: {', '.join(parts)}"]
        if id(plan) in self.buffers:
            buffer = self.buffers[id(plan)]
            lines.append(
                f"kept: {buffer.rows:,} rows, peak {size(buffer.peak)} in memory, {size(buffer.spilled)} on disk"
            )
        return lines

    def _of_engine(self, plan: Plan) -> list[str]:
        profiles = self._profiles.get(id(plan), [])
        if not profiles:
            return ["stopped before its end"]
        parts = [f"{self._seconds(id(plan)):.2f} s CPU", f"peak {size(max(p.peak for p in profiles))}"]
        spilled = max(p.spilled for p in profiles)
        read = sum(p.read for p in profiles)
        parts += [f"{size(spilled)} on disk"] if spilled else []
        return [*parts, f"{size(read)} read from files"] if read else parts

    def _seconds(self, key: int) -> float:
        """Return the CPU seconds of a query of the engine."""
        others: int = sum(meter.cpu for key, meter in self.meters.items() if key not in self._queries)
        left = max(self._cpu - others / 1e9, 0.0)
        busy = {key: self._busy(key) for key in self._queries}
        # Threads of the engine that wait for each other count as busy.
        return busy[key] * min(left / (sum(busy.values()) or 1.0), 1.0)

    def _busy(self, key: int) -> float:
        """Return the seconds of all threads in a query, without the time in which it waited for its sources."""
        waited: int = sum(m.wall for s in self._queries[key][1] if (m := self.meters.get(id(s))) is not None)
        return max(0.0, sum(p.seconds for p in self._profiles.get(key, [])) - waited / 1e9)


def size(count: int) -> str:
    """Return a number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} B"
