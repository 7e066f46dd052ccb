"""Ordered operations: records applied one after the other, all or nothing, by a table."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kbd.errors import ValidationFailed

__all__ = ["OperationTable", "apply_in_order"]

OperationTable = Mapping[type[msgspec.Struct], Callable[[Any], str]]
"""What applies each class of operations to a file, and returns in words what it changed."""


def apply_in_order(
    operations: Iterable[msgspec.Struct],
    table: OperationTable,
    prepare: Callable[[Any], object] | None = None,
) -> tuple[str, ...]:
    """Apply operations in order, each to what the ones before made of the file.

    Nothing is written here: whoever calls does so when all went through.

    Args:
        operations: The records.
        table: What applies each.
        prepare: Is called with each before it is applied.

    Returns:
        What each changed.

    Raises:
        ValidationFailed: The table has nothing for an operation, or one cannot be applied.
    """
    changed = []
    for operation in operations:
        applied = table.get(type(operation))
        if applied is None:
            raise ValidationFailed(f"{type(operation).__name__} is not built yet.")
        if prepare is not None:
            prepare(operation)
        changed.append(applied(operation))
    return tuple(changed)
