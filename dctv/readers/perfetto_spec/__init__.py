"""What messages of Perfetto's traces hold."""
