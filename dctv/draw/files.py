"""Write pictures to files, in the format of the suffix."""

from __future__ import annotations

from pathlib import Path

from dctv.draw.shapes import Drawing
from dctv.draw.svg import Theme
from dctv.errors import UsageError

_ENDINGS = (".svg", ".png", ".html")


def check_ending(path: Path) -> None:
    """Reject a file with an unknown suffix.

    Raises:
        UsageError: the suffix is unknown, or it is .png and Pillow is not installed.
    """
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(f"`{path}` must end in .svg, .png or .html")
    if ending == ".png":
        from dctv.draw.png import check_pillow

        check_pillow()


def content(picture: Drawing, path: Path, theme: Theme | None) -> bytes:
    """Return the contents of the file: by default light or dark as the reader's system, for PNG light.

    Raises:
        UsageError: as for `check_ending`.
    """
    check_ending(path)
    match path.suffix.lower():
        case ".png":
            from dctv.draw.png import png

            return png(picture, dark=theme == "dark")
        case ".html":
            from dctv.draw.html import html

            return "".join(html(picture, theme)).encode()
        case _:
            from dctv.draw.svg import svg

            return "".join(svg(picture, theme)).encode()
