"""Laws about resources of AWS, a module per topic."""
