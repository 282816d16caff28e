"""A session's settings for running its plans."""

from __future__ import annotations

from dctv.record import record

CHOICES: dict[str, tuple[str | bool, ...]] = {
    "span_engine": ("kernel", "relational"),
    "rewrite": ("on", "off"),
    "strict_engine": (True, False),
}


@record(frozen=False)
class RewriteSettings:
    """Settings of a session that change no result."""

    span_engine: str = "kernel"
    """Whether span operators run as compiled sweeps or as queries of the engine."""
    rewrite: str = "on"
    """Whether the rules that make plans cheaper are applied."""
    strict_engine: bool = False
    """Whether it is an error if another engine cannot carry out a part of a plan."""
    metered: bool = False
    """Whether results report their costs; no statement sets this."""
    configured: int = 0
    """The number of changes of settings of the engine."""
