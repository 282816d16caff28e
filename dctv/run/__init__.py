"""Cuts a plan into engine regions and kernels, and streams batches through."""
