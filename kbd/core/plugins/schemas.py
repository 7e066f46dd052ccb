"""JSON schemas of tools' arguments, in the plain form and in the strict one. Pure.

The plain form is what model servers understand: a schema without references. The strict form is
what they can hold a model to ("strict" tools).

What that form must be is OpenAI's "Structured Outputs", section "Supported schemas": the root is an
object; every object names all its properties as required and allows no others; a property that can
be left out takes null instead; unions are `anyOf`, never at the root. Other servers, and OpenAI for
models that were fine-tuned, take fewer keywords than OpenAI: the form here keeps to what all do,
and says bounds and defaults in words.

    {"type": "integer", "minimum": 1, "default": 5}     optional

becomes

    {"description": "At least 1. Null: 5.", "anyOf": [{"type": "integer"}, {"type": "null"}]}

Where a field can be left out and also takes null, with another meaning, the object becomes a choice
of two: with the field, and without it. The field then comes first, for servers tell the objects of
a choice apart by their first properties. Of a choice with a form that cannot be told (objects of
any shape, such as columns by name) the others are offered.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from kbd.core.plugins.hooks import PluginError

__all__ = ["plain_schema", "strict_schema"]


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


MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_CHARACTERS = 120_000
MAX_CHOICES = 1_000
LARGE_CHOICE = 250
MAX_CHARACTERS_OF_A_LARGE_CHOICE = 15_000
"""The limits of that section (2026): properties, levels, characters of names and choices, choices
in all, and characters of one choice among more than 250 texts."""

_NULL = {"type": "null"}

# bool before int, for in Python it is one.
_PRIMITIVES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
)

_BOUNDS = (
    ("minimum", "At least {}."),
    ("maximum", "At most {}."),
    ("exclusiveMinimum", "More than {}."),
    ("exclusiveMaximum", "Less than {}."),
    ("multipleOf", "A multiple of {}."),
    ("minLength", "At least {} characters."),
    ("maxLength", "At most {} characters."),
    ("pattern", "Matching {}."),
    ("format", "A {}."),
    ("minItems", "At least {}."),
    ("maxItems", "At most {}."),
)
"""Keywords that not every server takes, and how they are said instead."""

_Schema = dict[str, Any]


class _InexpressibleSchemaError(Exception):
    """The strict form cannot express this schema."""


def strict_schema(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the strict form of a schema without references.

    Args:
        schema: As `schemas.plain_schema` returns it.

    Returns:
        The form; None if it cannot tell the schema (objects of any shape, values of any kind,
        arrays with places of their own), or if it would be larger than servers take.
    """
    try:
        found = _strict(schema)
        _check_limits(found)
    except _InexpressibleSchemaError:
        return None
    return found if found.get("type") == "object" else None


def _strict(schema: Mapping[str, Any]) -> _Schema:
    strict_form: _Schema
    match schema:
        case {"anyOf": [*branches]}:
            strict_form = {"anyOf": _flat(_expressible(branches))}
        case {"const": value}:
            strict_form = _choice((value,))
        case {"enum": [*values]}:
            strict_form = _choice(tuple(values))
        case {"type": [*kinds]}:
            strict_form = {"anyOf": [_strict({**schema, "type": kind}) for kind in kinds]}
        case {"type": "object", "properties": dict(), "additionalProperties": False}:
            strict_form = _object(schema)
        case {"type": "array", "items": dict(items)} if "prefixItems" not in schema:
            strict_form = {"type": "array", "items": _strict(items)}
        case {"type": "string" | "integer" | "number" | "boolean" | "null" as kind}:
            strict_form = {"type": kind}
        case _:
            raise _InexpressibleSchemaError
    description = _described(schema)
    return {"description": description, **strict_form} if description else strict_form


def _expressible(branches: Sequence[Mapping[str, Any]]) -> list[_Schema]:
    """Return the strict forms of the branches that have one: what these allow is allowed.

    Raises:
        _InexpressibleSchemaError: None of them has, or only null.
    """
    found = []
    for branch in branches:
        with suppress(_InexpressibleSchemaError):
            found.append(_strict(branch))
    if all(form == _NULL for form in found):
        raise _InexpressibleSchemaError
    return found


def _described(schema: Mapping[str, Any]) -> str:
    """Return what a schema says of itself, with its bounds in words."""
    bounds = [words.format(schema[name]) for name, words in _BOUNDS if name in schema]
    return " ".join((schema.get("description", ""), *bounds)).strip()


def _object(schema: Mapping[str, Any]) -> _Schema:
    fields: Mapping[str, Any] = schema["properties"]
    required = schema.get("required", ())
    strict_form: dict[str, _Schema] = {}
    ambiguous: list[str] = []
    for name, field in fields.items():
        strict = _strict(field)
        if name in required:
            strict_form[name] = strict
        elif not _takes_null(strict):
            strict_form[name] = _nullable(strict, field)
        else:
            strict_form[name] = strict
            # Null is a value of its own here, so it cannot stand for the default as well.
            if field.get("default", "") is not None:
                ambiguous.append(name)
    match ambiguous:
        case []:
            return _closed(strict_form)
        case [name]:
            without = {other: strict for other, strict in strict_form.items() if other != name}
            return {"anyOf": [_closed({name: strict_form[name], **without}), _closed(without)]}
        case _:
            raise _InexpressibleSchemaError


def _closed(properties: Mapping[str, _Schema]) -> _Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(strict: _Schema, field: Mapping[str, Any]) -> _Schema:
    """Let a field that can be left out take null, which then stands for its default."""
    inner = dict(strict)
    description = inner.pop("description", "")
    if field.get("default") is not None:
        null = f"Null: {msgspec.json.encode(field['default']).decode()}."
        description = f"{description} {null}".strip()
    strict_form = {"anyOf": _flat([inner, _NULL])}
    return {"description": description, **strict_form} if description else strict_form


def _takes_null(strict: Mapping[str, Any]) -> bool:
    branches = strict.get("anyOf", ())
    return strict.get("type") == "null" or any(_takes_null(branch) for branch in branches)


def _flat(branches: list[_Schema]) -> list[_Schema]:
    """Return branches with those of inner choices in the place of these."""
    found: list[_Schema] = []
    for branch in branches:
        inner = branch["anyOf"] if set(branch) == {"anyOf"} else [branch]
        found += [each for each in inner if each not in found]
    return found


def _choice(values: tuple[Any, ...]) -> _Schema:
    """Return a choice of values with their kind; null among them becomes a branch."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) != 1:
        raise _InexpressibleSchemaError
    strict_form: _Schema = {
        "type": kinds.pop(),
        "enum": [value for value in values if value is not None],
    }
    return {"anyOf": [strict_form, _NULL]} if None in values else strict_form


def _kind(value: object) -> str:
    for kind, name in _PRIMITIVES:
        if isinstance(value, kind):
            return name
    raise _InexpressibleSchemaError


def _check_limits(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that is larger than servers take.

    Levels are counted of objects and of arrays, for the section does not say of which.
    """
    properties = characters = choices = 0
    for part, level in _parts(schema, 1):
        _check_first_properties(part.get("anyOf", ()))
        names = part.get("properties", {})
        values = [str(value) for value in part.get("enum", ())]
        size = sum(map(len, values))
        large = len(values) > LARGE_CHOICE and size > MAX_CHARACTERS_OF_A_LARGE_CHOICE
        properties += len(names)
        characters += size + sum(map(len, names))
        choices += len(values)
        if large or level > MAX_LEVELS:
            raise _InexpressibleSchemaError
    if properties > MAX_PROPERTIES or characters > MAX_CHARACTERS or choices > MAX_CHOICES:
        raise _InexpressibleSchemaError


def _check_first_properties(branches: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a choice of objects that begin alike: same name, and not each its one value."""
    known = set()
    for properties in (branch["properties"] for branch in branches if "properties" in branch):
        name = next(iter(properties), "")
        values = tuple(properties.get(name, {}).get("enum", ()))
        key = (name, values) if len(values) == 1 else name
        if key in known or name in known:
            raise _InexpressibleSchemaError
        known.add(key)


def _parts(schema: Mapping[str, Any], level: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield a schema and all within it, each with its level, from 1."""
    yield schema, level
    for branch in schema.get("anyOf", ()):
        yield from _parts(branch, level)
    for inner in schema.get("properties", {}).values():
        yield from _parts(inner, level + 1)
    if "items" in schema:
        yield from _parts(schema["items"], level + 1)
