"""Write the messages of a run to stderr: all of them, only errors, and also in GitHub's format."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.console.narration import complain, print_stderr, warn
from dctv.errors import DctvError, counted
from dctv.record import record


@record
class RunNarrator:
    """A listener that reports the events of a run."""

    quiet: bool = False
    """Omit warnings and remarks."""
    github: bool = False
    """Also write errors and warnings as workflow commands."""

    def error(self, error: DctvError) -> None:
        """Print an error."""
        complain(error)
        if self.github:
            from dctv.cli.github import error_command

            print_stderr(error_command(error))

    def warnings(self, warnings: Iterable[tuple[str, int]]) -> None:
        """Print warnings, each once with its count."""
        found = list(warnings)
        if self.quiet:
            return
        warn(found)
        if self.github:
            from dctv.cli.github import warning_command

            for message, count in found:
                print_stderr(warning_command(counted(message, count)))

    def remark(self, text: str) -> None:
        """Print a remark."""
        if not self.quiet:
            print_stderr(text)


EVERYTHING = RunNarrator()
"""Prints everything."""
