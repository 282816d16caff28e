"""Write pictures as self-contained pages without scripts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

from dctv.draw.shapes import Drawing
from dctv.draw.svg import Theme, escaped, style, svg

_BACKGROUND = {None: "light dark", "light": "only light", "dark": "only dark"}


def html(picture: Drawing, theme: Theme | None = None) -> Iterator[str]:
    """Yield a page in pieces; without a theme it follows the reader's system."""
    own = f":root{{color-scheme:{_BACKGROUND[theme]}}}body{{margin:0}}svg{{display:block;max-width:100%;height:auto}}"
    # Only these two styles may apply, whatever the trace contains.
    styles = " ".join(f"'sha256-{_digest(text)}'" for text in (own, style(picture, theme)))
    policy = f"default-src 'none'; style-src {styles}; base-uri 'none'; form-action 'none'"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(picture.title)}</title>\n<style>{own}</style>\n</head>\n<body>\n"
    )
    yield from svg(picture, theme)
    yield "</body>\n</html>\n"


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
