"""Why a workload waits: what is seen of a cluster goes in, reasons come out."""
