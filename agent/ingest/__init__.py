"""Documents in: reading, metadata, splitting, writing."""
