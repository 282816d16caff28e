"""Counts of a run: results, rows, and the outcome of every assertion."""

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
    """The report that contains it."""
    name: str
    failure: str | None = None
    """Why it failed, with its place, or None."""
    error: str | None = None
    """The error that ended the report here, or None."""


@record(frozen=False)
class RunTally:
    """Counts of the events of a run."""

    statements: int = 0
    met: int = 0
    """The number of results, whether written or not."""
    held: Result | None = None
    """The latest result, if only the last one is written."""
    results: int = 0
    """The number of written results."""
    rows: int = 0
    empty: int = 0
    """Results without rows."""
    cases: list[CaseReport] = field(default_factory=list)
    code: int = OK
    """The exit code for failures so far that did not end the run."""

    @property
    def failures(self) -> int:
        """The number of failed assertions."""
        return sum(case.failure is not None for case in self.cases)

    @property
    def errors(self) -> int:
        """The number of failed statements."""
        return sum(case.error is not None for case in self.cases)

    def account(self, source: str, code: int) -> None:
        """Add a failed case if a run failed without one, such as one with an unreadable trace."""
        if code != OK and not self.failures and not self.errors:
            self.cases.append(CaseReport(source, "ends well", error=f"error: exit code {code}"))
