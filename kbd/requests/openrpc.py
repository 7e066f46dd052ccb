"""The OpenRPC document of every method, made from the records that validate requests.

Beside what OpenRPC asks for it has `x-notifications`, in the shape of its methods, and
`x-error-codes`: what the `error_code` of an application's error can be.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd import errors
from kbd.requests import notifications
from kbd.requests.base import Request

__all__ = ["WireError", "openrpc_document"]

_SCHEMAS = "#/components/schemas/"
_ERRORS = "#/components/errors/"

_OPENRPC = {"$ref": "https://meta.open-rpc.org/"}
"""What `rpc.discover` answers, as OpenRPC says."""

_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n {8,}.+)*)", re.MULTILINE)


class WireError(msgspec.Struct, frozen=True, kw_only=True):
    """An error that may be answered.

    Args:
        name: What the document calls it.
        code: The number on the wire.
        message: What it means.
        data: The record beside it, if it has one.
        is_of_methods: Whether a method's answer can be this error; else it is the connection's.
    """

    name: str
    code: int
    message: str
    data: type[Any] | None = None
    is_of_methods: bool = True


def openrpc_document(
    methods: Mapping[str, type[Request]], version: str, wire_errors: Sequence[WireError] = ()
) -> dict[str, Any]:
    """Return the document that `rpc.discover` answers.

    Args:
        methods: The record of each method.
        version: The version of kbd, for the document's head.
        wire_errors: What may be answered in the place of a result.
    """
    rows = sorted(methods.items())
    notifications = list(_notifications())
    # All at once: two records of one name, from different modules, get names of their own.
    kinds = [kind for _, row in rows for kind in (row, row.answer)]
    datas = [each.data for each in wire_errors if each.data is not None]
    shown, schemas = msgspec.json.schema_components(
        [*kinds, *notifications, *datas], ref_template=_SCHEMAS + "{name}"
    )
    found = iter(shown)
    faults = [{"$ref": _ERRORS + each.name} for each in wire_errors if each.is_of_methods]
    return {
        "openrpc": "1.3.2",
        "info": {"title": "kbd", "version": version},
        "methods": [
            _method(name, kind, _own(next(found), schemas), next(found)) | {"errors": faults}
            for name, kind in rows
        ],
        "x-notifications": [
            _described(kind.__name__, kind, _own(next(found), schemas)) for kind in notifications
        ],
        "x-error-codes": [
            {"error_code": kind.code, "retryable": kind.retryable_by_default, "meaning": meaning}
            for kind, meaning in _codes()
        ],
        "components": {
            "schemas": schemas,
            "errors": {each.name: _error(each, found) for each in wire_errors},
        },
    }


def _method(
    name: str, kind: type[Request], own: dict[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    schema = _OPENRPC if name == "rpc.discover" else result
    return {
        **_described(name, kind, own),
        "paramStructure": "by-name",
        "result": {"name": "result", "schema": schema},
    }


def _described(name: str, kind: type[Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return what a method and a notification have in common; required parameters come first."""
    description = inspect.cleandoc(kind.__doc__ or name).partition("\n\nArgs:")[0]
    meanings = _meanings(kind)
    required = set(own.get("required", ()))
    params = [
        {"name": field, "required": field in required, "schema": schema}
        | ({"description": meanings[field]} if field in meanings else {})
        for field, schema in own.get("properties", {}).items()
    ]
    return {
        "name": name,
        "summary": description.partition("\n")[0],
        "description": description,
        "params": sorted(params, key=lambda each: not each["required"]),
    }


def _meanings(kind: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a record and its roots say of each parameter."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        arguments = inspect.cleandoc(each.__doc__ or "").partition("\nArgs:\n")[2]
        for name, text in _ARGUMENT.findall(arguments):
            found[name] = " ".join(text.split())
    return found


def _own(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Take out the schema that another refers to: what it says stands among the parameters."""
    taken: dict[str, Any] = schemas.pop(schema["$ref"].removeprefix(_SCHEMAS))
    return taken


def _error(error: WireError, schemas: Iterator[dict[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {"code": error.code, "message": error.message}
    return document if error.data is None else {**document, "data": next(schemas)}


def _notifications() -> Iterator[type[msgspec.Struct]]:
    for name, kind in vars(notifications).items():
        if name in notifications.__all__ and isinstance(kind, type):
            yield kind


def _codes() -> Iterator[tuple[type[errors.KbdError], str]]:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.KbdError) and name != "KbdError":
            yield kind, inspect.cleandoc(kind.__doc__ or name).partition("\n")[0]
