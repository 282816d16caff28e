"""What an entry of a registry must provide, and the scan that finds it."""
