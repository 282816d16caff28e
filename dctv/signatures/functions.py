"""What the engine's functions and operators return, by the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.signatures.types import Type


def result_type(_name: str, _arguments: Sequence[Type]) -> Type | None:
    """Return the type of a call; None: the engine refuses it, or it is not known."""
    return None


def operator_type(_op: str, _arguments: Sequence[Type]) -> Type | None:
    """Return the type of an operator's result; None: the engine refuses it, or it is not known."""
    return None
