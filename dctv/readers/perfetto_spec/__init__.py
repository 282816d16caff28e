"""Descriptors of the messages in Perfetto traces."""
