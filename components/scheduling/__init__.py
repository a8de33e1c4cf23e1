"""The batch scheduler, its queues and its view of the network."""
