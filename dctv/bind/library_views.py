"""Views of the standard library, bound for a mount: each is bound once, and its plan is in all that read it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from dctv.bind.dependencies import Dependencies
from dctv.catalog.namespace import Catalog, LibraryPart, StoredTable, View
from dctv.plan.nodes import Plan
from dctv.record import field, record

Name = tuple[str, ...]


@record(eq=False)
class BoundView:
    """A view, or a part that views are built on, as bound for a mount."""

    entry: View | LibraryPart
    plan: Plan
    dependencies: Dependencies
    version: object = None
    """The same one for all mounts whose plans differ only in the tables that they read; None if no other has it."""


@record(frozen=False)
class ViewReads:
    """What the text of a view names."""

    tables: dict[Name, StoredTable] = field(default_factory=dict)
    views: dict[Name, BoundView] = field(default_factory=dict)
    varies: bool = False
    """Whether its plan may differ between sessions even if the tables do not: it was bound with a query that ran, a
    function of the mount, a user's view or a warning."""


@record
class UnboundView:
    """A view that is to be bound for a mount."""

    entry: View | LibraryPart
    name: Name
    home: Name
    """The name of the mount, with which its name begins."""
    catalog: Catalog
    bind: Callable[[ViewReads], tuple[Plan, Dependencies]]
    """Binds its text, and notes what that reads."""
    other: Callable[[Name], BoundView | None]
    """Returns another one by its full name, bound for the same mount; None if none may be read."""

    @property
    def text(self) -> Hashable:
        """The functions that return its text; they are the same ones for all mounts."""
        return self.entry.select if isinstance(self.entry, View) else tuple(one.select for one in self.entry.views)
