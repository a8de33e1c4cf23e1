"""`python -m cli`, as the launcher runs it."""

from .app import main

main()
