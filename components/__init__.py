"""Pulumi components, a folder per concern: what the document means, made of Kubernetes objects."""
