"""A JSON schema in few words, for models with small windows. Pure.

    {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer",
     "default": 5}}, "required": ["path"]}

is told as `{path: string, limit?: integer = 5}`. Bounds are left out: who passes one is told it.
An object that occurs more than once is told once and has a name.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Shapes"]

LEAST_NAMED_CHARACTERS = 160
"""A shorter schema of an object is told where it stands."""

MOST_LEVELS = 12
"""What is nested deeper is not told."""

MOST_DESCRIPTION_CHARACTERS = 160

Schema = Mapping[str, Any]


class Shapes:
    """Tells schemas, and once what they share.

    Args:
        schemas: The schemas, each of an object.
        is_brief: Whether to leave out what is said of the fields of inner objects.
    """

    def __init__(self, schemas: Sequence[Schema], *, is_brief: bool = False) -> None:
        self._is_brief = is_brief
        objects = [each for schema in schemas for each in _objects(schema, 0)]
        # The schemas are kept by whoever asks, so their ids stay theirs meanwhile.
        self._keys = {id(each): _key(each) for each in objects}
        counts = Counter(self._keys[id(each)] for each in objects)
        self._names: dict[str, str] = {}
        self._shared: dict[str, Schema] = {}
        for each in objects:
            key = self._keys[id(each)]
            is_worth_it = counts[key] > 1 and len(key) >= LEAST_NAMED_CHARACTERS
            if is_worth_it and key not in self._names:
                self._names[key] = f"SHAPE{len(self._names) + 1}"
                self._shared[self._names[key]] = each

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the objects that occur more than once, by their names."""
        for name, schema in self._shared.items():
            yield name, self.of(schema, 1)

    def of(self, schema: Schema, level: int = 0) -> str:
        """Return a schema of an object in few words."""
        required = frozenset(schema.get("required", ()))
        fields = [
            self._field(name, field, level, is_required=name in required)
            for name, field in schema.get("properties", {}).items()
        ]
        return f"{{{', '.join(fields)}}}"

    def _field(self, name: str, schema: Schema, level: int, *, is_required: bool) -> str:
        told = self._shape(schema, level + 1, is_optional=not is_required)
        if not is_required and schema.get("default") is not None:
            told += f" = {_json(schema['default'])}"
        said = schema.get("description")
        if said and not (self._is_brief and level):
            told += f" ({str(said)[:MOST_DESCRIPTION_CHARACTERS].rstrip('.')})"
        return f"{name}{'' if is_required else '?'}: {told}"

    def _shape(self, schema: Schema, level: int, *, is_optional: bool = False) -> str:
        if level > MOST_LEVELS:
            return "…"
        if "const" in schema:
            return _json(schema["const"])
        if "enum" in schema:
            return "|".join(map(_json, schema["enum"]))
        if choices := _choices(schema):
            # That null stands for what is left out goes without saying.
            kept = [each for each in choices if not (is_optional and each.get("type") == "null")]
            return "|".join(dict.fromkeys(self._shape(each, level + 1) for each in kept))
        match schema.get("type"):
            case "object":
                name = self._names.get(self._keys.get(id(schema), ""))
                return name or (self.of(schema, level) if schema.get("properties") else "object")
            case "array":
                return f"[{self._shape(schema.get('items') or {}, level + 1)}]"
            case str() as kind:
                return kind
            case list() as kinds:
                return "|".join(map(str, kinds))
            case _:
                return "any"


def _objects(schema: Schema, level: int) -> Iterator[Schema]:
    """Yield the objects within a schema, outer ones first."""
    inner = [*schema.get("properties", {}).values(), *_choices(schema)]
    if isinstance(schema.get("items"), Mapping):
        inner.append(schema["items"])
    for each in inner if level <= MOST_LEVELS else ():
        if each.get("properties"):
            yield each
        yield from _objects(each, level + 1)


def _choices(schema: Schema) -> Sequence[Schema]:
    choices: Sequence[Schema] = schema.get("anyOf") or schema.get("oneOf") or ()
    return choices


def _key(schema: Schema) -> str:
    return json.dumps(schema, sort_keys=True, default=str)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
