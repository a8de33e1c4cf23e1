"""Patches of objects that something else made: a chart, an operator, the scheduler."""

from typing import Final

UNCOMPARED: Final = ("metadata.annotations",)
"""What later runs leave out when they compare a patch; for `ignore_changes`.

A patch waits by an annotation, for what the object's owner does. Where that was done before, the provider looks at the
object as its watch has it, which on a busy machine is the one from before the patch, and saves that one: the
annotation is missing in the state, and the next `up` would change something that nobody changed. A patch that alters
the specification is safe by itself, since an older generation is passed over (provider 4.25,
pkg/await/condition/observer.go).
"""
