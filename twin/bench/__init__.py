"""Measurements of the scheduler with our configuration, on the real one, with stock Volcano beside it."""
