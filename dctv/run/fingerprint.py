"""Fingerprint a bound plan: the trace that it reads, and a digest of its operations on the trace's rows."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from fractions import Fraction
from hashlib import blake2b

from dctv.catalog.mount import Mount
from dctv.patterns import pattern
from dctv.plan.canonical_text import shape
from dctv.plan.expressions import Call
from dctv.plan.node import Node
from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.plan.queries import CommonTable, TableCall, TableName
from dctv.plan.walk import walk
from dctv.record import fields, is_record, record
from dctv.rewrite.graph import inputs, readers_first

_CALLS = "random uuid uuidv4 uuidv7 gen_random_uuid nextval currval setval setseed now today ago age txid_current"
_MORE = "transaction_timestamp getvariable getenv stats sleep_ms write_log vector_type in_search_path error user"
_CHANGING = pattern(
    rf"{'|'.join((*_CALLS.split(), *_MORE.split()))}|session_user|pg_\w+|inet_\w+|(get_)?current_\w+|localtime\w*"
)
"""Functions that may give something else the next time."""
_TABLES = frozenset(("unnest", "range", "generate_series"))
"""Functions in FROM whose rows follow from their arguments."""


@record
class Fingerprint:
    """The operations of a plan on the rows of one trace."""

    mount: Mount
    digest: bytes


def mounts_of(plan: Plan, mounts: Collection[Mount]) -> list[Mount] | None:
    """Return the mounted traces whose tables a plan reads; None if it reads anything else that is stored."""
    found: dict[int, Mount] = {}
    for node in readers_first(plan):
        if isinstance(node, Scan):
            mount = next((one for one in mounts if _is_of(node, one)), None)
            if mount is None:
                return None
            found[id(mount)] = mount
    return list(found.values())


def fingerprint(plan: Plan, mounts: Collection[Mount]) -> Fingerprint | None:
    """Describe a plan that reads one trace, and nothing but that; None if it may give something else the next time."""
    found = mounts_of(plan, mounts)
    if found is None or len(found) != 1:
        return None
    (mount,) = found
    numbers: dict[int, int] = {}
    digest = blake2b(f"{mount.offset}".encode(), digest_size=32)
    try:
        for node in reversed(readers_first(plan)):
            numbers[id(node)] = len(numbers)
            below = [numbers[id(one)] for one in inputs(node)]
            text = repr((_described(node, mount), below, _plain(node.schema), node.ordered))
            digest.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))
    except _Unknown:
        return None
    return Fingerprint(mount, digest.digest())


class _Unknown(Exception):
    """Something that may differ the next time."""


def _described(plan: Plan, mount: Mount) -> object:
    match plan:
        case Scan():
            return plan.name.removeprefix(".".join(mount.parts))
        case Kernel():
            return plan.name, _plain(plan.options)
        case Relation():
            nodes = list(walk(plan.query))
            leaves = [name for name, _ in plan.leaves]
            names = {*leaves, *(node.name for node in nodes if isinstance(node, CommonTable))}
            if any(_may_change(node, names) for node in nodes):
                raise _Unknown
            # In their order, which is that of the inputs: two inputs may have each other's names.
            return shape(plan.query), leaves, plan.stable, plan.serial
        case _:
            raise _Unknown


def _may_change(node: Node, names: Collection[str]) -> bool:
    """Whether a part of a query may have another result the next time, or makes the engine read a source by itself."""
    match node:
        case TableName(name):
            return name not in names
        case TableCall(call):
            return call.function.lower() not in _TABLES
        case Call(function):
            return _CHANGING.fullmatch(function.lower()) is not None
        case _:
            return False


def _plain(value: object) -> object:
    """Return a form of a value that prints the same in every process."""
    match value:
        case None | bool() | int() | float() | str() | bytes():
            return value
        case Fraction() | Enum():
            return str(value)
        case list() | tuple():
            return [_plain(one) for one in value]
        case set() | frozenset():
            return sorted(repr(_plain(one)) for one in value)
        case _ if isinstance(value, dict):
            return [(_plain(key), _plain(one)) for key, one in value.items()]
        case _ if is_record(value) and not isinstance(value, type):
            compared = [one.name for one in fields(value) if one.compare]
            return type(value).__name__, [(name, _plain(getattr(value, name))) for name in compared]
        case _:
            raise _Unknown


def _is_of(scan: Scan, mount: Mount) -> bool:
    prefix = f"{'.'.join(mount.parts)}."
    given = mount.given.get(scan.name.removeprefix(prefix)) if scan.name.startswith(prefix) else None
    return given is not None and scan in readers_first(given())
