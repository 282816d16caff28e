"""Replace calls for the current time by one value: every trace of a fleet has the same, as rows of one query do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from dctv.plan.expressions import Call, Cast, Text
from dctv.plan.node import Node
from dctv.plan.nodes import Plan, Relation
from dctv.plan.walk import replaced
from dctv.record import replace
from dctv.rewrite.graph import bottom_up

_DATE, _TIME = "%Y-%m-%d", "%H:%M:%S.%f"
_INSTANT = ("TIMESTAMP WITH TIME ZONE", f"{_DATE} {_TIME}+00")
_FORMS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("now", "transaction_timestamp", "get_current_timestamp"), _INSTANT),
    **dict.fromkeys(("today", "current_date"), ("DATE", _DATE)),
    "current_localtimestamp": ("TIMESTAMP", f"{_DATE} {_TIME}"),
    "current_localtime": ("TIME", _TIME),
    "get_current_time": ("TIME WITH TIME ZONE", f"{_TIME}+00"),
}
"""The type of each function of the engine, whose sessions are in UTC, and the form of its value."""


def at_one_time(plan: Plan) -> Plan:
    """Return a plan with the time at which this is called."""
    now = datetime.now(UTC)

    def value(node: Node) -> Node | None:
        form = _FORMS.get(node.function.lower()) if isinstance(node, Call) and not node.arguments else None
        return None if form is None else Cast(Text(now.strftime(form[1])), form[0])

    def changed(one: Plan) -> Plan:
        if not isinstance(one, Relation):
            return one
        query = replaced(one.query, value)
        return one if query is one.query else replace(one, query=query)

    return bottom_up(plan, changed)
