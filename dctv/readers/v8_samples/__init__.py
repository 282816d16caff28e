"""Profiles of V8: call trees, and the samples that point into them."""
