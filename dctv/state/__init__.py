"""State histories: built from changes of attributes, they hold the state of every attribute at any time."""

from __future__ import annotations

from dctv.state.attributes import ROOT, escape, split
from dctv.state.faults import (
    AttributeNotFound,
    HistoryClosed,
    HistoryDamaged,
    HistoryOfAnother,
    OutOfOrder,
    StateError,
    TimeOutOfRange,
    WrongValue,
)
from dctv.state.interval import Interval, Value, compare
from dctv.state.partial import PartialStateSystem
from dctv.state.pool import AttributePool
from dctv.state.system import Feature, StateSystem

__all__ = [
    "ROOT",
    "AttributeNotFound",
    "AttributePool",
    "Feature",
    "HistoryClosed",
    "HistoryDamaged",
    "HistoryOfAnother",
    "Interval",
    "OutOfOrder",
    "PartialStateSystem",
    "StateError",
    "StateSystem",
    "TimeOutOfRange",
    "Value",
    "WrongValue",
    "compare",
    "escape",
    "split",
]
