"""Cut a plan into engine regions and kernels, and stream batches through."""
