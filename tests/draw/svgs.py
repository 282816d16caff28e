"""SVG pictures, read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from dctv.draw.layout import picture
from dctv.draw.scene import Scene
from dctv.draw.svg import svg

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "title", "style", "defs", "pattern", "rect", "text", "polygon", "polyline", "path"}
WIDTH, LEFT = 1122, 110
"""A picture whose tracks have short names: a window of 1000 ns has a pixel for each."""


class Read:
    """The contents of a picture."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = ElementTree.fromstring(text)
        self.texts = [_text(node) for node in self.root.iter(f"{SVG}text")]

    def boxes(self, role: str) -> list[tuple[float, float, float, float]]:
        """Return x, y, width and height of each box of a colour."""
        found = []
        for node in self.nodes("rect", role):
            x, y, width, height = (float(node.attrib[name]) for name in ("x", "y", "width", "height"))
            found.append((x, y, width, height))
        return sorted(found)

    def nodes(self, name: str, role: str) -> list[ElementTree.Element]:
        """Return the elements of a name and a colour."""
        return [node for node in self.root.iter(SVG + name) if node.get("class") == role]

    def told(self) -> list[str]:
        """Return the tooltips; the first is the title of the picture."""
        return [str(node.text) for node in self.root.iter(f"{SVG}title")][1:]

    def points(self, name: str, role: str) -> list[list[tuple[float, float]]]:
        """Return the corners of lines or areas."""
        found = []
        for node in self.nodes(name, role):
            pairs = (pair.split(",") for pair in node.attrib["points"].split())
            found.append([(float(x), float(y)) for x, y in pairs])
        return found


def drawn(scene: Scene, width: int = WIDTH, height: int | None = None, **more: Any) -> Read:
    """Draw and read a scene."""
    return Read("".join(svg(picture(scene, width, height), **more)))


def only(found: Sequence[Any]) -> Any:
    """Return the one that is there."""
    (one,) = found
    return one


def _text(node: ElementTree.Element) -> str:
    return "".join([node.text or "", *(child.tail or "" for child in node)])
