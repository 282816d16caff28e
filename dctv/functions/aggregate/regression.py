"""Unit rules of aggregates over pairs (y, x): y is the dependent variable."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("corr", "aggregate", UnitRule.NONE, "coefficient of correlation"),
    FunctionRule("covar_pop", "aggregate", UnitRule.PRODUCT, "covariance"),
    FunctionRule("covar_samp", "aggregate", UnitRule.PRODUCT, "covariance of a sample"),
    FunctionRule("regr_avgx", "aggregate", UnitRule.SECOND, "mean of x over the pairs"),
    FunctionRule("regr_avgy", "aggregate", UnitRule.FIRST, "mean of y over the pairs"),
    FunctionRule("regr_count", "aggregate", UnitRule.NONE, "number of pairs without NULL"),
    FunctionRule("regr_intercept", "aggregate", UnitRule.FIRST, "y of the regression line at x = 0"),
    FunctionRule("regr_r2", "aggregate", UnitRule.NONE, "coefficient of determination"),
    FunctionRule("regr_slope", "aggregate", UnitRule.QUOTIENT, "slope of the regression line, y per x"),
    FunctionRule("regr_sxx", "aggregate", UnitRule.SQUARE_SECOND, "sum of squared deviations of x"),
    FunctionRule("regr_sxy", "aggregate", UnitRule.PRODUCT, "sum of products of the deviations of x and y"),
    FunctionRule("regr_syy", "aggregate", UnitRule.SQUARE, "sum of squared deviations of y"),
)
