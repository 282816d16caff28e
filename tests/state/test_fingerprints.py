"""Fingerprints of plans, by which kept histories are found: plans of other rows have others."""

from __future__ import annotations

from pathlib import Path

from dctv.plan.build import select
from dctv.plan.nodes import Relation
from dctv.run.fingerprint import fingerprint
from dctv.session import Session

TRACE = Path(__file__).parents[1] / "data/stdlib/states.trace.txt"


def test_inputs_that_have_each_others_names() -> None:
    with Session(index=False) as session:
        session.mount(TRACE, "t")
        mounts = list(session._context.mounts.values())
        one, other = (mounts[0].given[f"raw_events.{name}"]() for name in ("sched_switch", "sched_waking"))
        query = select("_ts", source="x")
        made = [
            fingerprint(Relation(one.schema, one.order, query, leaves), mounts)
            for leaves in ((("x", one), ("y", other)), (("y", one), ("x", other)), (("x", one), ("y", other)))
        ]
        first, exchanged, again = (found.digest for found in made if found is not None)
        assert first == again != exchanged
