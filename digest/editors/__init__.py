"""Who writes the texts of a story."""
