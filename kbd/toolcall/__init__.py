r"""Text protocol of tool calls: find, render, parse tolerantly. Pure.

A model that can only write text asks for a tool in a block, and is told the result in another:

    <myPT_toolcall>{"name": "workspace.search", "query": "python", "top_k": 5}</myPT_toolcall>
    <myPT_toolresult>{"documents": [...], "total": 5}</myPT_toolresult>

A call is one JSON object: `name`, and the arguments beside it. Where an argument's own name would
be mistaken, they stand below: `{"name": "tool", "arguments": {"name": "argument"}}`.

What models make of it, and what is made of that:

    tags in other case, with blanks, HTML-escaped, doubled      as meant
    a closing tag that stands alone                             left out
    no end tag, and the object is whole                         a call; what follows is text
    closing brackets too many                                   left out
    a code fence within the block                               left out
    line breaks in strings, trailing commas, Python literals    as meant
    `arguments`, `parameters` or `args` below, also as text     the arguments
    text of a tag within a string of the object                 text
    anything else that is not one object with a `name`          malformed, with where and why
    a name twice in one object, NaN, a number out of range      malformed: which is meant is a guess
    what follows a malformed block                              not read: where it ends is a guess
    a call within thoughts, `<think>…</think>`                  text; or left out
    a result that the model wrote itself                        cut off, with all that follows it

What is rendered holds no tag but its own: `_` of a tag's name is written `\u005f`, which in JSON
means the same. So no file and no tool can forge a call or a result.

Read in this order: `json_objects` (JSON as models write it), `blocks` (tags, texts that hold none
but their own, and a text's calls).
"""

from kbd.toolcall.blocks import (
    MalformedToolcall,
    ParsedText,
    Toolcall,
    escape_tags,
    find_toolcall,
    parse_toolcalls,
    render_toolcall,
    render_toolresult,
    shown_length,
    wrap_toolresult,
)

__all__ = [
    "MalformedToolcall",
    "ParsedText",
    "Toolcall",
    "escape_tags",
    "find_toolcall",
    "parse_toolcalls",
    "render_toolcall",
    "render_toolresult",
    "shown_length",
    "wrap_toolresult",
]
