"""Facts about the outside world: GPUs, servers and upstream releases, a source with each."""
