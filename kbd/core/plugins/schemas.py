"""JSON schemas of tools' arguments, in the plain form that model servers understand."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.core.plugins.hooks import PluginError

__all__ = ["plain_schema"]


def plain_schema(record: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Return a record's JSON schema without references, as model servers want it.

    Only the `discriminator` of a union is left out, for it can but refer; the tag of each branch
    is an `enum` of one, which says the same.

    Raises:
        PluginError: The record contains itself.
        TypeError: A field's type has no JSON schema.
    """
    schema = msgspec.json.schema(record)
    parts = schema.pop("$defs", {})

    def inlined(value: Any, within: tuple[str, ...] = ()) -> Any:
        if isinstance(value, list):
            return [inlined(part, within) for part in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            name = value["$ref"].removeprefix("#/$defs/")
            if name in within:
                msg = f"{record.__name__} contains {name} within itself"
                raise PluginError(msg)
            beside = {key: part for key, part in value.items() if key != "$ref"}
            return inlined(parts[name], (*within, name)) | inlined(beside, within)
        return {
            key: inlined(part, within)
            for key, part in value.items()
            if not (key == "discriminator" and isinstance(part, dict) and "mapping" in part)
        }

    result: dict[str, Any] = inlined(schema)
    return result
