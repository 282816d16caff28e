"""What a thing on a shelf must bring, and the scan that finds it."""
