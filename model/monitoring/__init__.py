"""What is measured on GPU nodes, and who reads it."""
