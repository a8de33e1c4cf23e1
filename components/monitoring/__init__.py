"""The exporter on GPU nodes, and what Prometheus makes of it."""
