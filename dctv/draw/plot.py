"""Pictures of timelines for Python: shown in notebooks, or saved as files."""

from __future__ import annotations

from pathlib import Path

from dctv.draw.files import content
from dctv.draw.html import html
from dctv.draw.joined import JoinedTimeline
from dctv.draw.layout import WIDTH, check_size, picture, visible
from dctv.draw.scene import Scene, cells_in, check_window, step_of
from dctv.draw.svg import Theme, svg
from dctv.errors import UsageError

_THEMES = (None, "light", "dark")


class Plot:
    """A picture of a timeline with some width; without a theme it follows the reader's system."""

    def __init__(
        self,
        timeline: JoinedTimeline,
        *,
        start: int | None = None,
        stop: int | None = None,
        width: int = WIDTH,
        height: int | None = None,
        title: str = "",
        theme: Theme | None = None,
    ) -> None:
        """Draw the range between two times, in ns; by default everything.

        Raises:
            UsageError: the size or the window cannot be drawn.
        """
        if theme not in _THEMES:
            raise UsageError(f"the theme is `light` or `dark`, found `{theme}`")
        check_size(width, height)
        begin = timeline.begin if start is None else start
        end = max(timeline.end, begin + 1) if stop is None else stop
        check_window(begin, end)
        step = step_of(begin, end, width)
        shown = visible(timeline.tracks, height)
        cells = cells_in(timeline, [track.id for track in shown], begin, end, step)
        scene = Scene(timeline.tracks, cells, begin, end, step, title, timeline.begin)
        self._theme = theme
        self._picture = picture(scene, width, height)

    def svg(self) -> str:
        """Return it as SVG."""
        return "".join(svg(self._picture, self._theme))

    def html(self) -> str:
        """Return it as a self-contained page."""
        return "".join(html(self._picture, self._theme))

    def png(self) -> bytes:
        """Return it as PNG, light unless the theme is dark.

        Raises:
            UsageError: Pillow is not installed.
        """
        from dctv.draw.png import png

        return png(self._picture, dark=self._theme == "dark")

    def save(self, path: str | Path) -> None:
        """Write it to a file with the suffix .svg, .png or .html.

        Raises:
            UsageError: the suffix is another one, or the file cannot be written.
        """
        path = Path(path)
        found = content(self._picture, path, self._theme)
        try:
            path.write_bytes(found)
        except OSError as error:
            raise UsageError(f"cannot write `{path}`: {error.strerror}") from None

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg()
