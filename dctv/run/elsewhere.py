"""The engine that a session has chosen, if it is not its own."""

from __future__ import annotations

from dctv.contracts.remote import Connect, Remote
from dctv.errors import UsageError
from dctv.record import field, record

HERE = "duckdb"
"""The name of the engine of this process."""
_NAMED = "--engine, or Session(engine=...), connects to it; at the prompt, or with Session(allow_engines=True), SET may"


@record(frozen=False)
class Elsewhere:
    """Where plans are carried out besides here; nothing is loaded before an address is given."""

    connect: Connect
    by_texts: bool
    """Whether texts may name any engine: what an engine sends back can run code in this process."""
    remote: Remote | None = None
    named: set[str] = field(default_factory=set)
    """The addresses that the program has named; texts may name them, too."""

    def choose(self, address: str, *, by_text: bool) -> None:
        """Connect to an engine, or go back to the own one.

        Raises:
            UsageError: this is no address, a text may not name it, or what it takes is not installed.
            Unanswered: nobody answers there.
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
