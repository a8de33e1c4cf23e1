"""What the command line refuses by itself."""


class RefusedError(Exception):
    """A command could not or would not do what was asked; the text says why and what to do."""
