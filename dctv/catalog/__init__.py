"""What a name means: namespaces, mounts, views, functions."""
