"""Write pictures as self-contained SVG: without scripts, fonts or external resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dctv.draw.colours import palette
from dctv.draw.letters import ELLIPSIS, width_of
from dctv.draw.shapes import Boxes, Drawing, Line, Polygon, Rectangle, Shape, TextShape

Theme = Literal["light", "dark"]
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_FONT = "Inter,Roboto,'Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif"
_TIGHT = 0.85
"""A text up to this share of its room fits in every font."""
_HATCH = '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'


def svg(picture: Drawing, theme: Theme | None = None) -> Iterator[str]:
    """Yield an SVG picture in pieces; without a theme it follows the reader's system."""
    size = f'width="{picture.width}" height="{picture.height}"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {picture.width} {picture.height}" role="img">\n'
        f"<title>{escaped(picture.title)}</title>\n"
        f"<style>{style(picture, theme)}</style>\n"
        f'<defs>{_HATCH}<rect class="background" width="1.5" height="5"/></pattern></defs>\n'
    )
    for shape in picture.shapes:
        yield _drawn(shape)
    yield "</svg>\n"


def style(picture: Drawing, theme: Theme | None) -> str:
    """Return the style rules for the colours in a picture."""
    roles = sorted({shape.role for shape in picture.shapes} | {"background"})
    light, dark = palette(dark=False), palette(dark=True)
    first = dark if theme == "dark" else light
    lines = [
        f"svg{{{_properties(roles, first)};font-family:{_FONT};font-variant-numeric:tabular-nums}}",
        "rect,path,polygon{shape-rendering:crispEdges}polyline{fill:none;stroke-width:1.3;stroke-linejoin:round}",
        "text{white-space:pre}.end{text-anchor:end}.bold{font-weight:600}",
        ".hatch{fill:url(#hatch);pointer-events:none}",
    ]
    if theme is None:
        lines.append(f"@media (prefers-color-scheme:dark){{svg{{{_properties(roles, dark)}}}}}")
    # Renderers without custom properties, as in some document programs, use the colour before.
    lines += [f".{role}{{fill:{first[role]};fill:var(--{role})}}" for role in roles if role != "line"]
    if "line" in roles:
        lines.append(f"rect.line{{fill:{first['line']};fill:var(--line)}}")
        lines.append(f"polyline{{stroke:{first['line']};stroke:var(--line)}}")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Escape a text for XML and HTML."""
    return re.sub("[&<>\"']", lambda found: _ESCAPES[found[0]], text)


def _properties(roles: Sequence[str], colours: Mapping[str, str]) -> str:
    return ";".join(f"--{role}:{colours[role]}" for role in roles)


def _drawn(shape: Shape) -> str:
    match shape:
        case Rectangle():
            return _rectangle(shape)
        case Boxes():
            return _boxes(shape)
        case TextShape():
            return _text(shape)
        case Polygon():
            return _polygon(shape)
        case Line():
            return f'<polyline class="{shape.role}" points="{_points(shape.points)}"/>\n'


def _rectangle(shape: Rectangle) -> str:
    place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.width)}"'
    place += f' height="{_number(shape.height)}"'
    hatch = f'<rect class="hatch" {place}/>\n' if shape.hatched else ""
    return _closed(f'<rect class="{shape.role}" {place}', "rect", shape.title) + hatch


def _boxes(shape: Boxes) -> str:
    columns = (column.tolist() for column in (shape.left, shape.top, shape.right, shape.bottom))
    parts = (
        f"M{_number(left)} {_number(top)}h{_number(right - left)}v{_number(bottom - top)}h{_number(left - right)}z"
        for left, top, right, bottom in zip(*columns, strict=True)
    )
    return f'<path class="{shape.role}" d="{"".join(parts)}"/>\n'


def _text(shape: TextShape) -> str:
    kinds = [shape.role, *(["bold"] if shape.bold else []), *([shape.anchor] if shape.anchor != "start" else [])]
    head = f'<text class="{" ".join(kinds)}" x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{shape.size}"'
    width = width_of(shape.text, shape.size, bold=shape.bold)
    if width > _TIGHT * shape.room or not shape.text.rstrip(ELLIPSIS).isascii():
        # The width of letters depends on fonts; these are stretched to fit.
        head += f' textLength="{_number(min(shape.room, width))}" lengthAdjust="spacingAndGlyphs"'
    title = f"<title>{escaped(shape.title)}</title>" if shape.title else ""
    return f"{head}>{title}{escaped(shape.text)}</text>\n"


def _polygon(shape: Polygon) -> str:
    return _closed(f'<polygon class="{shape.role}" points="{_points(shape.points)}"', "polygon", shape.title)


def _closed(head: str, name: str, title: str) -> str:
    return f"{head}><title>{escaped(title)}</title></{name}>\n" if title else f"{head}/>\n"


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
