"""What running texts came to: how many results and rows, and what became of every assertion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.console.verdict import OK
from dctv.record import field, record

if TYPE_CHECKING:
    from dctv.run.result import Result


@record
class CaseReport:
    """One test case."""

    source: str
    """The report it stands in."""
    name: str
    failure: str | None = None
    """Why it failed, with its place, or None."""
    error: str | None = None
    """The error that ended the report here, or None."""


@record(frozen=False)
class RunTally:
    """Counts what happens in a run."""

    statements: int = 0
    met: int = 0
    """How many results there were, whether written or not."""
    held: Result | None = None
    """The last result, which waits for a later one, if only the last is written."""
    results: int = 0
    """How many were written."""
    rows: int = 0
    empty: int = 0
    """Results without rows."""
    cases: list[CaseReport] = field(default_factory=list)
    code: int = OK
    """The exit code for what went wrong so far without ending the run."""

    @property
    def failures(self) -> int:
        """How many assertions failed."""
        return sum(case.failure is not None for case in self.cases)

    @property
    def errors(self) -> int:
        """How many statements were wrong."""
        return sum(case.error is not None for case in self.cases)

    def account(self, source: str, code: int) -> None:
        """See to it that a run that failed has a case that failed, such as one whose trace could not be read."""
        if code != OK and not self.failures and not self.errors:
            self.cases.append(CaseReport(source, "ends well", error=f"error: exit code {code}"))
