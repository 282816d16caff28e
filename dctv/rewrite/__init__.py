"""Room: plan to better plan, one rule per file."""
