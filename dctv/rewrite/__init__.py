"""Rewrite rules, one file each: a plan to a cheaper plan with the same rows."""
