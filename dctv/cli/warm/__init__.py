"""Warm sessions: a process that keeps traces mounted, and short-lived clients."""
