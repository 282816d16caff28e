"""Make table-valued functions of modules of the standard library that have parameters."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dctv.bind.arguments import bind_argument
from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.stdlib import LibraryModule
from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, Quantity, TableFunction
from dctv.errors import BindError, SourceText
from dctv.plan.nodes import Plan
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.parse import parse_expression
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit


def library_function(module: LibraryModule, home: tuple[str, ...]) -> TableFunction:
    """Make the function of a module: its select with the arguments as bind parameters, times in ns.

    `home` is the mount whose tables it reads.
    """

    def bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
        assert isinstance(builder, Binder)
        values: dict[int | str, Any] = {}
        for name, default, _ in module.parameters:
            argument = arguments[name]
            if argument.value is None and default is not None:
                written = parse_expression(SourceText(module.source.name, default))
                argument = bind_argument(builder, ast.ValueArgument(written))
            values[name] = _time(name, argument) if name in module.times else _plain(argument)
            if name in module.positive:
                _check_positive(name, values[name], argument)
        own = None if builder.within else Dependencies()
        env = replace(builder.env.outside(), params=values)
        inside = builder.copy(env=env, home=home, common={}, recursive=False, depth=builder.depth + 1)
        inside.dependencies, inside.within = own or builder.dependencies, True
        plan = inside.plan(module.select())
        if own is not None and own.lacking:
            env.warnings.repeat({own.note(".".join((*home, *module.parts))): 1})
        return plan

    parameters = [
        Parameter(name, what, REQUIRED if default is None else None) for name, default, what in module.parameters
    ]
    return TableFunction(module.parts[-1], module.summary, tuple(parameters), bind)


def _time(name: str, argument: Argument) -> Quantity | None:
    """Return the ns that a bind parameter stands for."""
    if argument.value is None:
        return None
    return Quantity(Fraction(argument.nanoseconds(f"`{name}`")), parse_unit("ns"))


def _check_positive(name: str, time: Quantity | None, argument: Argument) -> None:
    """Check that a time is longer than 0.

    Raises:
        BindError: it is not.
    """
    if time is not None and time.value <= 0:
        raise BindError(f"expected a positive time for `{name}`, found {time.value} ns", argument.place)


def _plain(argument: Argument) -> object:
    """Return the value of a bind parameter."""
    value = argument.value
    if isinstance(value, Plan | Quantity):
        number = argument.quantity("a number")
        if number.unit != NO_UNIT:
            raise argument.fail("a number without a unit")
        return int(number.value) if number.value.denominator == 1 else float(number.value)
    if value is None or isinstance(value, bool | str):
        return value
    raise argument.fail("a number, a string, a bool or NULL")
