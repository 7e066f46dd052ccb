"""Ordered operations, all or nothing, applied by a table; and the warnings of an edit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.opc.package import Relation

__all__ = ["EditWarnings", "OperationTable", "apply_in_order", "listed"]


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
        # Looked up first, so that nothing is prepared for an operation that is refused.
        applied = table.get(type(operation))
        if applied is None:
            raise ValidationFailed(f"{type(operation).__name__} is not built yet")
        if prepare is not None:
            prepare(operation)
        changed.append(applied(operation))
    return tuple(changed)


MAX_LISTED = 12
"""Things that one warning lists, where it does not say otherwise; the rest is counted."""


class EditWarnings:
    """Collects warnings, and what a file now reaches out to; each once, in order.

    Args:
        most: How many warnings are told; what is past them is counted. None tells all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._texts: dict[str, None] = {}
        self._external: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Add a warning."""
        self._texts.setdefault(text)

    def warn_of_signature(self, relations: Iterable[Relation], what: str) -> None:
        """Warn where a package is signed, by its own relations; any change makes that invalid.

        Args:
            relations: Those of the package.
            what: What the file is ("document").
        """
        # By the whole type: its last word, which is the relation's kind, is just "origin".
        if any("digital-signature" in relation.type for relation in relations):
            self.warn(f"The {what} was signed; after this change the signature is void.")

    def note_external(self, text: str) -> None:
        """Note what the file reaches out to now, with its place ("Sheet1!B2: …")."""
        self._external.setdefault(text)

    @property
    def texts(self) -> tuple[str, ...]:
        """The warnings so far."""
        found = tuple(self._texts)
        if self._most is None or len(found) <= self._most:
            return found
        more = len(found) - self._most
        return (*found[: self._most], f"{more} more warnings like these.")

    @property
    def external(self) -> tuple[str, ...]:
        """External targets that the file now refers to."""
        return tuple(self._external)


def listed(names: Sequence[str], most: int = MAX_LISTED) -> str:
    """Return names in a row, the first ones and a count if they are many."""
    shown, more = ", ".join(names[:most]), len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown
