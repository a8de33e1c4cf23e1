"""Variables by which the parts of the twin's cloud tell each other where they are.

They are apart from what imports moto or boto3, which takes seconds.
"""

VARIABLE = "GANGLINE_TWIN_AWS"
"""Address of the twin's cloud: set by the twin only, and what the provider works on."""

ENDPOINT, AUTHORITY = "GANGLINE_TWIN_ENDPOINT", "GANGLINE_TWIN_AUTHORITY"
"""End point of the twin's API server, and the file of its authority, for the clusters of EKS."""

TOKENS = "GANGLINE_TWIN_TOKENS"
"""The file of the tokens that the twin's API server knows, for `aws eks get-token`."""

JOURNAL = "/moto-api/gangline/journal"
"""Where at the cloud's address the notes of what was made are."""

CHANGES = "/moto-api/gangline/changes"
"""Where at the cloud's address one waits for a change of EKS."""

GIVEN = "/moto-api/gangline/given"
"""Where at the cloud's address what an account has before is put."""
