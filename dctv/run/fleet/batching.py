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
_MOST = 500_000
"""The number of events of a batch: two processors are busy to the end, and memory does not grow with the traces."""
_GROWTH = 8
"""By how much the first batches grow, in traces: the first rows come soon."""


@record
class Batching:
    """The tables that are read of some traces."""

    tables: Sequence[FleetTable]
    metadata: Mapping[str, MemberMetadata]

    def batches(self, members: Sequence[FleetMember]) -> Sequence[Sequence[FleetMember]]:
        """Return traces in batches, in their order; those of one have the same tables."""
        if any(one.arguments is not None for one in self.tables):
            return [[one] for one in members]
        made: list[list[FleetMember]] = []
        key, events, most = object(), 0, 1
        for one in members:
            own, count = self._key(one), self.metadata[one.name].events
            if own is None or own != key or len(made[-1]) == most or events + count > _MOST:
                most = min(len(made[-1]) * _GROWTH, _MOST) if made and own == key else most
                made.append([])
                key, events = own, 0
            made[-1].append(one)
            events += count
        return made

    def _key(self, member: FleetMember) -> Hashable:
        """Return what traces of one batch have in common; None for one that is run alone."""
        known = self.metadata[member.name]
        if not known.signature or known.counts is None or known.events > _SMALL:
            return None
        return known.signature, *(differs(one, member) for one in self.tables)
