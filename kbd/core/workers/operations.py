"""Operations as a client or a model gives them, made the records of a format's handler."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.arguments import record_of
from kbd.errors import ValidationFailed
from kbd.formats import Editable, FormatHandler

__all__ = ["cannot", "operations_of"]

MOST_QUOTED = 80
"""As many characters of an operation's unknown name are said again."""


def cannot(handler: FormatHandler, what: str, name: str) -> ValidationFailed:
    """Return the refusal of what a file's format does not offer."""
    return ValidationFailed(f"{name} cannot {what}: its format, {handler.name}, does not offer it.")


def operations_of(
    handler: FormatHandler, operations: Sequence[Mapping[str, Any]]
) -> tuple[msgspec.Struct, ...]:
    """Return operations as the handler's records.

    Raises:
        ValidationFailed: The format takes none, or one is unknown or ill-formed.
    """
    if not isinstance(handler, Editable):
        raise cannot(handler, "be edited by operations", "A file")
    records = {str(record.__struct_config__.tag): record for record in handler.operations}
    return tuple(
        _operation(records, handler.aliases, f"operations[{place}]", operation)
        for place, operation in enumerate(operations)
    )


def _operation(
    records: Mapping[str, type[msgspec.Struct]],
    aliases: Mapping[str, str],
    place: str,
    operation: Mapping[str, Any],
) -> msgspec.Struct:
    name = operation.get("op") if isinstance(operation, Mapping) else None
    offered = ", ".join(records)
    if not isinstance(name, str):
        msg = f"{place}: an operation is an object with `op`, one of: {offered}."
        raise ValidationFailed(msg)
    if name not in records:
        name = name[:MOST_QUOTED]
        near = difflib.get_close_matches(name, records, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        msg = f"{place}.op: there is no operation {name}; there are: {offered}.{hint}"
        raise ValidationFailed(msg)
    record = records[name]
    made = record_of(_spelt(record, aliases, operation), record, place, f" ({name})")
    assert isinstance(made, record)
    return made


def _spelt(
    record: type[msgspec.Struct], aliases: Mapping[str, str], operation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an operation with the record's own names in place of other ones for them."""
    fields = {field.encode_name for field in msgspec.structs.fields(record)}
    found = dict(operation)
    for alias, field in aliases.items():
        # Given under both names it stays as it is: then one of them is refused as unknown.
        if alias in found and alias not in fields and field in fields and field not in found:
            found[field] = found.pop(alias)
    return found
