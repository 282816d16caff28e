"""Table-valued functions of the dialect that this version knows but does not execute."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.contracts.table_function import Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import NotYetError
from dctv.plan.nodes import Plan


def _refuse(name: str) -> Callable[[Mapping[str, Argument], PlanBuilder], Plan]:
    def bind(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
        place = next((a.place for a in arguments.values()), None)
        raise NotYetError(
            f"`dctv.{name}` is not executed yet", place, hint="docs/reference/status.md lists what is not"
        )

    return bind


_STACKS = (
    Parameter("starts", "events that push", None, keyword_only=True),
    Parameter("stops", "events that pop", None, keyword_only=True),
    Parameter("token", "name of the column that is pushed", "name", keyword_only=True),
    Parameter("partition", "name of the partition column", None, keyword_only=True),
    Parameter("timestamp", "name of the column of times", "_ts", keyword_only=True),
)

STACK_HISTORY = TableFunction("stack_history", "not yet: which stack is there when", _STACKS, _refuse("stack_history"))
STACK_CONTENTS = TableFunction("stack_contents", "not yet: what is on each stack", _STACKS, _refuse("stack_contents"))
SAMPLE = TableFunction(
    "sample",
    "not yet: every n-th row",
    (
        Parameter("table", "the table", None),
        Parameter("n", "how many rows one stands for", None),
        Parameter("per", "name of a column: count per value of it", None),
    ),
    _refuse("sample"),
)
