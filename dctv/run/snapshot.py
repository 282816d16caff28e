"""Snapshot a session, and restore it after statements that added names, mounts and settings."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Namespace
from dctv.record import fields, record, replace
from dctv.rewrite.settings import RewriteSettings
from dctv.run.context import ExecutionContext, MountedFleet


@record
class Snapshot:
    """A snapshot of a session."""

    root: Namespace
    changes: int
    mounts: Mapping[tuple[str, ...], Mount]
    fleets: Mapping[tuple[str, ...], MountedFleet]
    unread: tuple[str, ...]
    settings: RewriteSettings


def snapshot(context: ExecutionContext) -> Snapshot:
    """Take a snapshot of a session."""
    return Snapshot(
        context.catalog.root.copied(),
        context.catalog.changes,
        dict(context.mounts),
        dict(context.fleets),
        tuple(context.unread),
        replace(context.settings),
    )


def restore(snapshot_: Snapshot, context: ExecutionContext) -> bool:
    """Restore a session from a snapshot; return whether that is possible.

    It cannot where one of its mounts was closed, or a setting of the engine changed.
    """
    lost = any(context.mounts.get(parts) is not mount for parts, mount in snapshot_.mounts.items())
    if lost or context.settings.configured != snapshot_.settings.configured:
        return False
    for parts in [parts for parts in context.mounts if parts not in snapshot_.mounts]:
        context.mounts.pop(parts).close()
    context.fleets.clear()
    context.fleets.update(snapshot_.fleets)
    if context.catalog.changes != snapshot_.changes:
        context.catalog.restore(snapshot_.root.copied(), snapshot_.changes)
    context.unread[:] = snapshot_.unread
    for one in fields(RewriteSettings):
        setattr(context.settings, one.name, getattr(snapshot_.settings, one.name))
    return True
