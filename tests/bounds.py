"""How many examples a property test tries, and whether they are the same ones in every run.

A run that must pass is no place to explore: its examples are a twelfth of those that a test names, and repeat.
`make fuzz` sets `DCTV_EXPLORE` to how many times as many as it names are tried, all of them new; `DCTV_SPAN_ENGINE`
and `DCTV_REWRITE` say how plans are carried out.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

from dctv.session import Session

EXPLORE = int(os.environ.get("DCTV_EXPLORE") or 0)
LEFT_TO_CI = not (EXPLORE or os.environ.get("DCTV_CI"))
"""Whether tests marked `ci`, which build a wheel, kill many processes or try a second variant, are left out, and
long ones are shorter."""
_PART = 12
"""Of the examples that a test names, one in so many is tried in a run that must pass."""
SPAN_ENGINES = [os.environ["DCTV_SPAN_ENGINE"]] if os.environ.get("DCTV_SPAN_ENGINE") else ["kernel", "relational"]


def bounded(examples: int) -> settings:
    """Return the settings of a property test that tries so many examples where it explores."""
    return settings(
        max_examples=examples * EXPLORE or max(examples // _PART, 3),
        deadline=None,
        derandomize=not EXPLORE,
        database=None,
        phases=[
            phase for phase in Phase if phase is not Phase.explain
        ],  # it takes a minute where one query takes 0.1 s
        suppress_health_check=list(HealthCheck),
    )


def chosen(session: Session, span_engine: str) -> Session:
    """Set a session to a way to run span operators, and to rewrite plans as the environment asks."""
    session.sql(f"SET span_engine = '{span_engine}'")
    session.sql(f"SET rewrite = '{os.environ.get('DCTV_REWRITE') or 'on'}'")
    return session
