"""What the engine calls the document of a stack and its root."""

DOCUMENT_KEY = "gangline:environment"
"""The stack-config key of the document."""
ROOT_TYPE = "gangline:index:Platform"
"""Type token of the root component; its property `environment` is the document."""
