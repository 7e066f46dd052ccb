"""The JSON schema of a format's operations, short enough for a prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

__all__ = ["operations_schema"]


def operations_schema(records: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    """Return the schema of one operation: the union of the records, told apart by `op`.

    References are resolved, titles and argument lists of docstrings left out, and a choice of one
    is a const: models follow such schemas better, and they cost fewer tokens.
    """
    schemas, definitions = msgspec.json.schema_components(records)
    return {"anyOf": [_plain(schema, definitions) for schema in schemas]}


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema without references and without what only documentation needs."""
    match schema:
        case {"$ref": str(reference)}:
            return _plain(definitions[reference.rpartition("/")[2]], definitions)
        case {"enum": [only]}:
            return {"const": only}
        case dict():
            return {
                key: _plain(_first_paragraph(key, value), definitions)
                for key, value in schema.items()
                if not (key == "title" and isinstance(value, str)) and key != "discriminator"
            }
        case list():
            return [_plain(item, definitions) for item in schema]
        case _:
            return schema


def _first_paragraph(key: str, value: Any) -> Any:
    """Cut a description, which msgspec takes from the docstring, after its first paragraph."""
    if key == "description" and isinstance(value, str):
        return " ".join(value.split("\n\n")[0].split())
    return value
