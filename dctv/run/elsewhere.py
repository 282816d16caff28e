"""The engine that a session has chosen, if it is not its own."""

from __future__ import annotations

from dctv.contracts.remote import Connect, Remote
from dctv.record import record

HERE = "duckdb"
"""The name of the engine of this process."""


@record(frozen=False)
class Elsewhere:
    """Where plans are carried out besides here; nothing is loaded before an address is given."""

    connect: Connect
    remote: Remote | None = None

    def choose(self, address: str) -> None:
        """Connect to an engine, or go back to the own one.

        Raises:
            UsageError: this is no address, or what it takes is not installed.
            Unanswered: nobody answers there.
        """
        chosen = None if address.lower() == HERE else self.connect(address)
        self.close()
        self.remote = chosen

    @property
    def name(self) -> str:
        """What was chosen."""
        return HERE if self.remote is None else self.remote.address

    def interrupt(self) -> None:
        """End what runs there."""
        if self.remote is not None:
            self.remote.interrupt()

    def close(self) -> None:
        """End the connection."""
        remote, self.remote = self.remote, None
        if remote is not None:
            remote.close()
