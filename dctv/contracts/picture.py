"""The interface of a picture of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Picture(Protocol):
    """A picture that a notebook shows, and that can be saved."""

    def svg(self) -> str:
        """Return it as SVG."""

    def html(self) -> str:
        """Return it as a page that needs nothing else."""

    def png(self) -> bytes:
        """Return it as PNG.

        Raises:
            UsageError: Pillow is not installed.
        """

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""

    def save(self, path: str | Path) -> None:
        """Write it to a file that ends in .svg, .png or .html.

        Raises:
            UsageError: it has another ending, or cannot be written.
        """
