"""Storage: what is made for each tier, and how jobs get it."""
