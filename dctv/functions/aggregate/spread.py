"""Unit rules of measures of spread and shape: variances are squares, shapes are ratios."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("stddev", "aggregate", UnitRule.KEEP, "standard deviation of a sample"),
    FunctionRule("stddev_samp", "aggregate", UnitRule.KEEP, "standard deviation of a sample"),
    FunctionRule("stddev_pop", "aggregate", UnitRule.KEEP, "standard deviation"),
    FunctionRule("sem", "aggregate", UnitRule.KEEP, "standard error of the mean"),
    FunctionRule("variance", "aggregate", UnitRule.SQUARE, "variance of a sample"),
    FunctionRule("var_samp", "aggregate", UnitRule.SQUARE, "variance of a sample"),
    FunctionRule("var_pop", "aggregate", UnitRule.SQUARE, "variance"),
    FunctionRule("skewness", "aggregate", UnitRule.NONE, "skewness, in standard deviations"),
    FunctionRule("kurtosis", "aggregate", UnitRule.NONE, "excess kurtosis of a sample, in standard deviations"),
    FunctionRule("kurtosis_pop", "aggregate", UnitRule.NONE, "excess kurtosis, in standard deviations"),
    FunctionRule("entropy", "aggregate", UnitRule.NONE, "entropy of the values' frequencies, in bits"),
)
