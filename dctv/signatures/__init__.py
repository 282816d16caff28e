"""Types of the engine's functions and operators, told without asking it."""
