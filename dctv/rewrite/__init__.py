"""Plan to better plan, one rule per file."""
