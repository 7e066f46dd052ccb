"""The strict form of schemas: what servers take, and never more than the record means."""

from collections.abc import Iterator, Mapping
from cProfile import Profile
from pstats import Stats
from random import Random
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from kbd.core.agent.context_window import tools_bytes
from kbd.core.agent.tool_execution import parse_arguments
from kbd.core.agent.transcript import Transcript, accept_any
from kbd.core.plugins import schemas
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import parse_operations
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.schemas import plain_schema, strict_schema
from kbd.core.runtime.settings import Settings
from kbd.events.base import ReplyCall
from kbd.messages import Message
from kbd.providers import ModelRequest
from kbd.testing.providers import NoAccess
from kbd.types import CallId
from kbd_offline import OfflineProvider

ALLOWED = {
    "description", "type", "properties", "required", "additionalProperties", "anyOf", "items",
    "enum",
}  # fmt: skip
"""What every server takes; OpenAI takes bounds, too, but not for models that were fine-tuned."""


def of(record: type[msgspec.Struct]) -> Mapping[str, Any] | None:
    """Return the strict form of a record's schema."""
    return strict_schema(plain_schema(record))


def parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and every schema in it."""
    yield schema
    for branch in (*schema.get("anyOf", ()), *schema.get("properties", {}).values()):
        yield from parts(branch)
    if "items" in schema:
        yield from parts(schema["items"])


def made_up(schema: Mapping[str, Any], chance: Random) -> Any:
    """Return a value that fits a strict schema."""
    if "anyOf" in schema:
        return made_up(chance.choice(schema["anyOf"]), chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: made_up(part, chance) for name, part in schema["properties"].items()}
        case "array":
            return [made_up(schema["items"], chance) for _ in range(chance.randrange(1, 3))]
        case kind:
            made = {"string": "ab", "integer": 2, "number": 1.5, "boolean": True, "null": None}
            return made[kind]


NAMED_BY_MODELS = ("check_job", "run_job")
"""Tools whose arguments are objects with names that the model makes up (columns, placeholders), of
which no strict schema can tell."""


def test_every_built_in_tool_has_a_strict_form() -> None:
    """All but a few, and in each only what servers take; what it allows is taken by the record."""
    chance, seen = Random(7), 0
    catalog = Catalog(Plugins.discover(Settings()))
    handlers = {f"{handler.name}_operations": handler for handler in catalog.handlers()}
    for entry in catalog.tools():
        strict = entry.schema.strict
        if entry.tool.name in NAMED_BY_MODELS:
            assert strict is None, f"{entry.tool.name} has a strict form: take it off the list"
            continue
        assert strict is not None, entry.tool.name
        assert strict["type"] == "object"
        for part in parts(strict):
            assert set(part) <= ALLOWED, (entry.tool.name, part)
            assert ("type" in part) != ("anyOf" in part), (entry.tool.name, part)
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
        for _ in range(20):
            given = made_up(strict, chance)
            text = msgspec.json.encode(given).decode()
            parse_arguments(entry.tool, ReplyCall(CallId("c"), entry.tool.name, text), text)
            if entry.tool.name in handlers:
                seen += len(parse_operations(handlers[entry.tool.name], given["operations"]))

    assert seen >= 60


def made_while(profile: Profile) -> int:
    """Return how many strict forms were made while a profile was on."""
    return sum(
        calls
        for (path, _, name), (_, calls, *_) in Stats(profile).stats.items()  # type: ignore[attr-defined]
        if path == schemas.__file__ and name == strict_schema.__name__
    )


@pytest.mark.anyio
async def test_a_strict_form_is_made_when_it_is_read_and_once() -> None:
    """A catalog makes none, nor does a turn of a provider that holds no model to schemas."""
    plugins = Plugins.discover(Settings())
    provider, message = OfflineProvider(), Message("user", "<request>\nsort by x\n</request>")
    with Profile() as unread:
        schemas = tuple(entry.schema for entry in Catalog(plugins).tools())
        transcript = Transcript(accept_any, provider.told_bytes)
        size = transcript.fit(schemas, provider.models()[0]).size_bytes
        request = ModelRequest("planner", (message,), schemas)
        await provider.complete(request, NoAccess(), lambda _: None)
    assert 0 < size < 50 * len(schemas)
    assert made_while(unread) == 0

    with Profile() as read:
        told = tools_bytes(schemas)
    assert made_while(read) == len(schemas)
    with Profile() as again:
        assert tools_bytes(schemas) == told
    assert made_while(again) == 0


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Inside."""

    name: str
    value: int | msgspec.UnsetType | None = msgspec.UNSET


class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Outside."""

    size: Annotated[int, Meta(description="How many.", ge=1, le=9)]
    kind: Literal["a", "b"] = "a"
    note: str | None = None
    inner: tuple[Inner, ...] = ()


def test_what_can_be_left_out_takes_null() -> None:
    """Bounds and defaults are said in words; a null with a meaning of its own makes two shapes."""
    text, null = {"type": "string"}, {"type": "null"}
    value = {"anyOf": [{"type": "integer"}, null]}
    closed = {"type": "object", "additionalProperties": False}
    both = {"properties": {"value": value, "name": text}, "required": ["value", "name"]}
    alone = {"properties": {"name": text}, "required": ["name"]}

    found = of(Outer)
    assert found is not None
    assert found["properties"] == {
        "size": {"description": "How many. At least 1. At most 9.", "type": "integer"},
        "kind": {
            "description": 'Null: "a".',
            "anyOf": [{"type": "string", "enum": ["a", "b"]}, null],
        },
        "note": {"anyOf": [text, null]},
        "inner": {
            "description": "Null: [].",
            "anyOf": [
                {
                    "type": "array",
                    "items": {
                        "description": "Inside.",
                        "anyOf": [closed | both, closed | alone],
                    },
                },
                null,
            ],
        },
    }


class Anything(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value of any kind."""

    value: Any


class Mapped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object of any shape."""

    values: dict[str, int]


class Open(msgspec.Struct, frozen=True):
    """An object that takes more than it names."""

    path: str


class Paired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An array with places of their own."""

    pair: tuple[int, str]


class TwiceUnclear(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two fields that are left out, or null."""

    one: int | msgspec.UnsetType | None = msgspec.UNSET
    two: int | None = 5


@pytest.mark.parametrize("record", [Anything, Mapped, Open, Paired, TwiceUnclear])
def test_what_the_form_cannot_tell_has_none(record: type[msgspec.Struct]) -> None:
    """Nothing is narrowed or widened silently."""
    assert of(record) is None


def _record(fields: int) -> type[msgspec.Struct]:
    names = [(f"f{number}", str) for number in range(fields)]
    return msgspec.defstruct("Wide", names, frozen=True, forbid_unknown_fields=True)


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels - 1):
        schema = {"type": "array", "items": schema}
    return {
        "type": "object", "properties": {"a": schema}, "required": ["a"],
        "additionalProperties": False,
    }  # fmt: skip


def _choice(count: int, size: int) -> dict[str, Any]:
    words = [f"{number:0{size}d}" for number in range(count)]
    schema = {"type": "string", "enum": words}
    return _nested(1) | {"properties": {"a": schema}}


def test_what_is_larger_than_servers_take_has_none() -> None:
    """Properties, levels, choices and their characters: each limit is kept, and not sooner."""
    assert of(_record(5_000)) is not None
    assert of(_record(5_001)) is None
    assert strict_schema(_nested(9)) is not None
    assert strict_schema(_nested(10)) is None
    assert strict_schema(_choice(1_000, 15)) is not None
    assert strict_schema(_choice(1_001, 3)) is None
    assert strict_schema(_choice(250, 100)) is not None
    assert strict_schema(_choice(251, 100)) is None
    assert strict_schema(_choice(100, 1_300)) is None


def test_objects_that_begin_alike_cannot_be_told_apart() -> None:
    """Servers refuse a choice of objects with one first property, unless that says which it is."""

    def shape(first: dict[str, Any]) -> dict[str, Any]:
        return _nested(1) | {"properties": {"a": first}}

    alike = {"anyOf": [shape({"type": "string"}), shape({"type": "integer"})]}
    apart = {"anyOf": [shape({"const": "x"}), shape({"const": "y"})]}

    assert strict_schema(_nested(1) | {"properties": {"c": alike}, "required": ["c"]}) is None
    assert strict_schema(_nested(1) | {"properties": {"c": apart}, "required": ["c"]}) is not None
