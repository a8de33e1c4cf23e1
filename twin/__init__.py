"""The local cluster and cloud on which a stack is proven: tools, processes, nodes, schedulers."""
