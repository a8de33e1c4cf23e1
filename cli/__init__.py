"""The gangline command: one module per sub-command, imports of heavy packages inside the commands."""
