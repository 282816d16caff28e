"""SVG and HTML: themes, what they may load and run (nothing), and that they are read as they are meant."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Literal

import pytest

from dctv.draw.colours import palette
from dctv.draw.html import html
from dctv.draw.layout import picture
from dctv.timeline.track import TrackKind
from tests.draw.scenes import cell, rich, scene, track
from tests.draw.svgs import TAGS, drawn, only


class Page(HTMLParser):
    """The contents of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.styles: list[str] = []
        self.titles: list[str] = []
        self._texts: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._texts = {"style": self.styles, "title": self.titles}.get(tag)

    def handle_data(self, data: str) -> None:
        if self._texts is not None:
            self._texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "title"):
            self._texts = None


def test_colours_follow_the_reader() -> None:
    read = drawn(rich())
    style = re.search("<style>(.*?)</style>", read.text, re.DOTALL)
    assert style is not None
    light, dark = style[1].split("@media (prefers-color-scheme:dark)")
    for role in ("background", "ink", "running"):
        assert f"--{role}:{palette(dark=False)[role]}" in light
        assert f"--{role}:{palette(dark=True)[role]}" in dark
        assert f".{role}{{fill:{palette(dark=False)[role]};fill:var(--{role})}}" in dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_can_be_fixed(theme: Literal["light", "dark"]) -> None:
    read = drawn(rich(), theme=theme)
    assert "@media" not in read.text
    assert f"--background:{palette(dark=theme == 'dark')['background']}" in read.text


def test_every_class_of_a_picture_has_a_rule() -> None:
    read = drawn(rich())
    used = {word for node in read.root.iter() for word in (node.get("class") or "").split()}
    assert {word for word in used if f".{word}{{" not in read.text} == set()


def test_pictures_run_and_load_nothing() -> None:
    text = drawn(rich()).text
    assert "script" not in text
    assert set(re.findall(r'(?:https?:)?//[^"\s]*', text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\([^)]*\)", text)) == {"url(#hatch)"}


@pytest.mark.parametrize("theme", [None, "light", "dark"])
def test_a_page_allows_its_own_styles_and_nothing_else(theme: Literal["light", "dark"] | None) -> None:
    page = Page("".join(html(picture(rich()), theme)))
    policy = only([attrs for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"])
    hashes = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in page.styles)
    assert policy["content"] == f"default-src 'none'; style-src {hashes}; base-uri 'none'; form-action 'none'"
    assert page.titles[0] == "a small machine: one second of it"
    assert {tag for tag, _ in page.tags} <= TAGS | {"html", "head", "meta", "body"}


def test_names_are_texts_in_pages() -> None:
    name = "</title><script>alert(1)</script><img src=x onerror=alert(1)>"
    tracks = [track(0, name=name), track(1, TrackKind.INSTANTS, name)]
    page = Page("".join(html(picture(scene(tracks, [cell(0, 0, 900, name), cell(1, 5, 0, name)], title=name)))))
    assert page.titles[0] == name
    assert {"script", "img"} & {tag for tag, _ in page.tags} == set()
