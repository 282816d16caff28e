"""The meaning of names: namespaces, mounts, views, functions."""
