"""The fields of shapes in the words of their docstrings, for the schema and the reference.

Read from the source only when asked for: pydantic's own extraction would do it at every start.
"""

import ast
import inspect
import textwrap
from functools import cache

from .base import Declared


@cache
def descriptions(shape: type[Declared]) -> dict[str, str]:
    """What each field of a shape means, by its name in documents, each in one line."""
    found: dict[str, str] = {}
    for base in shape.__bases__:
        if issubclass(base, Declared) and base is not Declared:
            found |= descriptions(base)
    body = ast.parse(textwrap.dedent(inspect.getsource(shape))).body[0]
    if not isinstance(body, ast.ClassDef):
        return found
    for field, text in zip(body.body, body.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                if name in shape.model_fields:
                    found[shape.model_fields[name].alias or name] = " ".join(words.split())
            case _:
                pass
    return found


def shapes(root: type[Declared]) -> list[type[Declared]]:
    """A shape and all that it is made of, each once, in the order in which a document has them."""
    found: list[type[Declared]] = []

    def visit(annotation: object) -> None:
        if isinstance(annotation, type) and issubclass(annotation, Declared):
            if annotation not in found:
                found.append(annotation)
                for field in annotation.model_fields.values():
                    visit(field.annotation)
            return
        for inner in getattr(annotation, "__args__", ()):
            visit(inner)

    visit(root)
    return found
