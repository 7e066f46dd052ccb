"""Conversation as text for a model with `generate()`: who said what, and how to call tools."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kbd.core.agent.truncation import fit_result_block
from kbd.core.search.text_model import TextMessage, neutralize_tags
from kbd.toolcall import Toolcall, parse_toolcalls
from kbd.toolcall.blocks import render_toolcall, wrap_toolresult

__all__ = ["conversation_messages", "describe_tools"]

CALL_PROTOCOL = """
To call a tool, write one block like this, and stop:

{call}

It holds one JSON object: "name" and, beside it, the arguments. The result follows as {result}; \
never write one yourself. If a result has "error", nothing was done: mend the call. An answer \
without a block is your final answer.

Tools:
{tools}"""


def conversation_messages(
    history: Sequence[Mapping[str, Any]], system_prompt: str, tools: object, max_result_chars: int
) -> list[TextMessage]:
    """Return a conversation as a model's messages, the system prompt first.

    Args:
        history: The messages; the first system message takes the place of the system prompt.
        system_prompt: The system message.
        tools: What makes the calls; it may have `names` and `registry`.
        max_result_chars: The most characters of each earlier result.

    Raises:
        ValueError: A message is none; it says which and why.
    """
    if isinstance(history, Mapping | str):
        raise ValueError("the history is a list of messages")  # noqa: TRY004 - as for its messages
    spoken: list[TextMessage] = []
    for place, message in enumerate(history):
        spoken += _message_texts(place, message, max_result_chars)
    systems = [each for each in spoken if each.speaker == "system"]
    system = systems[0].text if systems else system_prompt
    if "<myPT_toolcall>" not in system:
        system += describe_tools(tools)
    rest = [each for each in spoken if not systems or each is not systems[0]]
    return [TextMessage("system", system), *rest]


def describe_tools(tools: object) -> str:
    """Describe the call protocol and the tools."""
    registry: Mapping[str, Mapping[str, Any]] = getattr(tools, "registry", {})
    names: Sequence[str] = getattr(tools, "names", tuple(registry))
    if not names:
        return ""
    call = render_toolcall("workspace.search", {"query": "python", "top_k": 5})
    lines = "\n".join(_describe_tool(name, registry.get(name, {})) for name in names)
    return "\n" + CALL_PROTOCOL.format(call=call, result=wrap_toolresult("{…}"), tools=lines)


def _describe_tool(name: str, entry: Mapping[str, Any]) -> str:
    args = ", ".join(_describe_argument(arg, told) for arg, told in entry.get("args", {}).items())
    description = entry.get("description", "")
    return f"- {name} {{{args}}}: {description}" if description else f"- {name} {{{args}}}"


def _describe_argument(name: str, told: Mapping[str, Any]) -> str:
    kind = told.get("type", "any")
    if told.get("required"):
        return f'"{name}": {kind}'
    default = told.get("default")
    return (
        f'"{name}"?: {kind}'
        if default is None
        else f'"{name}"?: {kind} = {json.dumps(default, default=str)}'
    )


def _message_texts(place: int, message: Mapping[str, Any], most: int) -> list[TextMessage]:
    """Return the texts of one message: of a result of `run`, its calls before its content."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, str):
        msg = f'history[{place}] is not {{"role": …, "content": text}}'
        raise ValueError(msg)  # noqa: TRY004 - one of many ways a message can be wrong
    match message.get("role"):
        case "system":
            return [TextMessage("system", content)]
        case "user":
            return [TextMessage("user", neutralize_tags(content))]
        case "assistant":
            calls = message.get("tool_calls") or ()
            before = [said for call in calls for said in _render_call(place, call, most)]
            return [*before, TextMessage("assistant", _own_text(content))] if content else before
        case "tool" | "toolresult":
            return [TextMessage("toolresult", wrap_toolresult(content[:most]))]
        case role:
            msg = f"history[{place}] has the role {role!r}; roles are system, user, assistant, tool"
            raise ValueError(msg)


def _render_call(place: int, call: Any, most: int) -> list[TextMessage]:
    match call:
        case {"name": str(name), "arguments": dict(arguments), "result": result}:
            written = render_toolcall(name, arguments)
            return [
                TextMessage("assistant", written),
                TextMessage("toolresult", fit_result_block(result, most)),
            ]
        case _:
            msg = f'a call of history[{place}] is not {{"name", "arguments", "result"}}'
            raise ValueError(msg)


def _own_text(content: str) -> str:
    """Return an assistant's text, in which its calls stand as they would be rendered."""
    parts = []
    for part in parse_toolcalls(content).parts:
        match part:
            case Toolcall():
                parts.append(render_toolcall(part.name, part.arguments))
            case str():
                parts.append(neutralize_tags(part))
            case _:
                parts.append(neutralize_tags(part.written))
    return "".join(parts)
