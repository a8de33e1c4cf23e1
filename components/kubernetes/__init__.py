"""The cluster that everything is made in."""
