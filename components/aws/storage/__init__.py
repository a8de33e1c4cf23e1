"""Tiers of storage that are made on AWS."""
