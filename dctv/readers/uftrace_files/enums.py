"""Parse enums in uftrace's syntax, close to that of C, into names of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.patterns import pattern

_ENUM = pattern(r"\s*enum\s+([A-Za-z_][^\s{]*)\s*\{([^}]*)\}")
_MEMBER = pattern(r"\s*([A-Za-z_][^\s=]*)\s*(?:=\s*([-+]?\w+))?\s*$")


def read_enums(text: str) -> Iterator[tuple[str, Sequence[tuple[str, int]]]]:
    """Yield each enum's name and members, highest value first, the later of equal ones first."""
    for one in text.split(";") if text else ():
        found = _ENUM.match(one)
        if found is None:
            continue
        members: list[tuple[str, int]] = []
        value = 0
        for item in found[2].split(","):
            member = _MEMBER.match(item)
            if member is None:
                continue
            value = _number(member[2]) if member[2] else value
            at = next((n for n, (_, other) in enumerate(members) if other <= value), len(members))
            members.insert(at, (member[1], value))
            value += 1
        yield found[1], members


def _number(text: str) -> int:
    """Parse a number in C syntax."""
    digits = text.lstrip("+-")
    base = 16 if digits[:2].lower() == "0x" else 8 if digits.startswith("0") else 10
    try:
        value = int(digits, base)
    except ValueError:
        return 0
    return max(min(-value if text.startswith("-") else value, 2**63 - 1), -(2**63))
