"""The server's interface to a session, which is above it and starts it."""

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
        """The name of its mount."""

    @property
    def path(self) -> str:
        """The path that it was read from."""

    @property
    def format(self) -> str:
        """The format that it was read as."""

    @property
    def number(self) -> int:
        """The number that no other mount has, not even one that has taken over its name."""


class Host(KnownNames, Protocol):
    """A session."""

    @property
    def spill_folder(self) -> Path:
        """The session's folder for rows that do not fit into memory; it may not exist yet."""

    @property
    def changes(self) -> int:
        """The number of changes to tables and views; while it stays the same, queries return the same rows."""

    def mount(self, path: str, name: str, /) -> None:
        """Mount a trace."""

    def mounts(self) -> Sequence[Mounted]:
        """Return the mounted traces."""

    def execute(
        self, text: str, params: Params | None = None, *, source_name: str = "<query>", base: Path | None = None
    ) -> Iterator[Outcome]:
        """Run statements one after another."""

    def check(self, text: str) -> list[DctvError]:
        """Return the errors in a text, without running it."""

    def timeline(self, name: str) -> Timeline:
        """Return the timeline of a mounted trace or a state system."""

    def warnings(self) -> list[str]:
        """Return the warnings of the last mount or statement."""

    def incomplete(self) -> list[str]:
        """Return why mounted traces are incomplete."""

    def interrupt(self) -> None:
        """Interrupt everything that runs."""


def selected(host: Host, select: str) -> Result:
    """Run a select for the page; its warnings concern the page, not the program that serves it."""
    (result,) = host.execute(select)
    assert isinstance(result, Result)
    return result
