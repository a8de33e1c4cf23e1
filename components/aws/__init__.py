"""A cluster on AWS: its network, its control plane, and its nodes."""
