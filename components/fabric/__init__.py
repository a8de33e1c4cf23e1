"""What connects the nodes of a pool: device plugins for RDMA, and the operator that brings them."""
