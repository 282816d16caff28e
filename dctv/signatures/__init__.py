"""Types of the engine's functions and operators, computed without asking it."""
