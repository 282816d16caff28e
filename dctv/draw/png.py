"""Write pictures as PNG, with Pillow."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from io import BytesIO
from math import floor
from typing import TYPE_CHECKING

from dctv.draw.colours import palette, rgb
from dctv.draw.letters import ELLIPSIS
from dctv.draw.shapes import Boxes, Drawing, Line, Polygon, Rectangle, Shape, TextShape
from dctv.errors import UsageError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

_HATCH = 7
"""The distance of hatching lines in pixels."""
_SLACK = 2
"""Pixels by which a text may exceed its room: hinting moves letters, and labels have margins."""
_ANCHORS = {"start": "ls", "end": "rs"}
_OTHERS = ("NotoSans-Regular.ttf", "DejaVuSans.ttf", "arial.ttf", "Arial Unicode.ttf", "Arial.ttf")
"""System fonts, for letters that Pillow's own lacks."""


def png(picture: Drawing, *, dark: bool = False) -> bytes:
    """Return a PNG picture.

    Raises:
        UsageError: Pillow is not installed.
    """
    check_pillow()
    from PIL import Image, ImageDraw

    colours = {role: rgb(colour) for role, colour in palette(dark=dark).items()}
    image = Image.new("RGB", (picture.width, picture.height), colours["background"])
    canvas = _Canvas(image, ImageDraw.Draw(image), colours)
    for shape in picture.shapes:
        canvas.draw(shape)
    stream = BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def check_pillow() -> None:
    """Raise if Pillow is missing.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import_module("PIL")
    except ImportError:
        raise UsageError("PNG pictures require Pillow", hint="pip install 'dctv[draw]'") from None


class _Canvas:
    """A canvas of pixels for shapes."""

    def __init__(self, image: Image, draw: ImageDraw, colours: dict[str, tuple[int, int, int]]) -> None:
        self._image = image
        self._draw = draw
        self._colours = colours

    def draw(self, shape: Shape) -> None:
        """Draw a shape."""
        match shape:
            case Rectangle():
                self._rectangle(shape)
            case Boxes():
                self._boxes(shape)
            case TextShape():
                self._text(shape)
            case Polygon():
                self._draw.polygon([(_whole(x), _whole(y)) for x, y in shape.points], fill=self._colours[shape.role])
            case Line():
                corners = [(_whole(x), _whole(y)) for x, y in shape.points]
                self._draw.line(corners, fill=self._colours[shape.role], width=1)

    def _rectangle(self, shape: Rectangle) -> None:
        left, top = _whole(shape.x), _whole(shape.y)
        right = max(_whole(shape.x + shape.width), left + 1)
        bottom = max(_whole(shape.y + shape.height), top + 1)
        self._draw.rectangle((left, top, right - 1, bottom - 1), fill=self._colours[shape.role])
        if shape.hatched:
            mask = _hatching(bottom - top, left % _HATCH, self._image.width)
            strip = mask.crop((0, 0, right - left, bottom - top))
            self._image.paste(self._colours["background"], (left, top), strip)

    def _boxes(self, shape: Boxes) -> None:
        import numpy as np

        left, top = (np.floor(column + 0.5).astype(int) for column in (shape.left, shape.top))
        right, bottom = (np.floor(column + 0.5).astype(int) for column in (shape.right, shape.bottom))
        columns = (left, top, np.maximum(right, left + 1) - 1, np.maximum(bottom, top + 1) - 1)
        colour = self._colours[shape.role]
        for box in zip(*(column.tolist() for column in columns), strict=True):
            self._draw.rectangle(box, fill=colour)

    def _text(self, shape: TextShape) -> None:
        from PIL import Image, ImageDraw

        font, colour, anchor = _font(shape.text, shape.size), self._colours[shape.role], _ANCHORS[shape.anchor]
        places = (0.0, 0.5) if shape.bold else (0.0,)
        if font.getlength(shape.text) <= shape.room + _SLACK:
            for shift in places:
                self._draw.text((shape.x + shift, shape.y), shape.text, colour, font, anchor)
            return
        mask = Image.new("L", (max(int(shape.room + _SLACK), 1), 2 * shape.size))
        for shift in places:
            ImageDraw.Draw(mask).text((shift, 1.5 * shape.size), shape.text, 255, font, "ls")
        left = shape.x - (shape.room if shape.anchor == "end" else 0)
        self._image.paste(colour, (_whole(left), _whole(shape.y - 1.5 * shape.size)), mask)


@lru_cache(maxsize=16)
def _hatching(height: int, shift: int, width: int) -> Image:
    """Return a mask of hatching lines for a box with this height, aligned to one global pattern."""
    import numpy as np
    from PIL import Image

    x, y = np.arange(width) + shift, np.arange(height)
    lines = (x[None, :] + y[:, None]) % _HATCH < 2
    return Image.fromarray(lines.astype(np.uint8) * 255)


def _font(text: str, size: int) -> Font:
    """Return Pillow's own font, which looks the same everywhere, unless it lacks letters of the text."""
    return _own_font(size) if text.rstrip(ELLIPSIS).isascii() else _other_font(size)


@lru_cache(maxsize=8)
def _own_font(size: int) -> Font:
    from PIL import ImageFont
    from PIL.ImageFont import FreeTypeFont

    found = ImageFont.load_default(size)
    # Positions of letters must not depend on optional libraries, which would also join `fl`.
    return found.font_variant(layout_engine=ImageFont.Layout.BASIC) if isinstance(found, FreeTypeFont) else found


@lru_cache(maxsize=8)
def _other_font(size: int) -> Font:
    from PIL import ImageFont

    for name in _OTHERS:
        try:
            return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)
        except OSError:
            continue
    return _own_font(size)


def _whole(value: float) -> int:
    return floor(value + 0.5)
