"""Keep traces mounted in a process, and give each command a session like a new one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dctv.catalog.files import found_or_matching
from dctv.cli.mounts import parse_manifests
from dctv.cli.task import open_session
from dctv.console.attended import Check
from dctv.console.files import FLEET
from dctv.console.mounting import mount_named
from dctv.console.progress import ProgressBar
from dctv.run.fleet.members import state_of
from dctv.run.snapshot import Snapshot
from dctv.session import Session

_State = list[tuple[str, tuple[tuple[str, int, int], ...]]]


class WarmSession:
    """A session with mounts that outlives commands; their changes are undone after each."""

    def __init__(self, args: Namespace, mounts: Sequence[tuple[str, str]]) -> None:
        self._args = args
        self._mounts = mounts
        self._session: Session | None = None
        self._kept: Snapshot | None = None
        self._state: _State = []
        self.warnings: list[str] = []
        """Warnings of the mounts: each command reports them, as if it had mounted the traces itself."""

    def open(self, bar: ProgressBar) -> Session:
        """Return the session; a new one if files of its traces have changed."""
        if self._session is not None and self._state != self._found():
            self.close()
        if self._session is None:
            self._session = open_session(self._args, bar)
        self._session.report_progress_to(bar.update)
        return self._session

    def prepare(self, check: Check) -> None:
        """Mount traces that are not mounted yet.

        Raises:
            DctvError: mounting failed.
        """
        if self._kept is not None:
            return
        session = self._session
        assert session is not None
        self._state, self.warnings = self._found(), []
        manifests = parse_manifests(self._args.manifest, self._mounts)
        for name, path in self._mounts:
            mount_named(session, path, name, manifests.get(name))
            self.warnings += session.warnings()
            check()
        self._kept = session.snapshot()

    def release(self) -> None:
        """Undo a command's changes; if that fails, the next command gets a new session."""
        if self._session is not None and (self._kept is None or not self._session.restore(self._kept)):
            self.close()

    def close(self) -> None:
        """Release all resources."""
        session, self._session, self._kept = self._session, None, None
        if session is not None:
            session.close()

    def _found(self) -> _State:
        """Return the current state of the files of traces and manifests."""
        words = [path.removeprefix(FLEET) for _, path in self._mounts]
        words += parse_manifests(self._args.manifest, self._mounts).values()
        found = []
        for word in words:
            for path in found_or_matching(word):
                try:
                    found.append((path, state_of(path)))
                except OSError:
                    found.append((path, ()))
        return found
