"""Typed stacks that join components, and the environments: `Pulumi.<environment>.yaml`."""
