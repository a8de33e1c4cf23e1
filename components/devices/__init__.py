"""Node agents that find and advertise GPUs."""
