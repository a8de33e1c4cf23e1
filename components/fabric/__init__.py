"""Node agents that find and advertise RDMA devices."""
