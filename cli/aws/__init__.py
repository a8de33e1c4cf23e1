"""AWS as the command line meets it: an account, what it lacks, and what a team needs there once."""
