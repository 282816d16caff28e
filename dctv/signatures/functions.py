"""Result types of the engine's functions and operators, by the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dctv.signatures.casts import NULL
from dctv.signatures.combine import comparable
from dctv.signatures.overloads import bound, chosen, filled
from dctv.signatures.results import ALWAYS, RESULTS, doubtful, null_result_is_known, stays_null
from dctv.signatures.rewritten import REWRITTEN
from dctv.signatures.table import Signature
from dctv.signatures.types import Type, plain

_BOOLEAN = plain("BOOLEAN")
_INCOMPLETE = frozenset(("ANY", "DECIMAL", "STRUCT", "TUPLE", "MAP", "LIST", "ARRAY", "UNION", "INVALID"))

_SPELLINGS = {
    "LIKE": "~~",
    "ILIKE": "~~*",
    "GLOB": "~~~",
    "NOT LIKE": "!~~",
    "NOT ILIKE": "!~~*",
    "SIMILAR TO": "regexp_full_match",
    "REGEXP": "regexp_matches",
}
"""The functions of operators that have others' names."""
_EQUALITIES = ("=", "==", "!=", "<>", "<=>", "<!=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IN", "NOT IN")
_ORDERS = ("<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN")
_TRUTHS = ("AND", "OR", "NOT", "IS NULL", "IS NOT NULL")


def result_type(name: str, arguments: Sequence[Type]) -> Type | None:
    """Return the type of a call, in any case and without names of arguments.

    `count(*)` has no argument. None: the engine refuses the call, or its result is unknown: then ask the engine.
    """
    return _called(name.lower(), tuple(arguments))


def operator_type(op: str, arguments: Sequence[Type]) -> Type | None:
    """Return the type of an operator's result; None if the engine refuses it, or it is unknown.

    BETWEEN, IN and NOT LIKE are operators too, IN and BETWEEN with all their operands.
    """
    return _operated(" ".join(op.upper().split()), tuple(arguments))


@lru_cache(16384)
def _called(name: str, arguments: tuple[Type, ...]) -> Type | None:
    rewritten = REWRITTEN.get(name)
    if rewritten is not None:
        return rewritten(_called, arguments)
    signature = chosen(name, arguments)
    if signature is None or doubtful(name, signature, arguments):
        return None
    if NULL in arguments and not null_result_is_known(name, signature):
        return NULL if stays_null(name, signature) else None
    found = _returned(name, signature, arguments)
    return found if found is not None and _complete(found) else None


@lru_cache(16384)
def _operated(op: str, operands: tuple[Type, ...]) -> Type | None:
    if op in _TRUTHS:
        return _BOOLEAN
    if op in _EQUALITIES or op in _ORDERS:
        return _BOOLEAN if comparable(operands, equality=op in _EQUALITIES) else None
    return _called(_SPELLINGS.get(op, op), operands)


def _returned(name: str, signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    rule = RESULTS.get(name)
    if rule is not None and (name in ALWAYS or not _complete(signature.result)):
        return rule(signature, arguments)
    bindings = bound(signature, arguments)
    return None if bindings is None else filled(signature.result, bindings)


def _complete(one: Type) -> bool:
    """Return whether a value can have this type."""
    if one.children:
        return all(map(_complete, one.children))
    return one.name not in _INCOMPLETE or bool(one.numbers)
