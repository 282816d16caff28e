"""The first rows of a result, and the functions that format them for display."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dctv.record import record
from dctv.types.schema import Schema


@record
class FirstRows:
    """A result whose first rows have been read."""

    schema: Schema
    values: list[list[object]]
    """Values of the first rows by column, as Python objects; times as texts."""
    read: int
    """The number of rows read so far; these are the first."""
    complete: bool
    """Whether there are no others."""
    warnings: Sequence[tuple[str, int]] = ()
    """With their counts; all of them if the rows are complete."""

    @property
    def shown(self) -> int:
        """The number of these rows."""
        return len(self.values[0])

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield the rows as results do."""
        yield self.values


@record
class Showing:
    """Ways to show the first rows of a result."""

    text: Callable[[FirstRows], str]
    """For the terminal; without a newline at the end."""
    html: Callable[[FirstRows], str]
    """For a notebook; values in the rows are escaped, and never become markup."""
