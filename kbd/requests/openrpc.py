"""The OpenRPC document of every method, made from the records that validate requests."""

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.requests.base import Request

__all__ = ["openrpc_document"]

_SCHEMAS = "#/components/schemas/{name}"


def openrpc_document(methods: Mapping[str, type[Request]], version: str) -> dict[str, Any]:
    """Return the document that `rpc.discover` answers.

    Args:
        methods: The record of each method.
        version: The version of kbd, for the document's head.
    """
    rows = []
    schemas: dict[str, Any] = {}
    for name, kind in sorted(methods.items()):
        (params, result), parts = msgspec.json.schema_components(
            [kind, kind.answer], ref_template=_SCHEMAS
        )
        own = parts.pop(kind.__name__, params)
        schemas |= parts
        rows.append(_method(name, kind, own, result))
    return {
        "openrpc": "1.3.2",
        "info": {"title": "kbd", "version": version},
        "methods": rows,
        "components": {"schemas": schemas},
    }


def _method(
    name: str, kind: type[Request], own: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    required = set(own.get("required", ()))
    description = inspect.cleandoc(kind.__doc__ or name)
    return {
        "name": name,
        "summary": description.partition("\n")[0],
        "description": description,
        "paramStructure": "by-name",
        "params": [
            {"name": field, "required": field in required, "schema": schema}
            for field, schema in own.get("properties", {}).items()
        ],
        "result": {"name": "result", "schema": result},
    }
