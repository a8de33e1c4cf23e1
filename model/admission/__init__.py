"""Laws about workloads as the API server itself holds to them, in its own language, CEL."""
