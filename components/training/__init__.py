"""Training jobs."""
