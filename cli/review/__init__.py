"""`review`: what a change of an environment does, as one report for a pull request."""
