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
        """Return traces in batches, in their order; those of one have the same tables."""
        if any(one.arguments is not None for one in self.tables):
            return [[one] for one in members]
        made: list[list[FleetMember]] = []
        key, events, most = object(), 0, 0
        for one in members:
            own, count = self._key(one), self.metadata[one.name].events or 0
            if own is None or own != key or len(made[-1]) >= most or events + count > _MOST:
                most = _GROWTH ** len(made) if len(made) < _GROWING else _MOST
                made.append([])
                key, events = own, 0
            made[-1].append(one)
            events += count
        return made

    def _key(self, member: FleetMember) -> Hashable:
        """Return what traces of one batch have in common; None for one that is run alone."""
        known = self.metadata[member.name]
        if not known.signature or known.events is None or known.events > _SMALL:
            return None
        return known.signature, *(differs(one, member) for one in self.tables)
