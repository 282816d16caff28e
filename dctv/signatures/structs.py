"""Write the engine's type of a struct from the names and types of its members."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.patterns import pattern
from dctv.signatures.casts import settled
from dctv.signatures.table import keywords
from dctv.signatures.types import Type, struct_of

_PLAIN = pattern(r"[A-Za-z_][A-Za-z0-9_]*")


def struct_type(names: Sequence[str], members: Sequence[Type]) -> Type:
    """Return the type of a struct."""
    return struct_of(tuple(map(_quoted, names)), tuple(map(settled, members)))


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in keywords():
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
