"""What the server needs of a session; it stands below the session, which starts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from dctv.bind.parameters import Params
from dctv.completion import KnownNames
from dctv.errors import DctvError
from dctv.run.result import Outcome, Result
from dctv.timeline.timeline import Timeline


class Mounted(Protocol):
    """A mounted trace."""

    @property
    def name(self) -> str:
        """What it is mounted as."""

    @property
    def path(self) -> str:
        """Where it was read from."""

    @property
    def format(self) -> str:
        """What it was read as."""


class Host(KnownNames, Protocol):
    """A session."""

    @property
    def spill_folder(self) -> Path:
        """The folder of its own for rows that do not fit into memory; it may not be there yet."""

    @property
    def changes(self) -> int:
        """How often tables and views have changed; until they do, a query gives the same rows."""

    def mount(self, path: str, name: str, /) -> None:
        """Mount a trace."""

    def mounts(self) -> Sequence[Mounted]:
        """Return the mounted traces."""

    def execute(
        self, text: str, params: Params | None = None, *, source_name: str = "<query>", base: Path | None = None
    ) -> Iterator[Outcome]:
        """Run statements one after another."""

    def check(self, text: str) -> list[DctvError]:
        """Return what is wrong with a text, without running it."""

    def timeline(self, name: str) -> Timeline:
        """Return the timeline of a mounted trace or a state system."""

    def warnings(self) -> list[str]:
        """Return what the last mount or statement was warned of."""

    def incomplete(self) -> list[str]:
        """Return what kept mounted traces from being read whole."""

    def interrupt(self) -> None:
        """End what runs."""


def selected(host: Host, select: str) -> Result:
    """Run a select of the page; what it is warned of concerns the page, not the program that serves it."""
    (result,) = host.execute(select)
    assert isinstance(result, Result)
    return result
