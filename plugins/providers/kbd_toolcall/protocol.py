"""Text protocol of tool calls: its instructions, the tools, and a conversation in it. Pure.

Instructions stand behind the system message and are the same in every turn of a chain, so that
servers which cache a prefix need not read it again; what changes stands at the end of the last
message. Tools of the workspace have a dot in their names, as models are taught.

A JSON schema is written in few words, for models with small windows:

    {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer",
     "default": 5}}, "required": ["path"]}

is written as `{path: string, limit?: integer = 5}`. Bounds are left out: a call that passes one is
answered with it. An object that occurs more than once is written once and has a name.

In a conversation calls and results are texts, and roles alternate. No text but a rendered call or
result holds a tag, so what a file or a person wrote cannot be taken for either. Templates of many
models want user and assistant to alternate and one system message at the beginning, so adjacent
messages of one role become one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from kbd.messages import UNREADABLE, Message, ToolCall
from kbd.providers import ModelRequest, ToolSchema
from kbd.toolcall.blocks import escape_tags, render_toolcall, wrap_toolresult

__all__ = [
    "SchemaText",
    "choice_text",
    "in_protocol",
    "known_name",
    "protocol_text",
    "shown_name",
    "tools_text",
]

_TOOL_PREFIX, _SHOWN_PREFIX = "workspace_", "workspace."


def shown_name(name: str) -> str:
    """Return a tool's name as the protocol has it."""
    return (
        _SHOWN_PREFIX + name.removeprefix(_TOOL_PREFIX) if name.startswith(_TOOL_PREFIX) else name
    )


def known_name(shown: str, offered: AbstractSet[str]) -> str:
    """Return the name of the tool that is meant; of one that is not offered, what was written."""
    name = (
        _TOOL_PREFIX + shown.removeprefix(_SHOWN_PREFIX)
        if shown.startswith(_SHOWN_PREFIX)
        else shown
    )
    return name if name in offered else shown


MIN_NAMED_CHARACTERS = 160
"""A shorter schema of an object is written where it stands."""

MAX_LEVELS = 12
"""A schema that is nested deeper is left out."""

MAX_DESCRIPTION_CHARACTERS = 160

Schema = Mapping[str, Any]


class SchemaText:
    """Writer of JSON schemas in few words, with what they share written once.

    Args:
        schemas: The schemas, each of an object.
        is_brief: Whether to leave out the descriptions of the fields of inner objects.
    """

    def __init__(self, schemas: Sequence[Schema], *, is_brief: bool = False) -> None:
        self._is_brief = is_brief
        objects = [each for schema in schemas for each in _objects(schema, 0)]
        # The caller holds the schemas, so no other object gets one of these ids meanwhile.
        self._keys = {id(each): _key(each) for each in objects}
        counts = Counter(self._keys[id(each)] for each in objects)
        self._names: dict[str, str] = {}
        self._shared: dict[str, Schema] = {}
        for each in objects:
            key = self._keys[id(each)]
            is_worth_it = counts[key] > 1 and len(key) >= MIN_NAMED_CHARACTERS
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
        shape = self._shape(schema, level + 1, is_optional=not is_required)
        if not is_required and schema.get("default") is not None:
            shape += f" = {_json(schema['default'])}"
        description = schema.get("description")
        if description and not (self._is_brief and level):
            shape += f" ({str(description)[:MAX_DESCRIPTION_CHARACTERS].rstrip('.')})"
        return f"{name}{'' if is_required else '?'}: {shape}"

    def _shape(self, schema: Schema, level: int, *, is_optional: bool = False) -> str:
        if level > MAX_LEVELS:
            return "…"
        if "const" in schema:
            return _json(schema["const"])
        if "enum" in schema:
            return "|".join(map(_json, schema["enum"]))
        if choices := _choices(schema):
            # That null stands for what is left out goes without saying.
            shown = [each for each in choices if not (is_optional and each.get("type") == "null")]
            return "|".join(dict.fromkeys(self._shape(each, level + 1) for each in shown))
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
    for each in inner if level <= MAX_LEVELS else ():
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


MAX_TOOL_CHARACTERS = 4_000
MAX_SHAPE_CHARACTERS = 8_000
"""Longer descriptions and longer arguments are cut."""

BRIEF_SENTENCES, MAX_BRIEF_CHARACTERS = 2, 300

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")

PROTOCOL = """\
## How to call a tool

Write a block like this one, and nothing behind it:

{call}

It holds one JSON object: "name" and, beside it, the arguments of the tool. Texts stand in double
quotes; a line break in a text is \\n, a quotation mark \\", a backslash \\\\. You may write several
blocks, one call each; they are made in order.

Then stop. The result is given to you in the next message, as {result}.
Never write a result yourself. If a result says that a call could not be read or was refused,
nothing was done: write it again, mended.

An answer without a block is your final answer.

## Tools

After a tool's name stand its arguments: ? marks one that may be left out, = what it is then,
| separates what it may be, [ ] is a list, { } an object.
"""

REQUIRED = "(Answer with a tool call now.)"
NO_TOOLS = "(No tool can be called any more. Answer with text, without a block.)"


def protocol_text(tools: str) -> str:
    """Return the instructions of the protocol, followed by the text of the tools."""
    call = render_toolcall("read_file", {"path": "notes.txt"})
    text = PROTOCOL.replace("{call}", call).replace("{result}", wrap_toolresult("…"))
    return text + tools


def choice_text(request: ModelRequest) -> str:
    """Return the note that asks for a call or rules one out; "" if that is open."""
    match request.tool_choice if request.tools else "none":
        case "required":
            return REQUIRED
        case "none":
            return NO_TOOLS
        case _:
            return ""


def tools_text(tools: Sequence[ToolSchema], *, is_brief: bool = False) -> str:
    """Return the text of tools: each with its arguments and its description.

    Args:
        tools: The tools.
        is_brief: Whether descriptions are cut to their beginning, for a small window.
    """
    shapes = SchemaText([tool.parameters for tool in tools], is_brief=is_brief)
    lines = [f"{name} stands for {shape}" for name, shape in shapes.named()]
    for tool in tools:
        arguments = _shortened(shapes.of(tool.parameters), MAX_SHAPE_CHARACTERS)
        description = _brief(tool.description) if is_brief else tool.description
        description = _shortened(description, MAX_TOOL_CHARACTERS)
        lines.append(f"### {shown_name(tool.name)} {arguments}\n{description}")
    # A tag in a description would read as a call.
    return escape_tags("\n".join(lines))


def _brief(description: str) -> str:
    """Return the first two sentences of a description."""
    sentences = _SENTENCE.split(description, BRIEF_SENTENCES)[:BRIEF_SENTENCES]
    return _shortened(" ".join(sentences), MAX_BRIEF_CHARACTERS)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


NO_CALL = "(a call that could not be read)"
"""Text in place of a malformed block: repeating it would teach it."""

NOTHING = "(an empty answer)"


def in_protocol(request: ModelRequest, instructions: str) -> tuple[Message, ...]:
    """Return the messages of a request as a model that only writes text is sent them.

    Args:
        request: The request.
        instructions: The text of the protocol and of the tools; "" if none is offered.
    """
    messages = list(_merged([_as_text(message) for message in request.messages]))
    if instructions:
        if messages and messages[0].role == "system":
            messages[0] = _with(messages[0], instructions)
        else:
            messages.insert(0, Message("system", instructions))
    # Behind all else: at the beginning it would void what a server has cached of the prompt.
    note = choice_text(request)
    if note and messages and messages[-1].role == "user":
        messages[-1] = _with(messages[-1], note)
    elif note:
        messages.append(Message("user", note))
    return tuple(messages)


def _as_text(message: Message) -> Message:
    if message.role == "tool":
        # A server without tools need not know their role, and templates want user and assistant to
        # alternate.
        return Message("user", wrap_toolresult(message.text))
    # What a person, a file or the model wrote must not read as a call or as a result.
    texts = [escape_tags(message.text), *map(_call, message.tool_calls)]
    text = "\n".join(each for each in texts if each.strip())
    return Message(message.role, text or (NOTHING if message.role == "assistant" else ""))


def _call(call: ToolCall) -> str:
    if call.name == UNREADABLE:
        return NO_CALL
    try:
        arguments = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        arguments = {}
    if not isinstance(arguments, dict):
        arguments = {}
    try:
        return render_toolcall(shown_name(call.name), arguments)
    except ValueError:
        return render_toolcall(shown_name(call.name), {})


def _merged(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages, adjacent ones of one role as one."""
    waiting: Message | None = None
    for message in messages:
        if waiting is not None and waiting.role == message.role:
            waiting = _with(waiting, message.text)
            continue
        if waiting is not None:
            yield waiting
        waiting = message
    if waiting is not None:
        yield waiting


def _with(message: Message, text: str) -> Message:
    return Message(message.role, f"{message.text}\n\n{text}" if message.text else text)
