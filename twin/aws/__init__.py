"""The cloud of the twin: moto on loopback, and a stand-in for Pulumi's AWS provider that works on it.

The stand-in is for tests and trials. It never reaches beyond loopback, says that it is a stand-in, and runs only where
`--twin` asked for it (docs/decisions/060-a-provider-of-rows.md).
"""
