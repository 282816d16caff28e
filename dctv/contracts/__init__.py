"""Interfaces of the entries of registries, and the scan that finds them."""
