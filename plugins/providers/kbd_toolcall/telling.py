"""What a model is told of the protocol and of its tools. Pure.

It stands behind the system message and is the same in every turn of a chain, so that servers which
keep what they have read need not read it again; what changes stands at the end of the last message.
"""

import re
from collections.abc import Sequence

from kbd.providers import ModelRequest, ToolSchema
from kbd.toolcall import escape_tags, render_toolcall, wrap_toolresult
from kbd_toolcall.names import shown_name
from kbd_toolcall.shapes import Shapes

__all__ = ["choice_told", "protocol_told", "tools_told"]

MOST_DESCRIPTION_CHARACTERS = 4_000
MOST_SHAPE_CHARACTERS = 8_000
"""Of a longer description, and of longer arguments, the beginning is told."""

BRIEF_SENTENCES, MOST_BRIEF_CHARACTERS = 2, 300

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


def protocol_told(tools: str) -> str:
    """Return what is told of the protocol, before what is told of tools."""
    call = render_toolcall("read_file", {"path": "notes.txt"})
    told = PROTOCOL.replace("{call}", call).replace("{result}", wrap_toolresult("…"))
    return told + tools


def choice_told(request: ModelRequest) -> str:
    """Return what is told of whether a call is asked for or ruled out; "" if that is open."""
    match request.tool_choice if request.tools else "none":
        case "required":
            return REQUIRED
        case "none":
            return NO_TOOLS
        case _:
            return ""


def tools_told(tools: Sequence[ToolSchema], *, is_brief: bool = False) -> str:
    """Return what is told of tools: each with its arguments and what it does.

    Args:
        tools: The tools.
        is_brief: Whether to tell of each only the beginning, for a small window.
    """
    shapes = Shapes([tool.parameters for tool in tools], is_brief=is_brief)
    lines = [f"{name} stands for {shape}" for name, shape in shapes.named()]
    for tool in tools:
        arguments = _begun(shapes.of(tool.parameters), MOST_SHAPE_CHARACTERS)
        description = _brief(tool.description) if is_brief else tool.description
        description = _begun(description, MOST_DESCRIPTION_CHARACTERS)
        lines.append(f"### {shown_name(tool.name)} {arguments}\n{description}")
    return escape_tags("\n".join(lines))


def _brief(description: str) -> str:
    """Return the first two sentences of a description."""
    sentences = _SENTENCE.split(description, BRIEF_SENTENCES)[:BRIEF_SENTENCES]
    return _begun(" ".join(sentences), MOST_BRIEF_CHARACTERS)


def _begun(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
