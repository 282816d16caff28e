"""Apply SET to the settings of the session and of its engine."""

from __future__ import annotations

from dctv.bind import expressions
from dctv.bind.binder import Binder
from dctv.bind.context import Environment, Leaves
from dctv.bind.scope import Scope
from dctv.errors import BindError, DctvError, UsageError, nearest
from dctv.rewrite.settings import CHOICES
from dctv.run.context import ExecutionContext
from dctv.run.plans import evaluated
from dctv.run.result import Done
from dctv.syntax import ast

_ELSEWHERE = {"temp_directory": "--temp-directory, or Session(temp_directory=...), says where rows are spilled to"}
"""Settings that only the program that opens the session may choose, and no statement."""


_ENGINE = "engine"


def choose(statement: ast.Set, context: ExecutionContext, env: Environment) -> Done:
    """Change a setting."""
    name = statement.path.text.lower()
    clause = Binder(env).context(Scope([]), Leaves(), clause="SET", aggregates_allowed=False)
    bound = expressions.bind(statement.value, clause)
    value: object = evaluated([statement.value], context, env)[0].value
    if str(bound.unit):
        value = f"{value}{bound.unit}"
    try:
        _configure(name, value, context)
    except DctvError as error:
        raise BindError(error.message, statement.path.place, hint=error.hint) from None
    return Done(f"set {name}")


def _configure(name: str, value: object, context: ExecutionContext) -> None:
    setting_names = [*CHOICES, _ENGINE, *context.engine.settings()]
    if name not in setting_names:
        near = nearest(name, setting_names)
        hint = _ELSEWHERE.get(name) or (f"did you mean `{near}`?" if near else f"settings: {', '.join(setting_names)}")
        raise UsageError(f"unknown setting `{name}`", hint=hint)
    if name == _ENGINE:
        context.choose_engine(str(value), by_text=True)
        return
    if name not in CHOICES:
        context.settings.configured += 1
        context.engine.configure(name, value)
        return
    if value not in CHOICES[name]:
        near = nearest(str(value), [str(c) for c in CHOICES[name] if isinstance(c, str)])
        listed = " or ".join(f"'{c}'" if isinstance(c, str) else str(c).lower() for c in CHOICES[name])
        raise UsageError(f"`{name}` is {listed}, found `{value}`", hint=f"did you mean '{near}'?" if near else None)
    setattr(context.settings, name, value)
