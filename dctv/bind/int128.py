"""Integers of 128 bits: the columns that keep them, and plans that convert them back to 64 bits."""

from __future__ import annotations

from dctv.bind.bound import Bound
from dctv.bind.grouping import parts_of
from dctv.errors import BindError, Place
from dctv.plan.carrying import with_types
from dctv.plan.expressions import Call, Cast, Column
from dctv.plan.nodes import Plan
from dctv.record import replace
from dctv.signatures.carried import WIDE, carried, is_restored
from dctv.signatures.types import parse
from dctv.types.unit import NO_UNIT
from dctv.types.values import dialect_type

_LARGEST = 2**63
_ALWAYS_WIDE = frozenset(("binom", "factorial", "md5_number"))


def is_wide(bound: Bound) -> bool:
    """Whether the text shows that a value may need more than 64 bits: by a type, a number or a column of such a type.

    Else it is only the engine that computes with 128, as it does for sums.
    """
    return any(map(_says_so, parts_of([bound])))


def _says_so(one: Bound) -> bool:
    match one.value:
        case Cast(type=name):
            return name in WIDE
        case Call(function=name):
            return name in _ALWAYS_WIDE
        case Column():
            return one.type is not None and one.type.name in WIDE
        case _:
            bare = one.constant is not None and one.integral and one.unit == NO_UNIT
            return bare and not -_LARGEST <= (one.constant or 0) < _LARGEST


def narrowed(plan: Plan, place: Place | None) -> Plan:
    """Return a plan without integers of 128 bits: for operators over time, which calculate with 64; else it fails.

    Raises:
        BindError: a column is of a type that cannot go through such an operator.
    """
    for column in plan.schema.columns:
        made = parse(column.type)
        if carried(made) != made and not is_restored(made):
            raise BindError(
                f"the column `{column.name}` has the type {dialect_type(column.type)}, which needs a plain select",
                place,
                hint="cast it: x::STRING",
            )
    columns = tuple(replace(one, type="BIGINT") if one.type in WIDE else one for one in plan.schema.columns)
    return with_types(plan, replace(plan.schema, columns=columns))
