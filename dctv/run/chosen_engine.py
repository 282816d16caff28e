"""The engine that a session has chosen, if it is not its own."""

from __future__ import annotations

from dctv.contracts.remote import Connect, Remote
from dctv.errors import UsageError
from dctv.record import field, record

HERE = "duckdb"
"""The name of the engine of this process."""
_NAMED = "--engine, or Session(engine=...), connects to it; at the prompt, or with Session(allow_engines=True), SET may"


@record(frozen=False)
class ChosenEngine:
    """The connection to a remote engine; nothing is loaded before an address is given."""

    connect: Connect
    by_texts: bool
    """Whether texts may name any engine: data from an engine can run code in this process."""
    remote: Remote | None = None
    named: set[str] = field(default_factory=set)
    """The addresses that the program has named; texts may name them, too."""

    def choose(self, address: str, *, by_text: bool) -> None:
        """Connect to an engine, or go back to the local one.

        Raises:
            UsageError: the address is invalid or not allowed in texts, or a package is not installed.
            Unanswered: the server does not answer.
        """
        if not by_text:
            self.named.add(address)
        elif not self.by_texts and address not in self.named and address.lower() != HERE:
            raise UsageError(f"a query may not connect to the engine `{address}`", hint=_NAMED)
        chosen = None if address.lower() == HERE else self.connect(address)
        self.close()
        self.remote = chosen

    @property
    def name(self) -> str:
        """The name of the chosen engine."""
        return HERE if self.remote is None else self.remote.address

    def interrupt(self) -> None:
        """Interrupt the queries that run there."""
        if self.remote is not None:
            self.remote.interrupt()

    def close(self) -> None:
        """End the connection."""
        remote, self.remote = self.remote, None
        if remote is not None:
            remote.close()
