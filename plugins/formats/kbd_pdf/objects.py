"""Objects of a PDF file, as pypdf has them: what references lead to, and names without escapes."""

import re
from typing import Any

from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

__all__ = ["array", "dictionary", "entry", "plain", "resolved"]

_ESCAPE = re.compile(rb"#([0-9a-fA-F]{2})")


def resolved(value: Any) -> Any:
    """Return what a reference leads to, and anything else as it is."""
    return value.get_object() if isinstance(value, IndirectObject) else value


def dictionary(value: Any) -> DictionaryObject:
    """Return what a reference leads to, or an empty dictionary where that is something else."""
    found = resolved(value)
    return found if isinstance(found, DictionaryObject) else DictionaryObject()


def array(value: Any) -> list[Any]:
    """Return the items of a list, or none where it is something else."""
    found = resolved(value)
    return list(found) if isinstance(found, ArrayObject) else []


def entry(holder: DictionaryObject, key: str) -> Any:
    """Return an entry of a dictionary, followed if it is a reference; None where there is none."""
    return resolved(holder.get(key))


def plain(name: bytes) -> str:
    """Return a name as a resource has it, without numbers of letters."""
    shown = _ESCAPE.sub(lambda code: bytes([int(code[1], 16)]), name)
    return "/" + shown.decode("utf-8", "replace")
