"""V8 profiles: call trees, and the samples that refer to them."""
