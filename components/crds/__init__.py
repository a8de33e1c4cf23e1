"""Custom resource definitions, which outlive the releases that bring them."""
