"""Put traces of a fleet together that are run through in one pass."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from dctv.record import record
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MemberMetadata
from dctv.run.fleet.part import differs
from dctv.run.fleet.table import FleetTable

_SMALL = 100_000
"""Opening a trace takes as long as reading a tenth of this many events; traces with more are run one by one."""
_MOST = 1_000_000
"""The number of events of a batch: two processors are busy to the end, and memory does not grow with the traces."""
_GROWTH, _GROWING = 8, 3
"""The first batches have 1, 8 and 64 traces at most: the first rows come soon."""


@record
class Batching:
    """The tables that are read of some traces."""

    tables: Sequence[FleetTable]
    metadata: Mapping[str, MemberMetadata]

    def batches(self, members: Sequence[FleetMember]) -> Sequence[Sequence[FleetMember]]:
        """Return traces in batches, in their order."""
        if any(one.arguments is not None for one in self.tables):
            return [[one] for one in members]
        made: list[list[FleetMember]] = []
        events, most = _MOST, 0
        for one in members:
            count = self._events(one)
            if events + count > _MOST or len(made[-1]) >= most:
                most = _GROWTH ** len(made) if len(made) < _GROWING else _MOST
                made.append([])
                events = 0
            made[-1].append(one)
            events += count
        return made

    def _events(self, member: FleetMember) -> int:
        """Return the number of a trace's events; that of a whole batch for one that is run alone."""
        known = self.metadata[member.name]
        if not known.signature or known.events is None or known.events > _SMALL:
            return _MOST
        return max(known.events, 1)

    def tables_of(self, member: FleetMember) -> Hashable:
        """Return what the plans of traces have in common if they differ only in the names of files and in values."""
        return self.metadata[member.name].signature, *(differs(one, member) for one in self.tables)
