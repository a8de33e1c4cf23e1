"""The Ray operator and Ray clusters."""
