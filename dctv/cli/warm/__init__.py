"""Warm sessions: a process that keeps traces mounted, and the short ones that ask it."""
