"""What a person declares about a cluster, and everything that follows from it. Pure: no engine, no network."""
