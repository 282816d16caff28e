"""The standard library's providers of a mounted trace: what feeds its state system or its timeline."""

from __future__ import annotations

from dctv.bind.parts import Feeds
from dctv.catalog.mount import Mount
from dctv.catalog.stdlib import Module, library
from dctv.plan.nodes import Plan
from dctv.run.state_systems import Means


def bound(mount: Mount, folder: str, means: Means) -> list[tuple[Module, Plan]]:
    """Bind the providers in a folder of the standard library; those of which the trace has nothing are left out."""
    reader = mount.trace.format or mount.reader
    found = []
    for module in library().modules:
        if module.parts[0] == folder and module.covers(reader):
            binder, feeds = means.binder(), Feeds()
            inside = binder.copy(home=mount.parts, feeds=feeds, within=True)
            plan = inside.plan(module.select())
            if not feeds.lacking:
                found.append((module, plan))
    return found
