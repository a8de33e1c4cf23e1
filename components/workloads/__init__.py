"""What the pods of every workload are made of."""
