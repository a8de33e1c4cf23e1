"""The policy pack: laws that every resource of a stack is held to, whoever wrote it."""
