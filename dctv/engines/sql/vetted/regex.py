r"""Rewrite regular expressions of RE2 so that RE2, Java and Rust agree on them.

They differ in what `.`, `$`, `\d`, `\s` and `\w` match in texts with line ends or letters beyond ASCII. These are
written out, and everything else that differs is refused.
"""

from __future__ import annotations

from dctv.engines.sql.vetted.refusal import refused

_CLASSES = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_ESCAPED = frozenset(r"\.+*?()|[]{}^$-/")
_MARKS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}


def portable(pattern: str) -> str:
    """Return a pattern that means in all of them what this one means in RE2.

    Raises:
        NotOnThisEngine: they differ about a part of it.
    """
    made: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            made.append(_escape(pattern, at, within=False))
            at += 2
        elif letter == "[":
            written, at = _set(pattern, at + 1)
            made.append(written)
        elif pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            raise _odd(pattern, pattern[at : at + 3])
        elif letter == "{" and not _is_count(pattern, at):
            raise _odd(pattern, letter)
        elif pattern[at : at + 2] in ("*+", "++", "?+", "}+"):
            raise _odd(pattern, pattern[at : at + 2])
        else:
            made.append({".": r"[^\n]", "$": r"\z"}.get(letter, letter))
            at += 1
    return "".join(made)


def _is_count(pattern: str, at: int) -> bool:
    numbers, closed, _ = pattern[at + 1 :].partition("}")
    first, _, second = numbers.partition(",")
    return bool(closed) and first.isdecimal() and first.isascii() and (not second or second.isdecimal())


def _escape(pattern: str, at: int, *, within: bool) -> str:
    letter = pattern[at + 1 : at + 2]
    if letter in _CLASSES:
        return _CLASSES[letter] if within else f"[{_CLASSES[letter]}]"
    if letter.lower() in _CLASSES and letter and not within:
        return f"[^{_CLASSES[letter.lower()]}]"
    if letter in _MARKS:
        return _MARKS[letter]
    if letter and letter in _ESCAPED:
        return "\\" + letter
    raise _odd(pattern, "\\" + letter)


def _set(pattern: str, at: int) -> tuple[str, int]:
    """Return a character class, and the position after it."""
    made = ["["]
    if pattern.startswith("^", at):
        made.append("^")
        at += 1
    begin = at
    while at < len(pattern):
        letter = pattern[at]
        if letter == "]" and at > begin:
            return "".join([*made, "]"]), at + 1
        if letter in "[]" or pattern[at : at + 2] in ("&&", "--", "~~"):
            raise _odd(pattern, pattern[at : at + 2])
        if letter == "\\":
            made.append(_escape(pattern, at, within=True))
            at += 2
        else:
            made.append(letter)
            at += 1
    raise _odd(pattern, "[")


def _odd(pattern: str, part: str) -> Exception:
    return refused(f"`{part}` in the regular expression '{pattern}'", "it has another meaning there")
