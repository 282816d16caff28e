"""Escapes of characters that a terminal would obey instead of show."""

from __future__ import annotations

_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Escape control characters, as `\n` or `\x1b`, and direction marks, which a terminal would obey."""
    if text.isprintable():
        return text
    from unicodedata import category

    return "".join(c if c.isprintable() or category(c) == "Zs" else _escape(c) for c in text)


def harmless(text: str) -> str:
    """Show control characters of a text of several lines; keep newlines and tabs, which the caret needs."""
    return "\n".join("\t".join(visible(part) for part in line.split("\t")) for line in text.split("\n"))


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
