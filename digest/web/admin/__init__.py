"""The operator's pages: see how the mornings went, find out why, and act."""
