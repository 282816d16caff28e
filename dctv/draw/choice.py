"""Select the tracks to draw by patterns."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from dctv.draw.letters import LONGEST, cleaned
from dctv.errors import UsageError, nearest
from dctv.timeline.track import Track

_COMPARED = 5000
"""The maximum number of names that a mistyped one is compared with."""


def chosen(tracks: Sequence[Track], patterns: Sequence[str]) -> Sequence[Track]:
    """Return the tracks with paths that match a pattern, with all their descendants and ancestors.

    A path is the names from the outermost group on, separated by `/`: `CPUs/CPU 0`. Case does not matter.

    Raises:
        UsageError: a pattern matches no track.
    """
    if not patterns:
        return tracks
    paths = _paths(tracks)
    kept: set[int] = set()
    for pattern in patterns:
        found = {track.id for track in tracks if fnmatchcase(paths[track.id].lower(), pattern.lower())}
        if not found:
            raise _nothing(pattern, [paths[track.id] for track in tracks])
        kept |= found
    for track in tracks:
        if track.parent in kept:
            kept.add(track.id)
    for track in reversed(tracks):
        if track.id in kept and track.parent is not None:
            kept.add(track.parent)
    return [track for track in tracks if track.id in kept]


def _paths(tracks: Sequence[Track]) -> dict[int, str]:
    paths: dict[int, str] = {}
    for track in tracks:
        above = "" if track.parent is None else paths[track.parent] + "/"
        paths[track.id] = above + track.name
    return paths


def _nothing(pattern: str, paths: Sequence[str]) -> UsageError:
    if not paths:
        return UsageError(f"no track fits `{cleaned(pattern)}`: there are none")
    candidates = [path for path in paths if len(path) <= LONGEST][:_COMPARED]
    names = {path.rpartition("/")[2]: path for path in reversed(candidates)}
    plain = pattern.strip("*")
    near = nearest(plain, candidates) or names.get(nearest(plain, list(names)) or "")
    hint = f"did you mean `{cleaned(near)}`?" if near else f"tracks are such as `{cleaned(paths[0])}`"
    return UsageError(f"no track fits `{cleaned(pattern)}`", hint=hint)
